"""What changes each tick: memory per node, memory of the host, CPU time."""

from __future__ import annotations

import os
from typing import Final

import msgspec

from fuyaod.hostfs import HostRoot, KeptFile
from fuyaod.model.topology import CpuTime, Hugepages, NodeMemory, NumaNode, SystemMemory
from fuyaod.numa.observe.nodes import NODE_ROOT
from fuyaod.numa.observe.reading import Observed, Reading, meminfo_kib

ABOUT_NODE: Final = "memory.node"
ABOUT_SYSTEM: Final = "memory.system"
ABOUT_CPU_TIME: Final = "cpu.time"
HUGEPAGES_PREFIX: Final = "hugepages-"
"""Folders are called `hugepages-2048kB`. Source: Linux Documentation/admin-guide/mm/hugetlbpage.rst."""


class _HugepageFiles(msgspec.Struct, frozen=True, kw_only=True):
    size_bytes: int
    total: KeptFile
    free: KeptFile
    surplus: KeptFile


class _NodeFiles(msgspec.Struct, frozen=True, kw_only=True):
    node: int
    meminfo: KeptFile
    is_host_wide: bool
    hugepages_folder: str
    hugepages: tuple[_HugepageFiles, ...] | None
    """None until the folder could be listed."""


def observe_node_memory(host: HostRoot, nodes: tuple[NumaNode, ...]) -> Observed[tuple[NodeMemory, ...]]:
    """Memory of the nodes, read once."""
    reader = NodeMemoryReader(host, nodes)
    try:
        return reader.read()
    finally:
        reader.close()


class NodeMemoryReader:
    """Memory and hugepages of each node through kept descriptors. Make a new one when the nodes have changed.

    On a kernel without NUMA the one node is the host, read from `/proc/meminfo`.

    Args:
        host: the root to read below.
        nodes: the nodes of the topology.
    """

    def __init__(self, host: HostRoot, nodes: tuple[NumaNode, ...]) -> None:
        self._host = host
        has_nodes = host.exists(NODE_ROOT)  # where it may not be looked at, the topology is of one node too
        self._nodes = [_node_files(host, node.node, has_nodes) for node in nodes]

    def read(self) -> Observed[tuple[NodeMemory, ...]]:
        """Memory of every node now, a node that has vanished or tells nonsense left out."""
        reading = Reading(self._host)
        self._nodes = [_with_hugepages(reading, node) if node.hugepages is None else node for node in self._nodes]
        found = (_read_node(reading, node) for node in self._nodes)
        value = tuple(memory for memory in found if memory is not None)
        return Observed(value=value, findings=reading.findings())

    def close(self) -> None:
        """Gives all descriptors back; the next `read` opens them again."""
        for node in self._nodes:
            node.meminfo.close()
            for size in node.hugepages or ():
                for file in (size.total, size.free, size.surplus):
                    file.close()


def _node_files(host: HostRoot, node: int, has_nodes: bool) -> _NodeFiles:
    base = f"{NODE_ROOT}node{node}/" if has_nodes else "sys/kernel/mm/"
    return _NodeFiles(
        node=node,
        meminfo=host.keep(base + "meminfo" if has_nodes else "proc/meminfo"),
        is_host_wide=not has_nodes,
        hugepages_folder=base + "hugepages",
        hugepages=None,
    )


def _with_hugepages(reading: Reading, node: _NodeFiles) -> _NodeFiles:
    """The node with its hugepage sizes, or as it is: what cannot be listed now is looked for again at the next read."""
    names = reading.names(ABOUT_NODE, node.hugepages_folder)
    if names is None:
        return node
    host, hugepages = reading.host, []
    for name in names:
        digits = name.removeprefix(HUGEPAGES_PREFIX).removesuffix("kB")
        if digits.isascii() and digits.isdigit() and len(digits) <= 12:
            folder = f"{node.hugepages_folder}/{name}/"
            hugepages.append(
                _HugepageFiles(
                    size_bytes=int(digits) << 10,
                    total=host.keep(folder + "nr_hugepages"),
                    free=host.keep(folder + "free_hugepages"),
                    surplus=host.keep(folder + "surplus_hugepages"),
                )
            )
    return msgspec.structs.replace(node, hugepages=tuple(sorted(hugepages, key=lambda files: files.size_bytes)))


