"""Pods as kubelet and container runtimes lay them out in the cgroup tree, with a sleeping process per container."""

import contextlib
import enum
import subprocess
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import assert_never

import msgspec

from tests.kernel.guest.cgroups import SLEEP, enable_controllers, process_in, read_pids, remove_tree
from tests.kernel.guest.waiting import wait_until


class CgroupDriver(enum.Enum):
    """Who makes the cgroups of pods."""

    CGROUPFS = "cgroupfs"
    SYSTEMD = "systemd"


class PodQos(enum.Enum):
    """Kubernetes' QoS class, which decides where a pod's cgroup is."""

    GUARANTEED = "guaranteed"
    BURSTABLE = "burstable"
    BESTEFFORT = "besteffort"


class GuestContainer(msgspec.Struct, frozen=True, kw_only=True):
    """A container: one sleeping process in a cgroup."""

    id: str
    cgroup: Path
    pid: int


class GuestPod(msgspec.Struct, frozen=True, kw_only=True):
    """A pod whose containers run until its fixture ends."""

    uid: str
    driver: CgroupDriver
    qos: PodQos
    cgroup: Path
    containers: tuple[GuestContainer, ...]


def pod_path(driver: CgroupDriver, qos: PodQos, uid: str) -> PurePosixPath:
    """Cgroup of a pod, relative to the cgroup root.

    Source: kubelet, `pkg/kubelet/cm` (cgroup names of both drivers).
    """
    parents = [] if qos is PodQos.GUARANTEED else [qos.value]
    match driver:
        case CgroupDriver.CGROUPFS:
            return PurePosixPath("kubepods", *parents, f"pod{uid}")
        case CgroupDriver.SYSTEMD:
            slices = ["kubepods", *parents, f"pod{uid.replace('-', '_')}"]
            return PurePosixPath(*("-".join(slices[: depth + 1]) + ".slice" for depth in range(len(slices))))
        case never:
            assert_never(never)


def container_path(driver: CgroupDriver, qos: PodQos, uid: str, container: str) -> PurePosixPath:
    """Cgroup of a container, relative to the cgroup root, as containerd names it."""
    pod = pod_path(driver, qos, uid)
    return pod / (container if driver is CgroupDriver.CGROUPFS else f"cri-containerd-{container}.scope")


@contextlib.contextmanager
def running_pod(
    root: Path, driver: CgroupDriver, qos: PodQos, uid: str, containers: tuple[str, ...]
) -> Iterator[GuestPod]:
    """Start a pod; stop it and remove its cgroups when the block ends.

    Args:
        root: where cgroup v2 is mounted.
        driver: layout; `SYSTEMD` needs systemd as process 1.
        qos: the pod's class.
        uid: the pod's UID, with dashes.
        containers: container ids.
    """
    pod = root / pod_path(driver, qos, uid)
    start = _by_mkdir if driver is CgroupDriver.CGROUPFS else _by_systemd
    with contextlib.ExitStack() as stack:
        stack.callback(_remove_pod, root, driver, pod)
        running = []
        for name in containers:
            cgroup = root / container_path(driver, qos, uid, name)
            process = stack.enter_context(start(root, cgroup))
            running.append(GuestContainer(id=name, cgroup=cgroup, pid=process.pid))
        yield GuestPod(uid=uid, driver=driver, qos=qos, cgroup=pod, containers=tuple(running))


@contextlib.contextmanager
def _by_mkdir(root: Path, cgroup: Path) -> Iterator[subprocess.Popen[bytes]]:
    cgroup.mkdir(parents=True)
    for parent in reversed(cgroup.parents):
        if parent.is_relative_to(root):
            enable_controllers(parent)
    with process_in(cgroup) as process:
        yield process


@contextlib.contextmanager
def _by_systemd(_root: Path, cgroup: Path) -> Iterator[subprocess.Popen[bytes]]:
    """As runc does: a delegated scope, which makes systemd enable the controllers above it."""
    unit = ["--scope", "--quiet", "--property=Delegate=yes", f"--slice={cgroup.parent.name}", f"--unit={cgroup.name}"]
    process = subprocess.Popen(["systemd-run", *unit, *SLEEP], stdin=subprocess.DEVNULL)
    try:
        wait_until(lambda: cgroup.exists() and process.pid in read_pids(cgroup), f"process {process.pid} in {cgroup}")
        yield process
    finally:
        process.kill()
        process.wait()


def _remove_pod(root: Path, driver: CgroupDriver, pod: Path) -> None:
    _remove_cgroup(driver, pod)
    _remove_empty_parents(root, driver, pod)


def _remove_cgroup(driver: CgroupDriver, cgroup: Path) -> None:
    match driver:
        case CgroupDriver.CGROUPFS:
            remove_tree(cgroup)
        case CgroupDriver.SYSTEMD:
            subprocess.run(["systemctl", "stop", cgroup.name], check=True)
            wait_until(lambda: not cgroup.exists(), f"the end of {cgroup}")
        case never:
            assert_never(never)


def _remove_empty_parents(root: Path, driver: CgroupDriver, pod: Path) -> None:
    for parent in pod.parents:
        if parent == root or any(child.is_dir() for child in parent.iterdir()):
            return
        _remove_cgroup(driver, parent)
