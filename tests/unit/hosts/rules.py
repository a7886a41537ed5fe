"""Rules that every kernel keeps, checked on a tree by reading its files alone.

Each function returns the broken rules as sentences, so that a test shows all of them at once.
"""

from __future__ import annotations

import functools
import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

_CPU = "sys/devices/system/cpu"
_NODE = "sys/devices/system/node"
# Files whose last byte the kernel (or kubelet) does not make a newline.
_NO_NEWLINE = re.compile(r"/proc/\d+/cmdline$|/var/lib/kubelet/\w+_state$")


def read(path: str | os.PathLike[str]) -> str:
    """A file as text."""
    with open(path) as file:
        return file.read()


@functools.cache
def numbers(text: str) -> frozenset[int]:
    """A list file as a set, refusing anything but the kernel's own spelling: ascending, runs joined."""
    found: list[int] = []
    for item in text.rstrip("\n").split(",") if text.strip() else []:
        first, dash, last = item.partition("-")
        if dash and int(last) <= int(first):
            raise ValueError(f"backward run in {text!r}")
        if found and int(first) <= found[-1] + 1:
            raise ValueError(f"unjoined or unsorted run in {text!r}")
        found.extend(range(int(first), int(last or first) + 1))
    return frozenset(found)


@functools.cache
def mask(text: str) -> frozenset[int]:
    """A map file as a set."""
    value = int(text.strip().replace(",", ""), 16)
    return frozenset(bit for bit in range(value.bit_length()) if value >> bit & 1)


def cpu_rules(root: Path) -> Iterator[str]:
    """Summary lists, and sibling and cache sets of every CPU."""
    base = root / _CPU
    possible, present, online, offline = (
        numbers(read(base / name)) for name in ("possible", "present", "online", "offline")
    )
    if online | offline != possible or online & offline:
        yield f"online {sorted(online)} and offline {sorted(offline)} do not split possible"
    if not online <= present <= possible:
        yield "online, present, possible do not nest"
    folders = {int(path.name[3:]) for path in base.glob("cpu[0-9]*")}
    if folders != present:
        yield f"folders {sorted(folders)} are not the present CPUs"
    for cpu in sorted(present - online):
        if (base / f"cpu{cpu}/topology").exists() or read(base / f"cpu{cpu}/online") != "0\n":
            yield f"CPU {cpu} is offline and looks online"
    groups: dict[str, dict[int, frozenset[int]]] = {}
    for cpu in sorted(online):
        for name, path, suffix in _set_files(f"{base}/cpu{cpu}"):
            cpus = groups.setdefault(name, {})[cpu] = numbers(read(path))
            twin = path.removesuffix("_list") + suffix
            if os.path.exists(twin) and mask(read(twin)) != cpus:
                yield f"{twin} and {path} differ"
    for name, sets in groups.items():
        yield from _partition(name, sets, online)
    for small, large in (
        ("thread_siblings_list", "core_siblings_list"),
        ("index2", "index3"),
        ("core_cpus_list", "index2"),
    ):
        for cpu, cpus in groups.get(small, {}).items():
            if large in groups and not cpus <= groups[large].get(cpu, cpus):
                yield f"CPU {cpu}: {small} is not within {large}"


def _set_files(folder: str) -> Iterator[tuple[str, str, str]]:
    for name in os.listdir(f"{folder}/topology"):
        if name.endswith("_list"):
            yield name, f"{folder}/topology/{name}", ""
    if os.path.isdir(f"{folder}/cache"):
        for name in os.listdir(f"{folder}/cache"):
            yield name, f"{folder}/cache/{name}/shared_cpu_list", "_map"


def _partition(name: str, sets: dict[int, frozenset[int]], online: frozenset[int]) -> Iterator[str]:
    distinct: dict[frozenset[int], list[int]] = {}
    for cpu, cpus in sets.items():
        distinct.setdefault(cpus, []).append(cpu)
        if cpu not in cpus:
            yield f"CPU {cpu} is not in its own {name}"
        if not cpus <= online:
            yield f"CPU {cpu}: {name} names CPUs that are offline"
    for cpus, owners in distinct.items():
        if cpus != frozenset(owners):
            yield f"{name} of CPU {owners[0]} is not shared by all in it"


def cache_rules(root: Path) -> Iterator[str]:
    """Same level, type and id mean the same set of CPUs, and the other way round."""
    by_id: dict[tuple[str, str, str], str] = {}
    base = f"{root}/{_CPU}"
    caches = [f"{base}/cpu{cpu}/cache" for cpu in numbers(read(f"{base}/online"))]
    for folder in (f"{cache}/{index}" for cache in caches if os.path.isdir(cache) for index in os.listdir(cache)):
        level, kind, shared, size = (
            read(f"{folder}/{name}").strip() for name in ("level", "type", "shared_cpu_list", "size")
        )
        if not re.fullmatch(r"\d+K", size):
            yield f"{folder}/size is {size!r}"
        if os.path.exists(f"{folder}/id"):
            key = (level, kind, read(f"{folder}/id").strip())
            if by_id.setdefault(key, shared) != shared:
                yield f"cache {key} has two sets of CPUs"
    if len(set(by_id)) != len({(key[0], key[1], shared) for key, shared in by_id.items()}):
        yield "two cache ids have one set of CPUs"


