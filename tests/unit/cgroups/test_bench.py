"""The bench itself: its ground really changes, and its figures come out."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bench.ground import Ground, declared_host
from bench.kernfs import GROUP, real_groups
from bench.machine import Row, this_machine
from bench.snapshot import census_row, look_cpu_ms
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


def test_census_row_gives_the_cost_of_a_process() -> None:
    assert 0 < census_row().value < 10_000


def test_real_groups_are_in_one_group_and_go_at_the_end(tmp_path: Path) -> None:
    with real_groups(tmp_path, 3) as folders:
        assert [Path(folder).is_dir() for folder in folders] == [True] * 3
        assert [path.name for path in tmp_path.iterdir()] == [GROUP]

    assert list(tmp_path.iterdir()) == []


def test_real_groups_that_a_killed_bench_left_go_at_the_start(tmp_path: Path) -> None:
    (tmp_path / GROUP / "700").mkdir(parents=True)

    with real_groups(tmp_path, 1) as folders:
        assert [str(path) for path in (tmp_path / GROUP).iterdir()] == folders


def test_real_groups_of_a_bench_at_work_are_left_alone(tmp_path: Path) -> None:
    with real_groups(tmp_path, 2) as folders:
        with pytest.raises(SystemExit, match="another bench uses"), real_groups(tmp_path, 1):
            pass

        assert all(Path(folder).is_dir() for folder in folders)


def test_real_groups_where_none_may_be_made_is_said(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="cannot make"), real_groups(tmp_path / "missing", 1):
        pass


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_real_groups_of_a_bench_that_is_told_to_end_go(tmp_path: Path, number: signal.Signals) -> None:
    code = (
        "import sys, pathlib, bench.kernfs as k\n"
        "with k.real_groups(pathlib.Path(sys.argv[1]), 5): print(flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as bench:
        assert bench.stdout is not None
        bench.stdout.readline()
        made = (tmp_path / GROUP / "4").is_dir()
        bench.send_signal(number)
        assert bench.wait(30) != 0

    assert made
    assert list(tmp_path.iterdir()) == []
