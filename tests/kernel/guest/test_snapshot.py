"""The snapshot of the machine equals what the machine was told to be."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fuyaod.hostfs import HostRoot
from fuyaod.model.cgroup import CgroupKind, CgroupMode, CgroupSample, KubeQos
from fuyaod.model.cpuset import CpuSet
from fuyaod.model.settings import Settings
from fuyaod.model.snapshot import NodeSnapshot
from fuyaod.node.observe import NodeObserver
from tests.kernel.guest.cgroups import BUSY, process_in
from tests.kernel.guest.conftest import MakePod
from tests.kernel.guest.pods import CgroupDriver, GuestPod, PodQos, running_pod
from tests.kernel.guest.sysfs import KERNEL_KEEPS_MIB
from tests.kernel.guest.waiting import wait_until
from tests.kernel.vm.spec import Vm

KUBE_QOS = {
    PodQos.GUARANTEED: KubeQos.GUARANTEED,
    PodQos.BURSTABLE: KubeQos.BURSTABLE,
    PodQos.BESTEFFORT: KubeQos.BEST_EFFORT,
}


@pytest.fixture
def observer() -> Iterator[NodeObserver]:
    """Looks at this machine, without the census of processes."""
    made = NodeObserver(HostRoot("/"), Settings(), processes=False)
    yield made
    made.close()


def look(observer: NodeObserver) -> NodeSnapshot:
    return observer.observe(time.monotonic_ns(), time.time())


def samples(snapshot: NodeSnapshot) -> dict[str, CgroupSample]:
    return {sample.id.path: sample for sample in snapshot.cgroups.samples}


def in_tree(cgroup: Path) -> str:
    """Path of a cgroup as snapshots write it."""
    return "/" + str(cgroup.relative_to("/sys/fs/cgroup"))


def test_snapshot_cpus_are_as_told(vm_spec: Vm, observer: NodeObserver) -> None:
    cpu = look(observer).topology.cpu

    assert cpu.online == CpuSet(range(vm_spec.cpus))
    assert cpu.offline == CpuSet()
    assert cpu.smt_active is (vm_spec.threads > 1)
    assert {c.cpu: c.smt_siblings for c in cpu.cpus} == {n: CpuSet(vm_spec.core_cpus(n)) for n in range(vm_spec.cpus)}
    assert {c.cpu: c.numa_node for c in cpu.cpus} == {
        n: node for node in range(vm_spec.nodes) for n in vm_spec.node_cpus(node)
    }
    assert len(cpu.cores()) == vm_spec.cpus // vm_spec.threads


def test_snapshot_l3_domains_are_as_told(vm_spec: Vm, observer: NodeObserver) -> None:
    domains = [cache.cpus for cache in look(observer).topology.cpu.caches_of(3)]

    assert domains == [CpuSet(domain) for domain in vm_spec.l3_domains()]


def test_snapshot_nodes_are_as_told(vm_spec: Vm, observer: NodeObserver) -> None:
    nodes = look(observer).topology.nodes

    assert [(node.node, node.cpus, node.distances) for node in nodes] == [
        (n, CpuSet(vm_spec.node_cpus(n)), tuple(vm_spec.distance(n, to) for to in range(vm_spec.nodes)))
        for n in range(vm_spec.nodes)
    ]


def test_snapshot_node_memory_is_as_told_less_the_kernels_share(vm_spec: Vm, observer: NodeObserver) -> None:
    memory = look(observer).node_memory

    assert [node.node for node in memory] == list(range(vm_spec.nodes))
    missing_mib = [vm_spec.node_mem_mib - (node.total_bytes >> 20) for node in memory]
    assert all(0 <= missing <= KERNEL_KEEPS_MIB for missing in missing_mib), missing_mib


@pytest.mark.usefixtures("huge_pages")
def test_snapshot_huge_pages_are_on_their_node(vm_spec: Vm, observer: NodeObserver) -> None:
    totals = [
        {pages.size_bytes: pages.total for pages in node.hugepages}[2 << 20] for node in look(observer).node_memory
    ]

    assert totals == [4 if node == 1 else 0 for node in range(vm_spec.nodes)]


def test_snapshot_offline_cpu_is_offline_and_off_its_node(
    vm_spec: Vm, observer: NodeObserver, offline_cpu: int
) -> None:
    topology = look(observer).topology

    assert topology.cpu.offline == CpuSet([offline_cpu])
    assert topology.cpu.online == CpuSet(range(offline_cpu))
    assert [cpu.cpu for cpu in topology.cpu.cpus if not cpu.online] == [offline_cpu]
    assert topology.nodes[-1].cpus == CpuSet(vm_spec.node_cpus(vm_spec.nodes - 1)) - CpuSet([offline_cpu])


def test_snapshot_identity_is_the_running_kernel(observer: NodeObserver) -> None:
    snapshot = look(observer)

    assert snapshot.host.kernel_release == os.uname().release
    assert snapshot.host.node_name == "fuyaod-vm"
    assert snapshot.cgroups.mode is CgroupMode.UNIFIED
    assert {"cpuset", "cpu", "io", "memory", "hugetlb", "pids"} <= set(snapshot.cgroups.controllers)
    assert snapshot.pressure.cpu is not None
    assert snapshot.findings == ()


def test_snapshot_pods_are_those_that_run(observer: NodeObserver, kubepods: tuple[GuestPod, ...]) -> None:
    pods = {pod.record.uid: pod for pod in look(observer).pods}

    assert set(pods) == {pod.uid for pod in kubepods}
    for pod in kubepods:
        seen = pods[pod.uid]
        assert seen.record.kube_qos is KUBE_QOS[pod.qos]
        assert seen.cgroup_path == in_tree(pod.cgroup)
        assert set(seen.container_paths) == {in_tree(container.cgroup) for container in pod.containers}


def test_snapshot_containers_have_values_of_every_controller(
    observer: NodeObserver, kubepods: tuple[GuestPod, ...]
) -> None:
    seen = samples(look(observer))

    for pod in kubepods:
        for container in pod.containers:
            sample = seen[in_tree(container.cgroup)]
            assert (sample.id.kind, sample.id.container_id) == (CgroupKind.CONTAINER, container.id)
            assert sample.id.driver is not None
            assert sample.id.driver.value == pod.driver.value
            assert sample.memory_current_bytes
            assert sample.cpu_pressure is not None
            assert sample.cpu is not None
            assert sample.cpu.throttled_us == 0
            assert sample.slow is not None
            assert sample.slow.pids_current == 1


def test_snapshot_pod_that_ended_is_marked_gone_then_absent(
    observer: NodeObserver, cgroup_root: Path, cgroup_drivers: tuple[CgroupDriver, ...]
) -> None:
    for driver in cgroup_drivers:
        with running_pod(cgroup_root, driver, PodQos.BURSTABLE, "0a-0b", ("c1",)) as pod:
            running = look(observer)
        ended, later = look(observer), look(observer)

        seen = [samples(snapshot).get(in_tree(pod.cgroup)) for snapshot in (running, ended, later)]
        assert [sample.gone if sample else None for sample in seen] in ([False, True, None], [False, None, None])
        assert "0a-0b" in {known.record.uid for known in running.pods}
        assert "0a-0b" not in {known.record.uid for known in later.pods}


def test_snapshot_cpu_time_of_a_busy_container_grows(observer: NodeObserver, make_pod: MakePod) -> None:
    container = make_pod(CgroupDriver.CGROUPFS).containers[0].cgroup

    def usage_us() -> int:
        cpu = samples(look(observer))[in_tree(container)].cpu
        assert cpu is not None
        return cpu.usage_us

    before_us = usage_us()
    with process_in(container, BUSY):
        wait_until(lambda: usage_us() > before_us + 100_000, "100 ms of CPU time")
