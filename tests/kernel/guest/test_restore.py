"""`restore` gives every file of a real cgroup the value back that it had before the first `act`."""

import random
from pathlib import Path

import pytest

from fuyaod.hostfs import HostRoot
from fuyaod.hostfs.journal import Journal
from fuyaod.hostfs.restore import restore
from fuyaod.hostfs.write import act
from fuyaod.model.action import OutcomeStatus
from tests.kernel.guest.cgroups import enable_controllers, process_in
from tests.kernel.guest.conftest import MakePod
from tests.kernel.guest.pods import CgroupDriver
from tests.kernel.guest.sysfs import read_flat, read_word
from tests.kernel.guest.waiting import wait_until
from tests.kernel.guest.walker import Walk, kill_after
from tests.kernel.guest.writing import file_name, read_values, statuses, step

CHANGES = {
    "cpuset.cpus": "0-1",
    "cpu.weight": "39",
    "cpu.idle": "1",
    "cpu.max": "40000 50000",
    "cpu.max.burst": "20000",
    "memory.high": "100000001",
    "memory.low": "5000",
    "memory.min": "5000",
    "memory.max": "200000001",
    "memory.oom.group": "1",
    "memory.swap.max": "0",
    "pids.max": "100",
    "cgroup.max.depth": "3",
    "cgroup.max.descendants": "4",
    "cgroup.freeze": "1",
}
"""Another value than a fresh cgroup has, for every file the product may write, `cpuset.mems` aside."""

OF_A_POD = {
    "cpuset.cpus": "0-5",
    "cpu.weight": "79",
    "cpu.max": "200000 100000",
    "memory.high": "300000000",
    "memory.min": "10000000",
    "pids.max": "1000",
}
"""Values as a kubelet leaves them."""

KILLS = 20


def set_values(cgroup: Path, values: dict[str, str]) -> None:
    """Write without the product."""
    for name, value in values.items():
        (cgroup / name).write_text(value)


@pytest.mark.parametrize("start", [pytest.param({}, id="fresh"), pytest.param(OF_A_POD, id="set_before")])
def test_restore_after_every_file_was_changed_gives_the_values_before(
    leaf_cgroup: Path, journal: Journal, start: dict[str, str]
) -> None:
    set_values(leaf_cgroup, start)
    changes = {**CHANGES, "cpuset.mems": "1"}
    before = read_values(leaf_cgroup, changes)

    acted = act(tuple(step(leaf_cgroup / name, value) for name, value in changes.items()), journal)
    changed = read_values(leaf_cgroup, changes)
    restored = restore(journal)

    assert set(statuses(acted).values()) == {OutcomeStatus.DONE}
    assert [name for name in changes if changed[name] == before[name]] == []
    assert read_values(leaf_cgroup, changes) == before
    assert set(statuses(restored).values()) <= {OutcomeStatus.DONE, OutcomeStatus.SAME}  # the weight follows cpu.idle
    assert journal.entries() == ()
    assert restore(journal) == ()


def test_restore_pods_of_every_driver_gives_the_values_before(
    make_pod: MakePod, cgroup_drivers: tuple[CgroupDriver, ...], journal: Journal
) -> None:
    pods = [make_pod(driver) for driver in cgroup_drivers]
    groups = [cgroup for pod in pods for cgroup in (pod.cgroup, pod.containers[0].cgroup)]
    for cgroup in groups:
        set_values(cgroup, OF_A_POD)
    before = [read_values(cgroup, CHANGES) for cgroup in groups]

    acted = act(tuple(step(cgroup / name, value) for cgroup in groups for name, value in CHANGES.items()), journal)
    changed = [read_values(cgroup, CHANGES) for cgroup in groups]
    restored = restore(journal)

    assert {outcome.status for outcome in acted} == {OutcomeStatus.DONE}
    assert all(now[name] != was[name] for now, was in zip(changed, before, strict=True) for name in CHANGES)
    assert [read_values(cgroup, CHANGES) for cgroup in groups] == before
    assert {outcome.status for outcome in restored} == {OutcomeStatus.DONE}
    for pod in pods:
        events = pod.cgroup / "cgroup.events"
        wait_until(lambda events=events: read_flat(events)["frozen"] == 0, f"the thaw of {pod.cgroup}")  # type: ignore[misc]


