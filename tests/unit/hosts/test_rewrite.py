"""Time passing on a declared host, its cost, and the command line."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.hosts.__main__ import main
from tests.hosts.cgroup_v2 import FILES
from tests.hosts.declare import declare, materialise, rewrite
from tests.unit.hosts import rules

COUNTING = {file.name for file in FILES if file.counts}


def is_empty_group(path: str, before: dict[str, str]) -> bool:
    events = before.get(f"{os.path.dirname(path)}/cgroup.events", "populated 1\n")
    return events.startswith("populated 0")


@pytest.mark.parametrize("host", ["laptop-hybrid", "kunpeng920-910b"])
def test_rewrite_changes_every_counting_file_in_place(root: Path, host: str) -> None:
    made = materialise(declare(host), root)
    mount = root / "sys/fs/cgroup"
    before = rules.group_files(mount)
    inode = (mount / "system.slice/cpu.stat").stat().st_ino
    rewrite(made, 1)
    first = rules.group_files(mount)
    rewrite(made, 2)
    second = rules.group_files(mount)
    counting = {p for p in before if os.path.basename(p) in COUNTING and not is_empty_group(p, before)}
    assert {p for p in counting if before[p] == first[p]} == set()
    assert {p for p in counting if first[p] == second[p]} == set()
    assert {p for p in before if os.path.basename(p) not in COUNTING and before[p] != second[p]} == set()
    assert (mount / "system.slice/cpu.stat").stat().st_ino == inode


def test_rewrite_with_limits_changes_weights_and_limits_too(root: Path) -> None:
    made = materialise(declare("laptop-hybrid"), root, pods=2)
    group = root / f"sys/fs/cgroup{made.pods[0].containers[0].path}"
    names = ("cpu.weight", "cpu.max", "memory.max", "memory.high", "memory.low", "io.weight", "pids.max")
    before = {name: (group / name).read_text() for name in names}
    rewrite(made, 1, limits=True)
    assert {name for name in names if (group / name).read_text() == before[name]} == set()


@pytest.mark.parametrize("step", [0, 1, 7])
def test_numbers_are_what_the_files_say(root: Path, step: int) -> None:
    made = materialise(declare("xeon-rdt"), root)
    rewrite(made, step)
    numbers = made.numbers(step)
    for path in (made.pods[0].path, made.pods[0].containers[1].path, "/system.slice"):
        folder, expected = root / f"sys/fs/cgroup{path}", numbers[path]
        stat = dict(line.split() for line in (folder / "cpu.stat").read_text().splitlines())
        memory = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        assert int(stat["usage_usec"]) == expected.usage_us == int(stat["user_usec"]) + int(stat["system_usec"])
        assert int((folder / "memory.current").read_text()) == expected.current
        assert int(memory["inactive_file"]) == expected.inactive_file
        assert int((folder / "pids.current").read_text()) == expected.pids


def test_values_differ_between_groups(root: Path) -> None:
    made = materialise(declare("one-cpu"), root, pods=50)
    usage = [made.numbers()[c.path].usage_us for pod in made.pods for c in pod.containers]
    assert len(set(usage)) == len(usage) == 100


def test_generated_load_has_exactly_the_groups_asked_for(root: Path) -> None:
    made = materialise(declare("one-cpu"), root, pods=200, containers_per_pod=2)
    kinds = [group.kind for group in made.cgroups.groups]
    assert kinds.count("pod") == 200
    assert kinds.count("container") == 400


def test_trees_of_two_runs_are_equal(root: Path) -> None:
    for name in ("a", "b"):
        materialise(declare("hbm-nodes"), root / name)
    assert rules.group_files(root / "a") == rules.group_files(root / "b")


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="no tmpfs to measure on")
def test_thousand_cpus_materialise_within_a_second_and_a_half(root: Path) -> None:
    spent = []
    for number in range(2):
        start = time.process_time()
        materialise(declare("cpus-1024"), root / str(number))
        spent.append(time.process_time() - start)
    assert min(spent) < 1.5


def test_command_line_makes_a_host_once(root: Path) -> None:
    folder = root / "host"
    first = CliRunner().invoke(main, ["one-cpu", str(folder), "--profile", "debian-13", "--pods", "1"])
    again = CliRunner().invoke(main, ["one-cpu", str(folder)])
    assert first.exit_code == 0, first.output
    assert "1 pods" in first.output
    assert (folder / "proc/sys/kernel/osrelease").read_text() == "6.12.63+deb13-arm64\n"
    assert again.exit_code == 2
    assert "not empty" in again.output
