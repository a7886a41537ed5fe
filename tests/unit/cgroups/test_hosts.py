"""Declared hosts: what is observed equals what was declared, for each kernel, naming and layout."""

from pathlib import Path

import pytest

from fuyaod.cgroups.observe import CgroupObserver, CgroupPodSource, SystemdServiceSource
from fuyaod.hostfs import DescriptorBudget, HostRoot
from fuyaod.model.cgroup import CgroupMode, CgroupSample, CgroupTree
from fuyaod.model.pressure import Pressure
from fuyaod.model.qos import QosClass
from fuyaod.model.settings import Observe, ServiceRule
from tests.hosts.cgroup_values import Numbers, Psi4, pressure_of
from tests.hosts.declare import DRIVERS, HOSTS, PROFILES, Materialised, declare, materialise, rewrite
from tests.hosts.faults import FaultyFiles
from tests.hosts.shape import Layout, Psi

RULES = (ServiceRule(unit="nginx.service", qos=QosClass.LS), ServiceRule(unit="batch*.slice", qos=QosClass.BE))
RUNTIMES: dict[str, set[str | None]] = {
    "containerd": {"containerd", None},
    "cri-o": {"cri-o"},
    "docker": {"docker", None},
}


def _observe(made: Materialised, ticks: int = 1) -> CgroupTree:
    """The tree after some ticks, with the files rewritten before each but the first."""
    host = HostRoot(made.root, FaultyFiles(made.root, made.faults), DescriptorBudget(800, reserve=0))
    observer = CgroupObserver(host, Observe(slow_every_ticks=1), RULES)
    try:
        tree = observer.observe(0, 0)
        for tick in range(1, ticks):
            rewrite(made, tick)
            tree = observer.observe(tick, tick)
        return tree
    finally:
        observer.close()


def _expected_paths(made: Materialised) -> set[str]:
    kube = {
        group.path
        for group in made.cgroups.groups
        if group.kind in ("pod", "container") or (group.kind == "slice" and "kubepods" in group.path)
    }
    units = {
        group.path
        for group in made.cgroups.groups
        if group.path in ("/system.slice", "/user.slice", "/init.scope", "/system.slice/nginx.service")
        or (group.path.startswith("/batch") and group.path.endswith(".slice"))
    }
    return kube | units


def _assert_pressure(found: Pressure | None, path: str, resource: str, step: int, made: Materialised) -> None:
    if made.cgroups.psi is not Psi.ON:
        assert found is None
        return
    assert found is not None
    lines: tuple[Psi4, Psi4] = pressure_of(path, resource, step)
    has_full = resource != "cpu" or made.profile.has((5, 13))
    for line, expected in zip((found.some, found.full), lines, strict=True):
        if line is found.full and not has_full:
            assert line is None
            continue
        assert line is not None
        assert (line.avg10_pct, line.avg60_pct) == (expected.avg10 / 100, expected.avg60 / 100)
        assert (line.avg300_pct, line.total_us) == (expected.avg300 / 100, expected.total_us)


def _assert_values(sample: CgroupSample, numbers: Numbers, controllers: tuple[str, ...]) -> None:
    assert sample.cpu is not None
    assert (sample.cpu.usage_us, sample.cpu.user_us) == (numbers.usage_us, numbers.user_us)
    throttled = (numbers.periods, numbers.throttled, numbers.throttled_us) if "cpu" in controllers else (None,) * 3
    assert (sample.cpu.periods, sample.cpu.throttled_periods, sample.cpu.throttled_us) == throttled
    slow = sample.slow
    assert slow is not None
    assert slow.pids_current == (numbers.pids if "pids" in controllers else None)
    if "memory" in controllers:
        assert slow.memory_stat is not None
        assert slow.memory_events is not None
        assert sample.memory_current_bytes == numbers.current
        assert sample.working_set_bytes == numbers.current - numbers.inactive_file
        assert (slow.memory_stat.anon_bytes, slow.memory_stat.shmem_bytes) == (numbers.anon, numbers.shmem)
        assert (slow.memory_events.high, slow.memory_events.oom_kill) == (numbers.high, numbers.oom_kill)
    else:
        assert (sample.memory_current_bytes, slow.memory_stat, slow.memory_events) == (None, None, None)
    if "io" in controllers:
        assert slow.io_stat is not None
        assert (slow.io_stat.read_bytes, slow.io_stat.writes) == (numbers.read_bytes, numbers.writes)
    else:
        assert slow.io_stat is None