def test_restore_weight_that_idle_made_the_kernel_forget_comes_back(leaf_cgroup: Path, journal: Journal) -> None:
    (leaf_cgroup / "cpu.weight").write_text("39")

    act((step(leaf_cgroup / "cpu.idle", "1"),), journal)
    act((step(leaf_cgroup / "cpu.idle", "0"),), journal)
    forgotten = read_word(leaf_cgroup / "cpu.weight")
    restore(journal)

    assert forgotten == "100"
    assert read_word(leaf_cgroup / "cpu.weight") == "39"


def test_restore_thaws_first_whatever_was_touched_first(leaf_cgroup: Path, journal: Journal) -> None:
    with process_in(leaf_cgroup):
        for name in ("cgroup.freeze", "cpu.weight", "cpuset.cpus"):
            act((step(leaf_cgroup / name, CHANGES[name]),), journal)
        order = [file_name(outcome) for outcome in restore(journal)]

    assert order == ["cgroup.freeze", "cpu.weight", "cpuset.cpus"]


def test_restore_empty_cpus_of_a_group_with_processes_names_the_ancestors(cgroup: Path, journal: Journal) -> None:
    (cgroup / "cpuset.cpus").write_text("0-3")
    enable_controllers(cgroup)
    middle, leaf = cgroup / "middle", cgroup / "middle/leaf"
    middle.mkdir()
    enable_controllers(middle)
    leaf.mkdir()
    with process_in(leaf):
        act((step(leaf / "cpuset.cpus", "1"), step(middle / "cpuset.cpus", "1-2")), journal)
        restored = restore(journal)
        now = [read_word(one / name) for one in (middle, leaf) for name in ("cpuset.cpus", "cpuset.cpus.effective")]

    assert [outcome.status for outcome in restored] == [OutcomeStatus.CLIPPED] * 2
    assert all("ENOSPC" in (outcome.error or "") for outcome in restored)
    assert now == ["0-3"] * 4
    assert journal.entries() == ()


def test_restore_value_that_somebody_else_wrote_is_left_alone(leaf_cgroup: Path, journal: Journal) -> None:
    act((step(leaf_cgroup / "cpu.weight", "39"), step(leaf_cgroup / "memory.high", "5000")), journal)
    (leaf_cgroup / "cpu.weight").write_text("50")

    restored = restore(journal)

    assert statuses(restored) == {"cpu.weight": OutcomeStatus.FOREIGN, "memory.high": OutcomeStatus.DONE}
    assert read_word(leaf_cgroup / "cpu.weight") == "50"


def test_restore_group_made_again_is_left_alone(
    make_pod: MakePod, cgroup_drivers: tuple[CgroupDriver, ...], journal: Journal
) -> None:
    for driver in cgroup_drivers:
        group = make_pod(driver).cgroup / "made-again"
        group.mkdir()
        act((step(group / "cgroup.max.depth", "3"), step(group / "cgroup.freeze", "1")), journal)
        inode = group.stat().st_ino
        group.rmdir()
        group.mkdir()
        set_values(group, {"cgroup.max.depth": "3", "cgroup.freeze": "1"})

        restored = restore(journal)

        assert group.stat().st_ino != inode
        assert {outcome.status for outcome in restored} == {OutcomeStatus.GONE}
        assert (read_word(group / "cgroup.max.depth"), read_word(group / "cgroup.freeze")) == ("3", "1")
        group.rmdir()


def test_restore_after_the_writer_was_killed_anywhere_gives_everything_back(
    make_pod: MakePod, cgroup_drivers: tuple[CgroupDriver, ...], tmp_path: Path
) -> None:
    pods = [make_pod(driver) for driver in cgroup_drivers]
    groups = tuple(group for pod in pods for group in (pod.cgroup, pod.containers[0].cgroup))
    for group in groups:
        set_values(group, OF_A_POD)
    before = [read_values(group, CHANGES) for group in groups]
    walk = Walk(groups=groups, journal=str(tmp_path / "killed.journal"))
    dice = random.Random(KILLS)
    seen = set()

    for life in range(KILLS):
        kill_after(dice.randint(1, 12), walk, seed=life)
        if life % 2:  # every second life starts on the journal of a killed one
            with Journal.open(HostRoot("/"), walk.journal) as journal:
                seen |= {outcome.status for outcome in restore(journal)}
            assert [read_values(group, CHANGES) for group in groups] == before, f"life {life}"

    assert OutcomeStatus.DONE in seen
    assert seen <= {OutcomeStatus.DONE, OutcomeStatus.SAME}
