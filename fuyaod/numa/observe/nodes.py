"""NUMA nodes: CPUs, distances, and what kind of memory stands behind each."""

from __future__ import annotations

import re
from typing import Final

from fuyaod.model.cpuset import EMPTY, CpuSet
from fuyaod.model.topology import MemoryKind, NumaNode
from fuyaod.numa.observe.reading import Reading, meminfo_kib, numbered

ABOUT: Final = "topology.node"
NODE_ROOT: Final = "sys/devices/system/node/"
TIER_ROOT: Final = "sys/devices/virtual/memory_tiering/"
DAX_ROOT: Final = "sys/bus/dax/devices/"
CONTAINER_ROOT: Final = "sys/bus/container/devices/"

DRAM_TIER: Final = 4
"""Tier that the kernel gives to DRAM; smaller numbers are faster memory (the kernel's own example is HBM), larger ones
slower.

Source: Linux include/linux/memory-tiers.h, MEMTIER_ADISTANCE_DRAM >> MEMTIER_CHUNK_BITS; mm/memory-tiers.c.
"""

SAME_SPEED: Final = 1.1
"""DRAM nodes differ in bandwidth by less than a tenth. Source: Linux mm/memory-tiers.c, mt_set_default_dram_perf()."""

HBM_SPEED: Final = 1.5
"""From this multiple of the DRAM nodes' bandwidth on a node without CPUs counts as HBM. Stacked memory on servers has
about four times the bandwidth of the DRAM beside it; between 1.1 and 1.5 nothing is claimed. Source: own choice."""

CXL_DAX_PATH: Final = re.compile(r"/region\d+/dax_region\d+/dax")
"""Where a DAX device of a CXL region sits. Source: Linux drivers/cxl/core/region.c, cxl_dax_region_alloc()."""


def observe_nodes(reading: Reading, online: CpuSet) -> tuple[NumaNode, ...]:
    """Online NUMA nodes by number, with and without CPUs or memory. CPUs outside `online` are left out, and no CPU is
    in two nodes.

    A kernel without NUMA has no node folder: all CPUs are then on node 0. So they are, with a problem that says it,
    where the nodes cannot be told.

    Source: Linux Documentation/ABI/stable/sysfs-devices-node.
    """
    numbers = _observe_numbers(reading)
    if not numbers:
        return (NumaNode(node=0, cpus=online, distances=(10,), memory_kind=MemoryKind.UNKNOWN),)
    cpus = _observe_node_cpus(reading, numbers, online)
    kinds = _observe_memory_kinds(reading, numbers, cpus)
    return tuple(
        NumaNode(node=n, cpus=cpus[n], distances=_observe_distances(reading, n, len(numbers)), memory_kind=kinds[n])
        for n in numbers
    )


def _observe_numbers(reading: Reading) -> CpuSet:
    """The online nodes; empty on a kernel without NUMA, and where they cannot be told."""
    is_there = reading.exists(ABOUT, NODE_ROOT)
    if is_there is False:
        return EMPTY
    found = EMPTY
    if is_there:
        names = reading.names(ABOUT, NODE_ROOT)
        # Where it may not be listed, the files in it may still be open to everyone.
        listed = reading.cpulist(ABOUT, NODE_ROOT + "online") if names is None else _online_nodes(reading, names)
        found = listed or EMPTY
    if not found:
        reading.problem(ABOUT, f"{reading.host.absolute(NODE_ROOT)} names no node: all CPUs are taken to be on node 0")
    return found


def _online_nodes(reading: Reading, names: tuple[str, ...]) -> CpuSet:
    folders = numbered(names, "node")
    online = reading.cpulist(ABOUT, NODE_ROOT + "online")
    if online is None:
        return folders
    if not online <= folders or not online:
        reading.problem(ABOUT, f"{NODE_ROOT}online: {str(online)[:40]!r} does not fit the folders of nodes {folders}")
    return online & folders or folders


def _observe_node_cpus(reading: Reading, nodes: CpuSet, online: CpuSet) -> dict[int, CpuSet]:
    found: dict[int, CpuSet] = {}
    taken = EMPTY
    for node in nodes:
        path = f"{NODE_ROOT}node{node}/cpulist"
        named = reading.cpulist(ABOUT, path) or EMPTY
        if not named <= online:
            reading.problem(ABOUT, f"{path}: CPUs {str(named - online)[:40]} are not online")
        if named & taken:
            reading.problem(ABOUT, f"{path}: CPUs {str(named & taken)[:40]} are on another node already")
        found[node] = named & online - taken
        taken |= named
    if not online <= taken:
        reading.problem(ABOUT, f"CPUs {str(online - taken)[:40]} are on no NUMA node")
    return found


