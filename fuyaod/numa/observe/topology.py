"""The machine as it was built: CPUs, caches, NUMA nodes, accelerators."""

from __future__ import annotations

from typing import Final

import msgspec

from fuyaod.hostfs import HostRoot
from fuyaod.model.cpuset import EMPTY, CpuSet
from fuyaod.model.findings import Finding, FindingStatus
from fuyaod.model.snapshot import Topology
from fuyaod.model.topology import Cpu, CpuTopology, NumaNode
from fuyaod.numa.observe.caches import observe_caches
from fuyaod.numa.observe.nodes import observe_nodes
from fuyaod.numa.observe.pci import read_accelerators
from fuyaod.numa.observe.reading import Observed, Reading, numbered

ABOUT: Final = "topology.cpu"
CPU_ROOT: Final = "sys/devices/system/cpu/"

NO_CLUSTER_X86: Final = 0xFFFF
"""What x86 shows as `cluster_id` when it knows no L2 cluster. Source: Linux arch/x86/include/asm/apicdef.h,
BAD_APICID."""


class _CpuSets(msgspec.Struct, frozen=True, kw_only=True):
    possible: CpuSet
    present: CpuSet
    online: CpuSet


def observe_topology(host: HostRoot, at_ns: int) -> Observed[Topology]:
    """Everything below `/sys/devices/system/{cpu,node}` and `/sys/bus/pci` that changes on hotplug only.

    Never raises for what the files hold. No CPU is reported that has no folder of its own.

    Args:
        host: the root to read below.
        at_ns: CLOCK_MONOTONIC now, nanoseconds.
    """
    reading = Reading(host)
    sets = _observe_cpu_sets(reading)
    nodes = observe_nodes(reading, sets.online)
    topology = Topology(
        observed_at_ns=at_ns,
        cpu=_observe_cpu_topology(reading, sets, nodes),
        nodes=nodes,
        devices=read_accelerators(reading, CpuSet(n.node for n in nodes)),
    )
    return Observed(value=topology, findings=reading.findings() + _missing(host, sets))


def _missing(host: HostRoot, sets: _CpuSets) -> tuple[Finding, ...]:
    if sets.present:
        return ()
    return (
        Finding(
            id="topology.sysfs",
            status=FindingStatus.MISSING,
            summary=f"no CPU was found in {host.absolute(CPU_ROOT)}",
            cost="nothing can be placed",
            mend="mount sysfs there, or name the right root with --root",
        ),
    )


def _observe_cpu_sets(reading: Reading) -> _CpuSets:
    folders = numbered(reading.names(ABOUT, CPU_ROOT) or (), "cpu")
    present = _set_within(reading, "present", folders)
    if not present:
        present = folders
    online = _set_within(reading, "online", present)
    if not online:
        online = CpuSet(cpu for cpu in present if reading.exists(ABOUT, f"{CPU_ROOT}cpu{cpu}/topology"))
    possible = reading.cpulist(ABOUT, CPU_ROOT + "possible") or present
    if not present <= possible:
        reading.problem(ABOUT, f"{CPU_ROOT}possible: present CPUs {str(present - possible)[:40]} are not in it")
    return _CpuSets(possible=possible | present, present=present, online=online)


def _set_within(reading: Reading, name: str, bound: CpuSet) -> CpuSet:
    """The named set of CPUs, cut to `bound`; empty when it cannot be told, which a running machine never says."""
    found = reading.cpulist(ABOUT, CPU_ROOT + name)
    if found is None:
        return EMPTY
    if not found and bound:
        reading.problem(ABOUT, f"{CPU_ROOT}{name} is empty")
    if not found <= bound:
        reading.problem(ABOUT, f"{CPU_ROOT}{name}: CPUs {str(found - bound)[:40]} do not exist")
    return found & bound


def _observe_cpu_topology(reading: Reading, sets: _CpuSets, nodes: tuple[NumaNode, ...]) -> CpuTopology:
    siblings = _observe_siblings(reading, sets.online)
    node_of: dict[int, int | None] = {cpu: node.node for node in nodes for cpu in node.cpus}
    node_of |= {cpu: _node_of_offline(reading, cpu, nodes) for cpu in sets.present - sets.online}
    smt_active = reading.number(ABOUT, CPU_ROOT + "smt/active")
    return CpuTopology(
        possible=sets.possible,
        present=sets.present,
        online=sets.online,
        # The kernel's own definition, so there is no need to read its file: drivers/base/cpu.c, print_cpus_offline().
        offline=sets.possible - sets.online,
        isolated=_boot_option(reading, "isolated") & sets.possible,
        nohz_full=_boot_option(reading, "nohz_full") & sets.possible,
        smt_active=None if smt_active is None else smt_active == 1,
        cpus=tuple(_observe_cpu(reading, cpu, siblings.get(cpu), node_of.get(cpu)) for cpu in sets.present),
        caches=observe_caches(reading, sets.online),
    )


