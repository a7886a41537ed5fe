"""The daemon on a real kernel: what it reports follows what happens, in both boots."""

from pathlib import Path

import pytest

from tests.kernel.guest.agents import Agent
from tests.kernel.guest.cgroups import BUSY, process_in
from tests.kernel.guest.pods import CgroupDriver, GuestPod, PodQos, running_pod
from tests.kernel.guest.sysfs import CPU_FOLDER
from tests.kernel.guest.waiting import wait_until
from tests.kernel.vm.spec import Vm


def of_pod(agent: Agent, name: str, pod: GuestPod) -> float | None:
    """Value of a metric of one pod, None while it has none."""
    label = f'uid="{pod.uid}"'
    found = [value for key, value in agent.metrics().items() if key.startswith(name + "{") and label in key]
    assert len(found) <= 1
    return found[0] if found else None


@pytest.mark.parametrize(
    "driver",
    [
        pytest.param(CgroupDriver.CGROUPFS, id="cgroupfs"),
        pytest.param(CgroupDriver.SYSTEMD, id="systemd", marks=pytest.mark.systemd_boot),
    ],
)
def test_agent_pod_comes_with_its_usage_and_goes(agent: Agent, cgroup_root: Path, driver: CgroupDriver) -> None:
    with running_pod(cgroup_root, driver, PodQos.BURSTABLE, "0a-0b", ("a" * 64,)) as pod:

        def shown(name: str) -> float:
            return of_pod(agent, name, pod) or 0.0

        wait_until(lambda: shown("fuyaod_pod_info") == 1, "the pod")
        with process_in(pod.containers[0].cgroup, BUSY):
            wait_until(lambda: shown("fuyaod_pod_cpu_usage_seconds_total") > 0.2, "200 ms of CPU time")
        assert shown("fuyaod_pod_memory_bytes") > 0

    wait_until(lambda: of_pod(agent, "fuyaod_pod_info", pod) is None, "the pod's end")


def test_agent_snapshot_through_the_socket_lists_the_pods(agent: Agent, kubepods: tuple[GuestPod, ...]) -> None:
    wait_until(lambda: agent.metrics()['fuyaod_pods{qos="none"}'] == len(kubepods), "the pods")

    pods = {pod["record"]["uid"]: pod for pod in agent.snapshot()["pods"]}

    assert set(pods) == {pod.uid for pod in kubepods}
    for pod in kubepods:
        assert pods[pod.uid]["cgroup_path"] == "/" + str(pod.cgroup.relative_to("/sys/fs/cgroup"))
        assert len(pods[pod.uid]["container_paths"]) == len(pod.containers)


def test_agent_cpu_that_goes_and_comes_is_seen_by_its_event(agent: Agent, vm_spec: Vm) -> None:
    switch = CPU_FOLDER / f"cpu{vm_spec.cpus - 1}/online"

    def counts() -> tuple[float, float]:
        metrics = agent.metrics()
        return metrics['fuyaod_cpus{state="online"}'], metrics['fuyaod_cpus{state="offline"}']

    assert counts() == (vm_spec.cpus, 0)
    try:
        switch.write_text("0")
        wait_until(lambda: counts() == (vm_spec.cpus - 1, 1), "one CPU less", within_s=20)
    finally:
        switch.write_text("1")
    wait_until(lambda: counts() == (vm_spec.cpus, 0), "all CPUs", within_s=20)


def test_agent_pages_answer(agent: Agent) -> None:
    assert agent.get("/healthz")[0] == 200
    assert agent.get("/readyz")[0] == 200
    assert agent.get("/nothing")[0] == 404


def test_agent_socket_is_its_owners(agent: Agent) -> None:
    assert agent.socket.is_socket()
    assert agent.socket.stat().st_mode & 0o007 == 0
    assert Path(f"/proc/{agent.pid}").exists()
