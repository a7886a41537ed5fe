"""Fixtures that all tests inside the machine share."""

import contextlib
import os
import subprocess
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from fuyaod.hostfs import HostRoot
from fuyaod.hostfs.journal import Journal
from tests.kernel.guest.agents import Agent, AgentUnit, child_agent
from tests.kernel.guest.cgroups import enable_controllers, remove_tree
from tests.kernel.guest.pods import CgroupDriver, GuestPod, PodQos, running_pod
from tests.kernel.guest.sysfs import CPU_FOLDER, NODE_FOLDER
from tests.kernel.vm.qemu import ROOT_SHARE
from tests.kernel.vm.spec import InitMode, Vm

MakePod = Callable[..., GuestPod]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever runs here is a kernel test."""
    for item in items:
        item.add_marker("kernel")


@pytest.fixture(scope="session", autouse=True)
def inside_the_machine() -> None:
    """These tests take CPUs offline and kill what they find: refuse to run on anybody's real machine."""
    if f"root={ROOT_SHARE} rootfstype=virtiofs" not in Path("/proc/cmdline").read_text():
        pytest.exit("cannot run here: these tests are for the machine that `python -m tests.kernel.run` boots", 1)


@pytest.fixture(scope="session")
def vm_spec() -> Vm:
    """What this machine was told to be."""
    return msgspec.json.decode(Path(os.environ["FUYAOD_VM_SPEC"]).read_bytes(), type=Vm)


@pytest.fixture(scope="session")
def cgroup_root() -> Path:
    """Where cgroup v2 is mounted. Every controller is enabled for the cgroups directly below."""
    return Path("/sys/fs/cgroup")


@pytest.fixture
def cgroup(cgroup_root: Path) -> Iterator[Path]:
    """A cgroup of one's own directly below the root, removed with all that was made in it."""
    own = cgroup_root / f"test-{uuid.uuid4().hex[:8]}"
    own.mkdir()
    yield own
    remove_tree(own)


@pytest.fixture(scope="session")
def cgroup_drivers(vm_spec: Vm) -> tuple[CgroupDriver, ...]:
    """Drivers whose pods this machine can hold: both under systemd, otherwise only the one that uses mkdir."""
    if vm_spec.mode is InitMode.SYSTEMD:
        return (CgroupDriver.CGROUPFS, CgroupDriver.SYSTEMD)
    return (CgroupDriver.CGROUPFS,)


@pytest.fixture(scope="session")
def kubepods(cgroup_root: Path, cgroup_drivers: tuple[CgroupDriver, ...]) -> Iterator[tuple[GuestPod, ...]]:
    """One pod of each QoS class and driver, two containers each, for all tests of the boot: look, do not touch."""
    with contextlib.ExitStack() as stack:
        yield tuple(
            stack.enter_context(running_pod(cgroup_root, driver, qos, str(uuid.uuid4()), _container_ids(2)))
            for driver in cgroup_drivers
            for qos in PodQos
        )


@pytest.fixture
def make_pod(cgroup_root: Path) -> Iterator[MakePod]:
    """Makes pods of one's own, gone after the test.

    Call it with `driver`, `qos` (default burstable) and `containers` (how many, default 1).
    """
    with contextlib.ExitStack() as stack:

        def make(driver: CgroupDriver, *, qos: PodQos = PodQos.BURSTABLE, containers: int = 1) -> GuestPod:
            pod = running_pod(cgroup_root, driver, qos, str(uuid.uuid4()), _container_ids(containers))
            return stack.enter_context(pod)

        yield make


@pytest.fixture
def offline_cpu(vm_spec: Vm) -> Iterator[int]:
    """The last CPU, taken offline for the test."""
    cpu = vm_spec.cpus - 1
    switch = CPU_FOLDER / f"cpu{cpu}/online"
    switch.write_text("0")
    yield cpu
    switch.write_text("1")


@pytest.fixture
def huge_pages(vm_spec: Vm) -> Iterator[Path]:
    """Four huge pages of 2 MiB on node 1."""
    folder = NODE_FOLDER / "node1/hugepages/hugepages-2048kB"
    (folder / "nr_hugepages").write_text("4")
    yield folder
    (folder / "nr_hugepages").write_text("0")


@pytest.fixture(scope="session")
def resctrl_mount(vm_spec: Vm) -> Iterator[Path]:
    """The resctrl file system on emulated enumeration: the kernel's protocol, without any effect on a cache."""
    if not vm_spec.rdt:
        pytest.skip("this machine does not enumerate resctrl features")
    mount = Path("/sys/fs/resctrl")
    subprocess.run(["mount", "-t", "resctrl", "resctrl", str(mount)], check=True)
    yield mount
    subprocess.run(["umount", str(mount)], check=True)


@pytest.fixture
def leaf_cgroup(cgroup: Path) -> Path:
    """A cgroup with every controller, below one of one's own."""
    enable_controllers(cgroup)
    leaf = cgroup / "leaf"
    leaf.mkdir()
    return leaf


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    """An empty journal of this machine."""
    with Journal.open(HostRoot("/"), str(tmp_path / "fuyaod.journal")) as made:
        yield made


@pytest.fixture(scope="session")
def agent_unit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentUnit]:
    """The daemon as a unit, for all tests of the boot with systemd. A start takes ten seconds."""
    unit = AgentUnit(tmp_path_factory.mktemp("unit"))
    yield unit
    unit.stop()


@pytest.fixture(scope="session")
def agent_child(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    """The daemon as a child process, for all tests of the boot without systemd."""
    with child_agent(tmp_path_factory.mktemp("child")) as agent:
        yield agent


@pytest.fixture
def agent(vm_spec: Vm, request: pytest.FixtureRequest) -> Agent:
    """The running daemon, started as its boot does it. Look, do not stop."""
    if vm_spec.mode is InitMode.SYSTEMD:
        unit: AgentUnit = request.getfixturevalue("agent_unit")
        return unit.running()
    child: Agent = request.getfixturevalue("agent_child")
    return child


def _container_ids(count: int) -> tuple[str, ...]:
    return tuple(uuid.uuid4().hex * 2 for _ in range(count))
