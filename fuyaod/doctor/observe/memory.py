"""Memory per NUMA node, hugepages, and the knobs that move pages."""

from __future__ import annotations

import re
from typing import Final

from fuyaod.doctor.observe.reader import Reader
from fuyaod.hostfs.parse import parse_colon_keyed
from fuyaod.model.cpuset import CpuSet
from fuyaod.model.facts import MemoryFacts, MemoryNode
from fuyaod.model.topology import Hugepages

NODES: Final = "sys/devices/system/node"


def observe_memory(reader: Reader) -> MemoryFacts:
    """Memory of all online nodes and the kernel's settings for it."""
    online = reader.cpulist(f"{NODES}/online") or CpuSet()
    modes = re.search(r"\[(\w+)\]", reader.text("sys/kernel/mm/transparent_hugepage/enabled") or "")
    meminfo = parse_colon_keyed((reader.text("proc/meminfo") or "").encode(), "/proc/meminfo")
    return MemoryFacts(
        nodes=tuple(memory_node(reader, node) for node in online),
        transparent_hugepages=modes[1] if modes else None,
        numa_balancing=reader.number("proc/sys/kernel/numa_balancing"),
        swap_total_bytes=kib_bytes(meminfo.get("SwapTotal")),
        overcommit=reader.number("proc/sys/vm/overcommit_memory"),
    )


def memory_node(reader: Reader, node: int) -> MemoryNode:
    """One node. Its meminfo has lines such as `Node 0 MemTotal:  196608 kB`."""
    base = f"{NODES}/node{node}"
    found = re.search(r"MemTotal:\s+(\d+ kB)", reader.text(f"{base}/meminfo") or "")
    sizes = (hugepages(reader, base, name) for name in reader.names(f"{base}/hugepages"))
    return MemoryNode(
        node=node,
        cpus=reader.cpulist(f"{base}/cpulist") or CpuSet(),
        total_bytes=kib_bytes(found[1]) if found else None,
        hugepages=tuple(size for size in sizes if size is not None),
    )


def hugepages(reader: Reader, base: str, name: str) -> Hugepages | None:
    """One folder such as `hugepages-2048kB`; None for another name or a folder without numbers."""
    size = re.fullmatch(r"hugepages-(\d{1,9})kB", name)
    total = reader.number(f"{base}/hugepages/{name}/nr_hugepages")
    if not size or total is None:
        return None
    free = reader.number(f"{base}/hugepages/{name}/free_hugepages")
    surplus = reader.number(f"{base}/hugepages/{name}/surplus_hugepages")
    return Hugepages(size_bytes=int(size[1]) << 10, total=total, free=free or 0, surplus=surplus or 0)


def kib_bytes(text: str | None) -> int | None:
    """`"16384 kB"` in bytes, None for anything else."""
    found = re.fullmatch(r"(\d{1,15}) kB", text or "")
    return int(found[1]) << 10 if found else None