def node_rules(root: Path) -> Iterator[str]:
    """Nodes split the online CPUs; distances are symmetric; memory and hugepages add up."""
    base = root / _NODE
    online = numbers(read(root / _CPU / "online"))
    nodes = sorted(numbers(read(base / "online")))
    cpus = {node: numbers(read(base / f"node{node}/cpulist")) for node in nodes}
    if sorted(cpu for members in cpus.values() for cpu in members) != sorted(online):
        yield "node CPU lists do not split the online CPUs"
    rows = {node: [int(cell) for cell in read(base / f"node{node}/distance").split()] for node in nodes}
    for i, node in enumerate(nodes):
        if len(rows[node]) != len(nodes) or rows[node][i] != 10 or min(rows[node]) != 10:
            yield f"distance row of node {node} is {rows[node]}"
        for j, other in enumerate(nodes):
            if rows[node][j] != rows[other][i]:
                yield f"distance {node}-{other} is not symmetric"
        if mask(read(base / f"node{node}/cpumap")) != cpus[node]:
            yield f"cpumap of node {node} differs from its cpulist"
        for link in base.glob(f"node{node}/cpu[0-9]*"):
            if link.readlink() != Path(f"../../cpu/{link.name}") or not (link / f"node{node}").is_dir():
                yield f"{link} and the way back do not agree"
    total = {node: _kib(read(base / f"node{node}/meminfo"), "MemTotal") for node in nodes}
    if numbers(read(base / "has_cpu")) != {node for node in nodes if cpus[node]}:
        yield "has_cpu is wrong"
    if numbers(read(base / "has_memory")) != {node for node in nodes if total[node]}:
        yield "has_memory is wrong"
    if _kib(read(root / "proc/meminfo"), "MemTotal") != sum(total.values()):
        yield "MemTotal is not the sum of the nodes"
    for pool in (root / "sys/kernel/mm/hugepages").iterdir():
        for name in ("nr_hugepages", "free_hugepages", "surplus_hugepages"):
            parts = [int(read(base / f"node{n}/hugepages/{pool.name}/{name}")) for n in nodes if total[n]]
            if int(read(pool / name)) != sum(parts):
                yield f"{pool.name}/{name} is not the sum of the nodes"


def _kib(text: str, name: str) -> int:
    match = re.search(rf"^(?:Node \d+ )?{name}: +(\d+) kB$", text, re.MULTILINE)
    if match is None:
        raise ValueError(f"no {name}")
    return int(match[1])


def link_rules(root: Path) -> Iterator[str]:
    """Every link is relative, stays inside, and leads somewhere."""
    inside = os.path.realpath(root)
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                continue
            target = os.readlink(path)
            if target.startswith("/") or not os.path.realpath(path).startswith(inside) or not os.path.exists(path):
                yield f"{path} -> {target}"


def text_rules(root: Path, empty: frozenset[str]) -> Iterator[str]:
    """Files end with a newline, unless they are empty. Those of `empty` (paths from the root) are."""
    for folder, _, files in os.walk(root):
        for name in files:
            path = os.path.join(folder, name)
            if not stat.S_ISREG(os.lstat(path).st_mode):
                continue
            with open(path, "rb") as file:
                data = file.read()
            relative = path.removeprefix(f"{root}/")
            if relative in empty and data:
                yield f"{path} must be empty"
            if data and not data.endswith(b"\n") and not _NO_NEWLINE.search(path):
                yield f"{path} does not end with a newline"


def group_files(mount: Path) -> dict[str, str]:
    """All files of a cgroup hierarchy, by path from its mount (`/a/b/cpu.stat`)."""
    found = {}
    for folder, _, files in os.walk(mount):
        for name in files:
            found[f"{folder}/{name}".removeprefix(str(mount))] = read(f"{folder}/{name}")
    return found


def cgroup_rules(files: Mapping[str, str]) -> Iterator[str]:
    """v2 rules: no processes in groups that hand controllers down, sums, descendants, populated."""
    groups = sorted({path.rpartition("/")[0] for path in files})
    for group in groups:
        children = [other for other in groups if other and other.rpartition("/")[0] == group and other != group]
        handed = files[f"{group}/cgroup.subtree_control"].split()
        if group and files[f"{group}/cgroup.procs"] and handed:
            yield f"{group} has processes and hands down {handed}"
        if not set(handed) <= set(files[f"{group}/cgroup.controllers"].split()):
            yield f"{group} hands down what it has not"
        below = sum(1 for other in groups if other.startswith(f"{group}/"))
        if f"nr_descendants {below}\n" not in files[f"{group}/cgroup.stat"]:
            yield f"{group}: nr_descendants is not {below}"
        for child in children:
            if files[f"{child}/cgroup.controllers"].split() != handed:
                yield f"{child}: controllers are not what its parent hands down"
        if children and group:
            yield from _sum_rules(files, group, children)


def _sum_rules(files: Mapping[str, str], group: str, children: list[str]) -> Iterator[str]:
    populated = any(files[f"{child}/cgroup.events"].startswith("populated 1\n") for child in children)
    if not files[f"{group}/cgroup.events"].startswith(f"populated {int(populated)}\n"):
        yield f"{group}: populated is wrong"
    for name in ("memory.current", "pids.current"):
        parts = [int(files[f"{child}/{name}"]) for child in children if f"{child}/{name}" in files]
        if len(parts) == len(children) and int(files[f"{group}/{name}"]) != sum(parts):
            yield f"{group}/{name} is not the sum of its children"