def _boot_option(reading: Reading, name: str) -> CpuSet:
    """CPUs of a boot option. A kernel built for nohz_full and booted without it prints `(null)`."""
    text = reading.text(ABOUT, CPU_ROOT + name)
    if not text or text == "(null)":
        return EMPTY
    return reading.cpulist(ABOUT, CPU_ROOT + name) or EMPTY


def _observe_cpu(reading: Reading, cpu: int, siblings: CpuSet | None, numa_node: int | None) -> Cpu:
    """One CPU; `siblings` is None for an offline one, which has no topology folder."""
    if siblings is None:
        return Cpu(
            cpu=cpu,
            online=False,
            package_id=None,
            die_id=None,
            cluster_id=None,
            core_id=None,
            numa_node=numa_node,
            smt_siblings=EMPTY,
            max_freq_khz=None,
        )
    base = f"{CPU_ROOT}cpu{cpu}/"
    cluster_id = reading.count(ABOUT, base + "topology/cluster_id")
    return Cpu(
        cpu=cpu,
        online=True,
        package_id=reading.count(ABOUT, base + "topology/physical_package_id"),
        die_id=reading.count(ABOUT, base + "topology/die_id"),
        cluster_id=None if cluster_id == NO_CLUSTER_X86 else cluster_id,
        core_id=reading.count(ABOUT, base + "topology/core_id"),
        numa_node=numa_node,
        smt_siblings=siblings,
        max_freq_khz=reading.count(ABOUT, base + "cpufreq/cpuinfo_max_freq") or None,
    )


def _node_of_offline(reading: Reading, cpu: int, nodes: tuple[NumaNode, ...]) -> int | None:
    """Node of an offline CPU: the nodes' lists leave it out, but its folder keeps the link `nodeN`.

    Source: Linux drivers/base/node.c, register_cpu_under_node().
    """
    linked = numbered(reading.names(ABOUT, f"{CPU_ROOT}cpu{cpu}") or (), "node")
    return next((node.node for node in nodes if node.node in linked), None)


def _observe_siblings(reading: Reading, online: CpuSet) -> dict[int, CpuSet]:
    """For each online CPU the online threads of its core, itself included; cores never overlap.

    Source: Linux Documentation/admin-guide/cputopology.rst; `core_cpus_list` is the newer name (5.3) of
    `thread_siblings_list`.
    """
    found = {cpu: _read_siblings(reading, cpu, online) for cpu in online}
    for cpu, siblings in found.items():
        if any(found[other] != siblings for other in siblings):
            reading.problem(ABOUT, f"SMT siblings of CPU {cpu} ({str(siblings)[:40]}) do not agree with theirs")
            return _merged(found)
    return found


def _read_siblings(reading: Reading, cpu: int, online: CpuSet) -> CpuSet:
    base = f"{CPU_ROOT}cpu{cpu}/topology/"
    named = reading.cpulist(ABOUT, base + "core_cpus_list")
    if named is None:
        named = reading.cpulist(ABOUT, base + "thread_siblings_list")
    if named is None:
        reading.problem(ABOUT, f"{base} does not tell the SMT siblings of CPU {cpu}, which is online")
        return CpuSet((cpu,))
    if cpu not in named or not named <= online:
        reading.problem(ABOUT, f"{base}: SMT siblings {str(named)[:40]!r} of CPU {cpu} leave it out or are not online")
    return named & online | CpuSet((cpu,))


def _merged(found: dict[int, CpuSet]) -> dict[int, CpuSet]:
    """Overlapping cores as one: rather a core too large than one that two classes share."""
    cores: list[CpuSet] = []
    for siblings in found.values():
        overlapping = [core for core in cores if core & siblings]
        cores = [core for core in cores if not core & siblings]
        for core in overlapping:
            siblings |= core
        cores.append(siblings)
    return {cpu: core for core in cores for cpu in core}
