"""From a declaration to facts about CPUs, caches and nodes, under one kernel profile."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable

import msgspec

from tests.hosts.facts import CacheFact, CpuFact, HugeFact, NodeFact
from tests.hosts.profiles import Profile
from tests.hosts.shape import Arch, Cores, Host, Node
from tests.hosts.text import parse_list


class Thread(msgspec.Struct, frozen=True, kw_only=True):
    """One hardware thread and the groups it belongs to."""

    cpu: int
    block: Cores
    package: int
    die: int
    core: int
    keys: dict[str, Hashable]


class CpuFacts(msgspec.Struct, frozen=True, kw_only=True):
    """All about the CPUs of a host."""

    possible: tuple[int, ...]
    present: tuple[int, ...]
    online: tuple[int, ...]
    offline: tuple[int, ...]
    isolated: tuple[int, ...]
    nohz_full: tuple[int, ...]
    smt_active: bool
    cpus: tuple[CpuFact, ...]
    caches: tuple[CacheFact, ...]


def _cores(host: Host) -> list[tuple[Cores, int, int, int, dict[str, Hashable]]]:
    found = []
    core_ids: dict[int, int] = defaultdict(int)
    for number, block in enumerate(host.cpu.cores):
        for package in block.packages:
            for die in range(block.dies):
                for index in range(block.cores):
                    here = (number, package, die)
                    keys: dict[str, Hashable] = {
                        "core": (*here, index),
                        "l2": (*here, index // block.l2_cores),
                        "die": (package, die),
                        "package": package,
                    }
                    if block.cluster_cores:
                        keys["cluster"] = (*here, index // block.cluster_cores)
                    if block.l3_cores is not None:
                        keys["l3"] = (*here, index // block.l3_cores) if block.l3_cores else package
                    found.append((block, package, die, core_ids[package], keys))
                    core_ids[package] += 1
    return found


def threads_of(host: Host) -> tuple[Thread, ...]:
    """All hardware threads, in CPU order."""
    cores = _cores(host)
    if host.cpu.smt_last:
        widest = max(block.threads for block, *_ in cores)
        order = [core for turn in range(widest) for core in cores if turn < core[0].threads]
    else:
        order = [core for core in cores for _ in range(core[0].threads)]
    return tuple(
        Thread(cpu=cpu, block=block, package=package, die=die, core=core, keys=keys)
        for cpu, (block, package, die, core, keys) in enumerate(order)
    )


class _Groups:
    """Online CPUs by group, and a dense number for each group."""

    def __init__(self, threads: tuple[Thread, ...], online: frozenset[int]) -> None:
        members: dict[tuple[str, Hashable], list[int]] = defaultdict(list)
        self._ids: dict[tuple[str, Hashable], int] = {}
        counts: dict[str, int] = defaultdict(int)
        for thread in threads:
            for kind, key in thread.keys.items():
                if (kind, key) not in self._ids:
                    self._ids[kind, key] = counts[kind]
                    counts[kind] += 1
                if thread.cpu in online:
                    members[kind, key].append(thread.cpu)
        self._members = {group: tuple(cpus) for group, cpus in members.items()}

    def cpus(self, thread: Thread, kind: str) -> tuple[int, ...]:
        return self._members[kind, thread.keys[kind]]

    def number(self, thread: Thread, kind: str) -> int:
        return self._ids[kind, thread.keys[kind]]


def cpu_facts(host: Host, profile: Profile) -> CpuFacts:
    """CPUs and caches as this kernel shows them."""
    threads = threads_of(host)
    present = tuple(thread.cpu for thread in threads)
    possible = parse_list(host.cpu.possible) if host.cpu.possible else present
    offline = frozenset(parse_list(host.cpu.offline))
    online = frozenset(present) - offline
    groups = _Groups(threads, online)
    node_of = {cpu: node.id for node in host.nodes for cpu in parse_list(node.cpus)}
    files = profile.topology_files(host.arch)
    return CpuFacts(
        possible=possible,
        present=present,
        online=tuple(sorted(online)),
        offline=tuple(sorted(set(possible) - online)),
        isolated=parse_list(host.cpu.isolated),
        nohz_full=parse_list(host.cpu.nohz_full or ""),
        smt_active=any(t.cpu in online and len(groups.cpus(t, "core")) > 1 for t in threads),
        cpus=tuple(
            _cpu(host, files, thread, groups, node_of)
            if thread.cpu in online
            else CpuFact(cpu=thread.cpu, online=False, node=node_of.get(thread.cpu))
            for thread in threads
        ),
        caches=_caches(host, profile, [t for t in threads if t.cpu in online], groups),
    )


def _cpu(host: Host, files: frozenset[str], thread: Thread, groups: _Groups, node_of: dict[int, int]) -> CpuFact:
    arm = host.arch is Arch.ARM64
    cluster_id, cluster_cpus = None, None
    if "cluster" in files:
        # x86 calls the CPUs behind one L2 a cluster; arm64 takes it from firmware, and without it each core is alone.
        kind = ("cluster" if "cluster" in thread.keys else "core") if arm else "l2"
        cluster_cpus = groups.cpus(thread, kind)
        cluster_id = None if kind == "core" else 51 + 3 * groups.number(thread, kind)
    die_cpus = None
    if "die_cpus" in files:
        die_cpus = (thread.cpu,) if arm else groups.cpus(thread, "die")
    return CpuFact(
        cpu=thread.cpu,
        online=True,
        node=node_of.get(thread.cpu),
        package_id=thread.package,
        die_id=thread.die if "die_id" in files and not arm else None,
        core_id=thread.core,
        cluster_id=cluster_id,
        siblings=groups.cpus(thread, "core"),
        cluster_cpus=cluster_cpus,
        die_cpus=die_cpus,
        package_cpus=groups.cpus(thread, "package"),
        max_khz=thread.block.max_khz,
    )


def _caches(host: Host, profile: Profile, threads: list[Thread], groups: _Groups) -> tuple[CacheFact, ...]:
    if not host.cpu.caches:
        return ()
    ids = profile.cache_ids(host.arch)
    l3_ids = parse_list(host.cpu.l3_ids) if host.cpu.l3_ids else ()
    found: dict[tuple[int, str, tuple[int, ...]], CacheFact] = {}
    for thread in threads:
        block = thread.block
        rows = [(1, "Data", "core", block.l1_kib), (1, "Instruction", "core", block.l1_kib)]
        rows.append((2, "Unified", "l2", block.l2_kib))
        if "l3" in thread.keys:
            rows.append((3, "Unified", "l3", block.l3_kib))
        for level, kind, group, size in rows:
            cpus, number = groups.cpus(thread, group), groups.number(thread, group)
            if level == 3 and l3_ids:
                number = l3_ids[number]
            key = (level, kind, cpus)
            if key not in found:
                found[key] = CacheFact(level=level, type=kind, id=number if ids else None, cpus=cpus, size_kib=size)
    # Level by level, as sysfs numbers a CPU's caches; "Data" sorts before "Instruction".
    return tuple(sorted(found.values(), key=lambda cache: (cache.level, cache.type, cache.cpus)))


def node_facts(host: Host, profile: Profile, online: tuple[int, ...]) -> tuple[NodeFact, ...]:
    """NUMA nodes and their memory."""
    here = frozenset(online)
    sizes = profile.hugepage_kib(host.arch)
    return tuple(_node(node, sizes, here, _visible_kind(node, profile)) for node in host.nodes)


def _visible_kind(node: Node, profile: Profile) -> str:
    """The kind of memory as far as this kernel tells: HBM by its bandwidth (access0, 5.2), CXL by the DAX device of its
    region (6.3)."""
    hidden = (node.kind == "hbm" and not profile.has((5, 2))) or (node.kind == "cxl" and not profile.has((6, 3)))
    return "unknown" if hidden else node.kind


def _node(node: Node, sizes: tuple[int, ...], online: frozenset[int], kind: str) -> NodeFact:
    total = max(0, node.mem_mib * 1024 - 1348 * (node.id + 1)) if node.mem_mib else 0
    wanted = {int(size): counts for size, counts in node.hugepages.items()}
    # A size this kernel does not have is left out, as a boot option for it would be; a node without memory has no
    # folder at all.
    pages = tuple(
        HugeFact(size_kib=size, total=counts[0], free=counts[1], surplus=counts[2])
        for size in sizes
        if node.mem_mib
        for counts in [wanted.get(size, (0, 0, 0))]
    )
    pooled = sum(page.size_kib * page.total for page in pages)
    rest = max(0, total - pooled)
    return NodeFact(
        node=node.id,
        cpus=tuple(cpu for cpu in parse_list(node.cpus) if cpu in online),
        distances=node.distances,
        kind=kind,
        total_kib=total,
        free_kib=rest // 2 + 64 * node.id,
        file_kib=rest // 4,
        anon_kib=rest // 8,
        hugepages=pages,
    )
