"""Cgroup v2 in the machine: every controller, below the root as well as in the command's own cgroup."""

import os
import select
from pathlib import Path

import pytest

from tests.kernel.guest.cgroups import BUSY, is_populated, process_in
from tests.kernel.guest.sysfs import read_flat
from tests.kernel.guest.waiting import wait_until

CONTROLLERS = {"cpuset", "cpu", "io", "memory", "hugetlb", "pids"}
SYSTEMD_DELEGATES = {"cpuset", "cpu", "io", "memory", "pids"}
RECENT_FILES = {
    *("cpu.max", "cpu.max.burst", "cpu.weight", "cpu.idle", "cpuset.cpus", "cpuset.cpus.partition"),
    *("cpuset.cpus.exclusive", "cpuset.mems", "memory.high", "memory.min", "memory.reclaim", "memory.numa_stat"),
    *("io.weight", "io.max", "io.stat", "pids.max", "hugetlb.2MB.max", "cgroup.kill", "cgroup.freeze"),
    *("cpu.pressure", "memory.pressure", "io.pressure"),
}
# 50 ms of stall in half a second; the window needs no special kernel version when root asks.
TRIGGER = b"some 50000 500000\0"


def test_controllers_below_the_root_are_all_enabled(cgroup_root: Path) -> None:
    enabled = set((cgroup_root / "cgroup.subtree_control").read_text().split())

    assert enabled == set((cgroup_root / "cgroup.controllers").read_text().split())
    assert enabled >= CONTROLLERS


@pytest.mark.systemd_boot
def test_own_cgroup_under_systemd_has_delegated_controllers(cgroup_root: Path) -> None:
    path = Path("/proc/self/cgroup").read_text().strip().removeprefix("0::/")

    controllers = (cgroup_root / path / "cgroup.controllers").read_text().split()

    assert path == "system.slice/fuyaod-vm-command.service"
    assert set(controllers) >= SYSTEMD_DELEGATES


def test_nested_cgroup_has_the_files_of_a_recent_kernel(leaf_cgroup: Path) -> None:
    present = {path.name for path in leaf_cgroup.iterdir()}

    assert present >= RECENT_FILES


def test_pressure_of_a_cgroup_grows_when_two_processes_share_a_cpu(leaf_cgroup: Path) -> None:
    (leaf_cgroup / "cpuset.cpus").write_text("2")

    with process_in(leaf_cgroup, BUSY), process_in(leaf_cgroup, BUSY):
        wait_until(lambda: _some_total_us(leaf_cgroup / "cpu.pressure") > 100_000, "100 ms of CPU pressure")


def test_pressure_trigger_wakes_its_owner(leaf_cgroup: Path) -> None:
    (leaf_cgroup / "cpuset.cpus").write_text("2")
    trigger = os.open(leaf_cgroup / "cpu.pressure", os.O_RDWR | os.O_NONBLOCK)
    try:
        os.write(trigger, TRIGGER)
        poll = select.poll()
        poll.register(trigger, select.POLLPRI)

        with process_in(leaf_cgroup, BUSY), process_in(leaf_cgroup, BUSY):
            events = poll.poll(60_000)
    finally:
        os.close(trigger)

    assert [event & select.POLLPRI for _, event in events] == [select.POLLPRI]


def test_frozen_cgroup_uses_no_cpu_while_others_do(cgroup: Path, leaf_cgroup: Path) -> None:
    other = cgroup / "other"
    other.mkdir()
    with process_in(leaf_cgroup, BUSY), process_in(other, BUSY):
        wait_until(lambda: _usage_us(leaf_cgroup) > 20_000, "20 ms of CPU time")
        (leaf_cgroup / "cgroup.freeze").write_text("1")
        wait_until(lambda: read_flat(leaf_cgroup / "cgroup.events")["frozen"] == 1, "the freeze")

        frozen_us, other_us = _usage_us(leaf_cgroup), _usage_us(other)
        wait_until(lambda: _usage_us(other) > other_us + 100_000, "100 ms of the other's CPU time")
        assert _usage_us(leaf_cgroup) == frozen_us

        (leaf_cgroup / "cgroup.freeze").write_text("0")
        wait_until(lambda: _usage_us(leaf_cgroup) > frozen_us + 20_000, "CPU time after the thaw")


def test_killed_cgroup_is_empty(leaf_cgroup: Path) -> None:
    with process_in(leaf_cgroup) as process:
        (leaf_cgroup / "cgroup.kill").write_text("1")

        assert process.wait(60) == -9
        wait_until(lambda: not is_populated(leaf_cgroup), "the empty cgroup")


@pytest.mark.systemd_boot
def test_io_limit_on_the_disk_is_kept(leaf_cgroup: Path) -> None:
    device = Path("/sys/block/vda/dev").read_text().strip()

    (leaf_cgroup / "io.max").write_text(f"{device} wbps=1048576")

    assert (leaf_cgroup / "io.max").read_text() == f"{device} rbps=max wbps=1048576 riops=max wiops=max\n"


def _usage_us(cgroup: Path) -> int:
    return read_flat(cgroup / "cpu.stat")["usage_usec"]


def _some_total_us(pressure: Path) -> int:
    return int(pressure.read_text().splitlines()[0].rpartition("=")[2])
