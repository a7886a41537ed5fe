"""The bench itself: its ground really changes, and its figures come out."""

from pathlib import Path

from bench.ground import Ground, declared_host
from bench.machine import Row, this_machine
from bench.snapshot import look_cpu_ms
from fuyaod.model.settings import Settings


def _contents(ground: Ground) -> dict[Path, bytes]:
    pod = ground.root / f"{ground.made.v2_mount}{ground.made.pods[0].path}"
    return {path: path.read_bytes() for path in pod.rglob("*") if path.name in ("cpu.stat", "io.stat", "pids.current")}


def test_ground_change_gives_every_file_another_content() -> None:
    with declared_host(3, 2) as ground:
        before = _contents(ground)
        ground.change()
        after = _contents(ground)

    assert len(before) == 9
    assert all(before[path] != after[path] for path in before)


def test_look_cpu_gives_one_figure_per_look() -> None:
    with declared_host(2, 1) as ground:
        found = look_cpu_ms(ground, Settings(), 3)

    assert len(found) == 3
    assert min(found) > 0


def test_row_above_its_target_is_missed() -> None:
    row = Row(name="x", value=2.0, unit="ms", target=1.5)

    assert not row.ok
    assert "MISSED" in row.line()
    assert Row(name="x", value=2.0, unit="ms").ok
    assert this_machine().cpus >= 1
