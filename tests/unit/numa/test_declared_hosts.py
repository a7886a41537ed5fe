"""What is observed on every declared host equals its declaration, without a single finding."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from fuyaod.hostfs import HostRoot
from fuyaod.model import CpuSet
from fuyaod.model.devices import Nic, PciDevice
from fuyaod.model.topology import CacheDomain, Cpu, Hugepages, NodeMemory, NumaNode
from fuyaod.numa.observe import (
    observe_cpu_time,
    observe_nics,
    observe_node_memory,
    observe_system_memory,
    observe_topology,
)
from tests.hosts.declare import HOSTS, Materialised, declare, materialise
from tests.hosts.facts import CacheFact, CpuFact, DeviceFact, NicFact, NodeFact
from tests.hosts.faults import FaultyFiles
from tests.hosts.profiles import PROFILES

MAX_CPU_S_1024_CPUS = 1.5
"""Five times what is promised: a shared and busy machine must not make the test fail, a quadratic reader must."""


def _host(made: Materialised) -> HostRoot:
    return HostRoot(made.root, FaultyFiles(made.root, made.faults))


@pytest.mark.parametrize("name", HOSTS)
def test_declared_host_is_observed_as_declared(name: str, tmp_path: Path) -> None:
    made = materialise(declare(name), tmp_path, pods=())

    _assert_as_declared(made)


@pytest.mark.parametrize("profile", sorted(PROFILES))
@pytest.mark.parametrize("name", ["kunpeng920-910b", "offline-cpus", "memoryless-node"])
def test_declared_host_under_every_kernel_is_observed_as_declared(name: str, profile: str, tmp_path: Path) -> None:
    made = materialise(declare(name), tmp_path, profile=profile, pods=())

    _assert_as_declared(made)


def _assert_as_declared(made: Materialised) -> None:
    host = _host(made)
    seen = observe_topology(host, 7)
    cpu, facts = seen.value.cpu, made.cpus

    assert seen.findings == ()
    assert seen.value.observed_at_ns == 7
    assert cpu.possible == CpuSet(facts.possible)
    assert cpu.present == CpuSet(facts.present)
    assert cpu.online == CpuSet(facts.online)
    assert cpu.offline == CpuSet(facts.offline)
    assert cpu.isolated == CpuSet(facts.isolated)
    assert cpu.nohz_full == CpuSet(facts.nohz_full)
    assert cpu.smt_active in (facts.smt_active, None)
    assert [_cpu(c) for c in cpu.cpus] == [_expected_cpu(fact) for fact in facts.cpus]
    assert {_cache(c) for c in cpu.caches} == {_expected_cache(fact) for fact in facts.caches if fact.level in (2, 3)}
    assert [_node(n) for n in seen.value.nodes] == [_expected_node(fact) for fact in made.nodes]
    expected_devices = sorted((d for d in made.devices if d.accelerator), key=lambda d: d.bdf)
    assert [_device(d) for d in seen.value.devices] == [_expected_device(fact) for fact in expected_devices]

    memory = observe_node_memory(host, seen.value.nodes)
    assert memory.findings == ()
    assert list(memory.value) == [_expected_memory(fact) for fact in made.nodes]

    nics = observe_nics(host)
    assert nics.findings == ()
    assert [_nic(nic) for nic in nics.value] == sorted(_expected_nic(fact) for fact in made.nics if fact.bdf)

    system = observe_system_memory(host).value
    assert system is not None
    assert system.total_bytes == made.memory.total_kib << 10
    assert observe_cpu_time(host, 100).value is not None


def _cpu(cpu: Cpu) -> tuple[object, ...]:
    ids = (cpu.package_id, cpu.die_id, cpu.cluster_id, cpu.core_id)
    return (cpu.cpu, cpu.online, cpu.numa_node, *ids, tuple(cpu.smt_siblings), cpu.max_freq_khz)


def _expected_cpu(fact: CpuFact) -> tuple[object, ...]:
    ids = (fact.package_id, fact.die_id, fact.cluster_id, fact.core_id)
    return (fact.cpu, fact.online, fact.node, *ids, fact.siblings, fact.max_khz)


def _cache(cache: CacheDomain) -> tuple[object, ...]:
    return (cache.level, cache.type.value, cache.cache_id, tuple(cache.cpus), cache.size_bytes)


def _expected_cache(fact: CacheFact) -> tuple[object, ...]:
    return (fact.level, fact.type, fact.id, fact.cpus, fact.size_kib << 10)


def _node(node: NumaNode) -> tuple[object, ...]:
    return (node.node, tuple(node.cpus), node.distances, node.memory_kind.value)


def _expected_node(fact: NodeFact) -> tuple[object, ...]:
    return (fact.node, fact.cpus, fact.distances, fact.kind)


def _expected_memory(fact: NodeFact) -> NodeMemory:
    return NodeMemory(
        node=fact.node,
        total_bytes=fact.total_kib << 10,
        free_bytes=fact.free_kib << 10,
        file_bytes=fact.file_kib << 10,
        anon_bytes=fact.anon_kib << 10,
        hugepages=tuple(
            Hugepages(size_bytes=page.size_kib << 10, total=page.total, free=page.free, surplus=page.surplus)
            for page in sorted(fact.hugepages, key=lambda page: page.size_kib)
        ),
    )


def _device(device: PciDevice) -> tuple[object, ...]:
    ids = (device.vendor_id, device.device_id, device.class_id)
    link = (device.link_speed_gts, device.link_width, device.max_link_speed_gts, device.max_link_width)
    return (device.bdf, *ids, device.numa_node, device.driver, device.path, *link)


def _expected_device(fact: DeviceFact) -> tuple[object, ...]:
    link = (fact.speed_gts, fact.width, fact.max_speed_gts, fact.max_width)
    return (fact.bdf, fact.vendor, fact.device, fact.class_id, fact.node, fact.driver, fact.path, *link)


def _nic(nic: Nic) -> tuple[object, ...]:
    counts = (nic.rx_bytes, nic.tx_bytes, nic.rx_errors, nic.tx_errors, nic.rx_dropped, nic.tx_dropped)
    return (nic.name, nic.bdf, nic.numa_node, nic.driver, nic.operstate, nic.carrier, nic.speed_mbps, nic.mtu, *counts)


def _expected_nic(fact: NicFact) -> tuple[object, ...]:
    names = ("rx_bytes", "tx_bytes", "rx_errors", "tx_errors", "rx_dropped", "tx_dropped")
    counts = tuple(fact.counters[name] for name in names)
    link = (fact.operstate, fact.carrier, fact.speed_mbps, fact.mtu)
    return (fact.name, fact.bdf, fact.node, fact.driver, *link, *counts)


def test_declared_host_of_1024_cpus_is_observed_in_time(tmp_path: Path) -> None:
    made = materialise(declare("cpus-1024"), tmp_path, pods=())
    started = time.process_time()

    seen = observe_topology(_host(made), 0)

    assert time.process_time() - started < MAX_CPU_S_1024_CPUS
    assert len(seen.value.cpu.online) == 1024