def _assert_tree(tree: CgroupTree, made: Materialised, step: int) -> None:
    groups = {group.path: group for group in made.cgroups.groups}
    numbers = made.numbers(step)
    assert {sample.id.path for sample in tree.samples} == _expected_paths(made)
    for sample in tree.samples:
        path = sample.id.path
        _assert_values(sample, numbers[path], groups[path].controllers)
        _assert_pressure(sample.cpu_pressure, path, "cpu", step, made)
        assert sample.slow is not None
        _assert_pressure(sample.slow.memory_pressure, path, "memory", step, made)
        _assert_pressure(sample.slow.io_pressure, path, "io", step, made)


@pytest.mark.parametrize("name", HOSTS)
def test_declared_host_is_observed_as_declared(name: str, ram_path: Path) -> None:
    made = materialise(declare(name), ram_path)

    tree = _observe(made, ticks=3)

    mode = {Layout.UNIFIED: CgroupMode.UNIFIED, Layout.HYBRID: CgroupMode.HYBRID, Layout.LEGACY: CgroupMode.LEGACY}
    assert tree.mode is mode[made.cgroups.layout]
    assert tree.mount == made.v2_mount
    assert tree.controllers == made.controllers
    if made.v2_mount is None:
        assert tree.samples == ()
    else:
        _assert_tree(tree, made, step=2)


@pytest.mark.parametrize("profile", PROFILES)
def test_kernel_of_each_distribution_is_observed_as_declared(profile: str, ram_path: Path) -> None:
    made = materialise(declare("one-cpu"), ram_path, profile=profile)

    tree = _observe(made)

    if made.v2_mount is not None:
        _assert_tree(tree, made, step=0)


@pytest.mark.parametrize("driver", DRIVERS)
def test_pods_of_each_driver_are_found_with_their_containers(driver: str, ram_path: Path) -> None:
    made = materialise(declare("xeon-rdt"), ram_path, driver=driver)

    tree = _observe(made)
    report = CgroupPodSource().report(tree, 0)

    found = {
        (pod.uid, pod.kube_qos.value if pod.kube_qos else None): {box.container_id for box in pod.containers}
        for pod in report.pods
    }
    assert found == {(pod.cgroup_uid, pod.kube_qos): {box.id for box in pod.containers} for pod in made.pods}
    assert {sample.id.runtime for sample in tree.samples if sample.id.container_id} <= RUNTIMES[made.driver.runtime]


def test_services_of_declared_host_are_those_the_rules_name(ram_path: Path) -> None:
    made = materialise(declare("kunpeng920-910b"), ram_path)

    services = SystemdServiceSource(RULES).report(_observe(made), 0).services

    assert [(service.cgroup_path, service.qos) for service in services] == [
        ("/batch.slice", QosClass.BE),
        ("/batch.slice/batch-nightly.slice", QosClass.BE),
        ("/system.slice/nginx.service", QosClass.LS),
    ]


@pytest.mark.parametrize("name", ["psi-off", "psi-refused"])
def test_pressure_switched_off_in_kernel_is_none_and_no_trouble(name: str, ram_path: Path) -> None:
    made = materialise(declare(name), ram_path)

    tree = _observe(made)

    assert tree.samples
    assert all(sample.cpu is not None and sample.cpu_pressure is None for sample in tree.samples)
    assert tree.unreadable == ()
