"""Every declared host, under every kernel profile and with every cgroup driver, keeps the rules of the kernel."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.hosts.declare import DRIVERS, HOSTS, PROFILES, Materialised, declare, expect, materialise
from tests.hosts.shape import Layout, Psi
from tests.unit.hosts import rules


def broken_rules(made: Materialised) -> list[str]:
    root = made.root
    found = [*rules.cpu_rules(root), *rules.cache_rules(root), *rules.node_rules(root), *rules.link_rules(root)]
    found += rules.text_rules(root, frozenset(made.faults))
    if made.v2_mount is not None:
        found += rules.cgroup_rules(rules.group_files(root / made.v2_mount))
    return found


# How a distribution boots changes its groups alone, which the second test covers; and the host with 1024 CPUs costs as
# much as all others together.
PAIRS = [
    *(
        (host, profile)
        for host in HOSTS
        for profile in PROFILES
        if PROFILES[profile].layout is Layout.UNIFIED and host != "cpus-1024"
    ),
    ("cpus-1024", "ubuntu-22.04"),
    *(("kunpeng920-910b", profile) for profile in PROFILES if PROFILES[profile].layout is Layout.LEGACY),
]


@pytest.mark.parametrize(("host", "profile"), PAIRS, ids=lambda value: value)
def test_tree_of_any_host_and_profile_keeps_kernel_rules(root: Path, host: str, profile: str) -> None:
    drivers = tuple(DRIVERS)
    driver = drivers[PAIRS.index((host, profile)) % len(drivers)]
    made = materialise(declare(host), root, profile=profile, driver=driver)
    assert broken_rules(made) == []


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("host", ["one-cpu", "cgroup-hybrid", "xeon-rdt"])
def test_groups_of_any_driver_and_profile_keep_kernel_rules(host: str, driver: str, profile: str) -> None:
    made = expect(declare(host), Path("/nowhere"), profile=profile, driver=driver)
    mount = made.v2_mount
    texts = dict(made.cgroups.texts(0, limits=False, changed_only=False))
    files = {path.removeprefix(mount or ""): text for path, text in texts.items() if mount and path.startswith(mount)}
    if mount == "sys/fs/cgroup/unified" or mount is None:
        assert any(path.startswith("sys/fs/cgroup/memory/") for path in texts)
    assert list(rules.cgroup_rules(files)) == []
    assert all(text == "" or text.endswith("\n") for text in texts.values())


@pytest.mark.parametrize("host", HOSTS)
def test_facts_about_paths_of_any_host_are_on_disk(root: Path, host: str) -> None:
    made = materialise(declare(host), root)
    mount = made.v2_mount
    assert mount is not None
    for pod in made.pods:
        assert (root / f"{mount}{pod.path}").is_dir()
        for container in pod.containers:
            assert container.path.startswith(f"{pod.path}/")
            assert all((root / f"{mount}{path}").is_dir() for path in (container.path, *container.children))
    for service in made.services:
        assert (root / f"{mount}{service.path}/cgroup.procs").read_text() == f"{service.pid}\n"
        assert (root / f"proc/{service.pid}/comm").read_text() == f"{service.comm}\n"
    for device in made.devices:
        folder = root / "sys/bus/pci/devices" / device.bdf
        assert (folder / "vendor").read_text() == f"0x{device.vendor:04x}\n"
        assert (folder / "numa_node").read_text() == f"{-1 if device.node is None else device.node}\n"
        assert (folder.resolve().parent.name in device.path) == bool(device.path)
    for nic in made.nics:
        assert (root / "sys/class/net" / nic.name / "operstate").read_text() == f"{nic.operstate}\n"


def test_rules_of_damaged_tree_are_found_broken(root: Path) -> None:
    made = materialise(declare("offline-cpus"), root)
    cpu, node = root / "sys/devices/system/cpu", root / "sys/devices/system/node"
    (cpu / "cpu1/topology/thread_siblings_list").write_text("1,10\n")
    (cpu / "offline").write_text("3\n")
    (cpu / "cpu0/cache/index3/shared_cpu_list").write_text("0-1\n")
    (node / "node0/distance").write_text("10 11\n")
    (node / "node1/meminfo").write_text("Node 1 MemTotal:              12 kB\n")
    (root / "sys/fs/cgroup/system.slice/memory.current").write_text("12")
    (root / "sys/class/net/dangling").symlink_to("../nowhere")
    found = "\n".join(broken_rules(made))
    for sentence in (
        "thread_siblings_list of CPU 1 is not shared",
        "do not split possible",
        "cache ('3', 'Unified', '0') has two sets",
        "distance 0-1 is not symmetric",
        "MemTotal is not the sum",
        "memory.current is not the sum",
        "memory.current does not end with a newline",
        "dangling -> ../nowhere",
    ):
        assert sentence in found


@pytest.mark.parametrize("psi", Psi)
def test_psi_state_decides_which_pressure_files_are_there_and_fail(root: Path, psi: Psi) -> None:
    host = msgspec.structs.replace(declare("one-cpu"), psi=psi)
    made = materialise(host, root)
    group = root / "sys/fs/cgroup/system.slice"
    failing = {path for path, number in made.faults.items() if number == 95}
    assert (root / "proc/pressure").exists() == (psi in (Psi.ON, Psi.REFUSED))
    assert (group / "cpu.pressure").exists() == (psi is not Psi.ABSENT)
    assert ("proc/pressure/cpu" in failing) == (psi is Psi.REFUSED)
    assert ("sys/fs/cgroup/system.slice/cpu.pressure" in failing) == (psi in (Psi.OFF, Psi.REFUSED))
    assert ((group / "cpu.pressure").exists() and (group / "cpu.pressure").read_text() != "") == (psi is Psi.ON)
