"""Pods of both cgroup drivers stand where kubelet and containerd would put them."""

import subprocess
from pathlib import Path

import pytest

from tests.kernel.guest.cgroups import read_pids
from tests.kernel.guest.conftest import MakePod
from tests.kernel.guest.pods import CgroupDriver, GuestPod, PodQos, container_path, running_pod

CONTROLLERS = {"cpuset", "cpu", "io", "memory", "pids"}


def test_pods_have_every_class_and_driver(
    kubepods: tuple[GuestPod, ...], cgroup_drivers: tuple[CgroupDriver, ...]
) -> None:
    assert {(pod.driver, pod.qos) for pod in kubepods} == {(d, q) for d in cgroup_drivers for q in PodQos}


def test_container_is_one_process_at_its_path(kubepods: tuple[GuestPod, ...], cgroup_root: Path) -> None:
    for pod in kubepods:
        for container in pod.containers:
            path = container_path(pod.driver, pod.qos, pod.uid, container.id)
            assert read_pids(cgroup_root / path) == [container.pid]
            assert Path(f"/proc/{container.pid}/cgroup").read_text() == f"0::/{path}\n"


def test_container_has_the_controllers_of_a_node(kubepods: tuple[GuestPod, ...]) -> None:
    for pod in kubepods:
        for container in pod.containers:
            assert set((container.cgroup / "cgroup.controllers").read_text().split()) >= CONTROLLERS


@pytest.mark.systemd_boot
def test_systemd_pod_is_known_to_systemd(kubepods: tuple[GuestPod, ...]) -> None:
    pod = next(pod for pod in kubepods if pod.driver is CgroupDriver.SYSTEMD and pod.qos is PodQos.BURSTABLE)

    shown = subprocess.run(
        ["systemctl", "show", "--property=Slice,ActiveState", pod.containers[0].cgroup.name],
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert sorted(shown.split()) == ["ActiveState=active", f"Slice={pod.cgroup.name}"]
    assert pod.cgroup.relative_to("/sys/fs/cgroup").parts[:2] == ("kubepods.slice", "kubepods-burstable.slice")


@pytest.mark.systemd_boot
def test_systemd_is_process_1_and_running() -> None:
    state = subprocess.run(["systemctl", "is-system-running", "--wait"], capture_output=True, text=True, check=False)

    assert Path("/proc/1/comm").read_text() == "systemd\n"
    assert state.stdout == "running\n"


def test_pod_of_ones_own_has_its_containers(make_pod: MakePod, cgroup_drivers: tuple[CgroupDriver, ...]) -> None:
    pods = [make_pod(driver, qos=PodQos.BESTEFFORT, containers=2) for driver in cgroup_drivers]

    assert [[read_pids(c.cgroup) for c in pod.containers] for pod in pods] == [
        [[c.pid] for c in pod.containers] for pod in pods
    ]


def test_pod_after_its_end_leaves_nothing(cgroup_root: Path, cgroup_drivers: tuple[CgroupDriver, ...]) -> None:
    for driver in cgroup_drivers:
        with running_pod(cgroup_root, driver, PodQos.GUARANTEED, "0a-0b", ("c1",)) as pod:
            assert pod.cgroup.is_dir()

        assert not pod.cgroup.exists()
        assert not Path(f"/proc/{pod.containers[0].pid}").exists()