def _read_node(reading: Reading, files: _NodeFiles) -> NodeMemory | None:
    raw = reading.kept(ABOUT_NODE, files.meminfo)
    if raw is None:
        return None
    # The host's file splits what a node's file calls FilePages. Source: Linux fs/proc/meminfo.c, drivers/base/node.c.
    of_files = (b"Cached:", b"Buffers:", b"SwapCached:") if files.is_host_wide else (b"FilePages:",)
    total, free, anon = (meminfo_kib(raw, key) for key in (b"MemTotal:", b"MemFree:", b"AnonPages:"))
    parts = [meminfo_kib(raw, key) for key in of_files]
    if total is None or free is None or anon is None or None in parts:
        reading.problem(ABOUT_NODE, f"{files.meminfo.relative}: {raw[:40]!r} lacks MemTotal, MemFree or pages of files")
        return None
    return NodeMemory(
        node=files.node,
        total_bytes=total << 10,
        free_bytes=free << 10,
        file_bytes=sum(part or 0 for part in parts) << 10,
        anon_bytes=anon << 10,
        hugepages=tuple(h for size in files.hugepages or () if (h := _read_hugepages(reading, size)) is not None),
    )


def _read_hugepages(reading: Reading, files: _HugepageFiles) -> Hugepages | None:
    total = reading.kept_count(ABOUT_NODE, files.total)
    if total is None:
        return None
    if total == 0:
        # Surplus pages count into the total, so there is nothing else to read.
        return Hugepages(size_bytes=files.size_bytes, total=0, free=0, surplus=0)
    free, surplus = reading.kept_count(ABOUT_NODE, files.free), reading.kept_count(ABOUT_NODE, files.surplus)
    if free is None or surplus is None:
        return None
    return Hugepages(size_bytes=files.size_bytes, total=total, free=free, surplus=surplus)


def observe_system_memory(host: HostRoot) -> Observed[SystemMemory | None]:
    """`/proc/meminfo` now; None when it cannot be read or lacks a line."""
    reading = Reading(host)
    raw = reading.raw(ABOUT_SYSTEM, "proc/meminfo")
    if raw is None:
        return Observed(value=None, findings=reading.findings())
    keys = (b"MemTotal:", b"MemFree:", b"MemAvailable:", b"Cached:", b"SwapTotal:", b"SwapFree:")
    counts = [count << 10 for key in keys if (count := meminfo_kib(raw, key)) is not None]
    if len(counts) != len(keys):
        reading.problem(ABOUT_SYSTEM, f"{host.absolute('proc/meminfo')}: {raw[:40]!r} lacks one of its lines")
        return Observed(value=None, findings=reading.findings())
    total, free, available, cached, swap_total, swap_free = counts
    memory = SystemMemory(
        total_bytes=total,
        free_bytes=free,
        available_bytes=available,
        cached_bytes=cached,
        swap_total_bytes=swap_total,
        swap_free_bytes=swap_free,
    )
    return Observed(value=memory)


def observe_cpu_time(host: HostRoot, ticks_per_s: int | None = None) -> Observed[CpuTime | None]:
    """First line of `/proc/stat` now; None when it cannot be read.

    Args:
        host: the root to read below.
        ticks_per_s: unit of the file; by default that of this machine, 100 on every kernel that Linux builds for
            x86 and arm64. A parameter, so that a declared host does not depend on the machine that reads it.
    """
    reading = Reading(host)
    raw = reading.raw(ABOUT_CPU_TIME, "proc/stat")
    if raw is None:
        return Observed(value=None, findings=reading.findings())
    words = raw[: raw.find(b"\n")].split()
    if len(words) < 9 or words[0] != b"cpu" or not all(w.isdigit() and len(w) <= 18 for w in words[1:9]):
        reading.problem(ABOUT_CPU_TIME, f"{host.absolute('proc/stat')}: {raw[:40]!r} is not a line of CPU time")
        return Observed(value=None, findings=reading.findings())
    tick_hz = os.sysconf("SC_CLK_TCK") if ticks_per_s is None else ticks_per_s
    user, nice, system, idle, iowait, irq, softirq, steal = (int(w) * 1_000_000 // tick_hz for w in words[1:9])
    return Observed(
        value=CpuTime(
            user_us=user,
            nice_us=nice,
            system_us=system,
            idle_us=idle,
            iowait_us=iowait,
            irq_us=irq,
            softirq_us=softirq,
            steal_us=steal,
        )
    )
