"""Writes /sys/devices/system/node, /sys/kernel/mm and /sys/devices/virtual/memory_tiering.

Source: Linux drivers/base/node.c, Documentation/admin-guide/mm/{numaperf,hugetlbpage}.rst, and an x86-64 machine.
"""

from __future__ import annotations

from tests.hosts.expand import CpuFacts
from tests.hosts.facts import NodeFact
from tests.hosts.profiles import Profile
from tests.hosts.shape import Host, Node
from tests.hosts.text import cpulist, cpumask, table
from tests.hosts.writer import Tree

_BASE = "sys/devices/system/node"
# Tier numbers as memory tiering assigns them: DRAM is 4, faster is lower, slower is higher [i].
_TIERS = {"hbm": 2, "dram": 4, "cxl": 22}


def node_meminfo(node: NodeFact) -> str:
    """`node*/meminfo`: values right-aligned to eight digits from the 17th column after `Node N `."""
    used = node.total_kib - node.free_kib
    rows = [("MemTotal", node.total_kib), ("MemFree", node.free_kib), ("MemUsed", used), ("SwapCached", 0)]
    rows += [("Active", node.anon_kib // 2), ("Inactive", node.file_kib // 2), ("Unevictable", 0), ("Dirty", 16)]
    rows += [("Writeback", 0), ("FilePages", node.file_kib), ("Mapped", node.file_kib // 4)]
    rows += [("AnonPages", node.anon_kib), ("Shmem", node.file_kib // 16), ("Slab", node.total_kib // 64)]
    text = "".join(f"Node {node.node} {name + ':':<16}{value:>8} kB\n" for name, value in rows)
    default = node.hugepages[0] if node.hugepages else None
    counts = (default.total, default.free, default.surplus) if default else (0, 0, 0)
    for name, value in zip(("Total", "Free", "Surp"), counts, strict=True):
        text += f"Node {node.node} HugePages_{name + ':':<7}{value:>5}\n"
    return text


def write_nodes(tree: Tree, host: Host, profile: Profile, cpus: CpuFacts, nodes: tuple[NodeFact, ...]) -> None:
    """Writes all NUMA nodes."""
    ids = [node.node for node in nodes]
    with_memory = cpulist(n.node for n in nodes if n.total_kib) + "\n"
    tree.put_all(
        _BASE,
        {
            "online": cpulist(ids) + "\n",
            "possible": cpulist(ids) + "\n",
            "has_cpu": cpulist(n.node for n in nodes if n.cpus) + "\n",
            "has_memory": with_memory,
            "has_normal_memory": with_memory,
        },
    )
    bits = max(cpus.possible) + 1
    for declared, fact in zip(host.nodes, nodes, strict=True):
        folder = f"{_BASE}/node{fact.node}"
        tree.put_all(
            folder,
            {
                "cpulist": cpulist(fact.cpus) + "\n",
                "cpumap": cpumask(fact.cpus, bits) + "\n",
                "distance": " ".join(map(str, fact.distances)) + "\n",
                "meminfo": node_meminfo(fact),
                "numastat": _numastat(fact),
            },
        )
        for cpu in cpus.cpus:
            if cpu.node == fact.node:
                tree.link(f"{folder}/cpu{cpu.cpu}", f"../../cpu/cpu{cpu.cpu}")
        for page in fact.hugepages:
            tree.put_all(
                f"{folder}/hugepages/hugepages-{page.size_kib}kB",
                {
                    "nr_hugepages": f"{page.total}\n",
                    "free_hugepages": f"{page.free}\n",
                    "surplus_hugepages": f"{page.surplus}\n",
                },
            )
        if profile.has((5, 2)):
            _write_access(tree, folder, declared, nodes)
    _write_global_hugepages(tree, host, profile, nodes)
    if profile.has((6, 1)):
        _write_tiers(tree, nodes)
    if profile.has((6, 3)):
        for number, node in enumerate(node for node in nodes if node.kind == "cxl"):
            _write_dax(tree, number, node)


def _write_dax(tree: Tree, number: int, node: NodeFact) -> None:
    # Source: Linux Documentation/ABI/testing/{sysfs-bus-dax,sysfs-bus-cxl}, drivers/dax/cxl.c.
    region = f"devices/platform/ACPI0017:00/root0/decoder0.{number}/region{number}/dax_region{number}"
    tree.put_all(
        f"sys/{region}/dax{number}.0",
        {
            "target_node": f"{node.node}\n",
            "numa_node": "0\n",
            "size": f"{node.total_kib * 1024}\n",
            "align": "2097152\n",
        },
    )
    tree.link(f"sys/bus/dax/devices/dax{number}.0", f"../../../{region}/dax{number}.0")


def _numastat(node: NodeFact) -> str:
    base = 100_000 * (node.node + 1)
    names = ("numa_hit", "numa_miss", "numa_foreign", "interleave_hit", "local_node", "other_node")
    return table(zip(names, (base, node.node, node.node, 1106, base - node.node, 2 * node.node), strict=True))


def _write_access(tree: Tree, folder: str, declared: Node, nodes: tuple[NodeFact, ...]) -> None:
    # Firmware's memory attribute table (HMAT): the nodes whose CPUs reach this memory fastest, and how fast.
    if declared.bandwidth_mibps is None:
        return
    near = [node for node in nodes if node.cpus]
    best = min(near, key=lambda node: declared.distances[nodes.index(node)])
    target = f"{folder}/access0/initiators"
    tree.put_all(
        target,
        {
            "read_bandwidth": f"{declared.bandwidth_mibps}\n",
            "write_bandwidth": f"{declared.bandwidth_mibps // 2}\n",
            "read_latency": f"{declared.latency_ns}\n",
            "write_latency": f"{declared.latency_ns}\n",
        },
    )
    tree.link(f"{target}/node{best.node}", f"../../../node{best.node}")


def _write_global_hugepages(tree: Tree, host: Host, profile: Profile, nodes: tuple[NodeFact, ...]) -> None:
    for size in profile.hugepage_kib(host.arch):
        pages = [page for node in nodes for page in node.hugepages if page.size_kib == size]
        tree.put_all(
            f"sys/kernel/mm/hugepages/hugepages-{size}kB",
            {
                "nr_hugepages": f"{sum(page.total for page in pages)}\n",
                "nr_hugepages_mempolicy": f"{sum(page.total for page in pages)}\n",
                "free_hugepages": f"{sum(page.free for page in pages)}\n",
                "resv_hugepages": "0\n",
                "surplus_hugepages": f"{sum(page.surplus for page in pages)}\n",
                "nr_overcommit_hugepages": "0\n",
            },
        )
    tree.put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n")
    tree.put("sys/kernel/mm/transparent_hugepage/defrag", "always defer defer+madvise [madvise] never\n")


def _write_tiers(tree: Tree, nodes: tuple[NodeFact, ...]) -> None:
    for kind, tier in _TIERS.items():
        members = [node.node for node in nodes if node.kind == kind and node.total_kib]
        if members:
            tree.put(f"sys/devices/virtual/memory_tiering/memory_tier{tier}/nodelist", cpulist(members) + "\n")