def _observe_distances(reading: Reading, node: int, count: int) -> tuple[int, ...]:
    path = f"{NODE_ROOT}node{node}/distance"
    text = reading.text(ABOUT, path)
    if text is None:
        return ()
    words = text.split()
    if len(words) != count or not all(w.isascii() and w.isdigit() and len(w) <= 5 for w in words):
        reading.problem(ABOUT, f"{path}: {text[:40]!r} are not {count} distances")
        return ()
    return tuple(map(int, words))


def _observe_memory_kinds(reading: Reading, nodes: CpuSet, cpus: dict[int, CpuSet]) -> dict[int, MemoryKind]:
    """The kind of each node's memory, from the strongest evidence there is."""
    with_memory = _nodes_with_memory(reading, nodes)
    tiers = _observe_tiers(reading)
    cxl = _cxl_nodes(reading)
    hbm = _kunpeng_hbm_nodes(reading)
    bandwidths = {n: _bandwidth_mbps(reading, n) for n in nodes}
    dram_mbps = max((bandwidths[n] or 0 for n in with_memory if cpus[n]), default=0)

    def kind_of(node: int) -> MemoryKind:
        tier, mbps = tiers.get(node), bandwidths[node]
        if node not in with_memory:
            return MemoryKind.NONE
        if node in cxl:
            return MemoryKind.CXL
        if tier is not None and tier < DRAM_TIER:
            return MemoryKind.HBM
        if cpus[node]:
            # As the kernel counts: the reference for DRAM are the nodes with memory and CPUs.
            return MemoryKind.DRAM
        if node in hbm or (mbps and dram_mbps and mbps >= HBM_SPEED * dram_mbps):
            return MemoryKind.HBM
        same_speed = mbps and dram_mbps and dram_mbps / SAME_SPEED <= mbps <= dram_mbps * SAME_SPEED
        # The kernel puts memory that it knows nothing of into the DRAM tier, so that tier alone proves nothing.
        return MemoryKind.DRAM if same_speed else MemoryKind.UNKNOWN

    return {node: kind_of(node) for node in nodes}


def _nodes_with_memory(reading: Reading, nodes: CpuSet) -> CpuSet:
    for name in ("has_memory", "has_normal_memory"):
        found = reading.cpulist(ABOUT, NODE_ROOT + name)
        if found is not None:
            return found & nodes
    return CpuSet(n for n in nodes if _has_memory(reading, n))


def _has_memory(reading: Reading, node: int) -> bool:
    raw = reading.raw(ABOUT, f"{NODE_ROOT}node{node}/meminfo")
    return raw is not None and meminfo_kib(raw, b"MemTotal:") != 0


def _observe_tiers(reading: Reading) -> dict[int, int]:
    """Memory tier of each node; empty before kernel 6.1."""
    tiers = numbered(reading.names(ABOUT, TIER_ROOT) or (), "memory_tier")
    return {
        node: tier
        for tier in tiers
        for node in reading.cpulist(ABOUT, f"{TIER_ROOT}memory_tier{tier}/nodelist") or EMPTY
    }


def _cxl_nodes(reading: Reading) -> frozenset[int]:
    """Nodes that DAX devices of CXL regions became. Source: Linux Documentation/ABI/testing/sysfs-bus-dax."""
    found = set()
    for name in reading.names(ABOUT, DAX_ROOT) or ():
        target = reading.count(ABOUT, f"{DAX_ROOT}{name}/target_node")
        path = None if target is None else reading.resolve(ABOUT, DAX_ROOT + name)
        if target is not None and path is not None and CXL_DAX_PATH.search(path):
            found.add(target)
    return frozenset(found)


def _kunpeng_hbm_nodes(reading: Reading) -> CpuSet:
    """Nodes of the HBM that openEuler's driver manages on Kunpeng.

    Source: openEuler kernel, drivers/soc/hisilicon/hisi_hbmdev.c (`hbm_memory` in /sys/kernel, `pxms` of a container).
    """
    found = EMPTY
    if not reading.exists(ABOUT, "sys/kernel/hbm_memory"):
        return found
    for name in reading.names(ABOUT, CONTAINER_ROOT) or ():
        found |= reading.cpulist(ABOUT, f"{CONTAINER_ROOT}{name}/pxms") or EMPTY
    return found


def _bandwidth_mbps(reading: Reading, node: int) -> int | None:
    """Rated read bandwidth from the nearest initiator. Source: Linux Documentation/admin-guide/mm/numaperf.rst."""
    return reading.count(ABOUT, f"{NODE_ROOT}node{node}/access0/initiators/read_bandwidth")
