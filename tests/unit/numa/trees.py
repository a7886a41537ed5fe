"""Small hand-made trees: a machine of two packages, two cores each, two threads per core, one node per package."""

from __future__ import annotations

from pathlib import Path

from fuyaod.hostfs import HostRoot, OsFiles

CPU = "sys/devices/system/cpu/"
NODE = "sys/devices/system/node/"
PCI = "sys/bus/pci/devices/"
NET = "sys/class/net/"

Tree = dict[str, str | bytes | None]
"""Path to content; None leaves the file out."""


def siblings_of(cpu: int) -> str:
    """CPU n and n + 4 are the threads of one core."""
    return f"{cpu % 4},{cpu % 4 + 4}"


def machine() -> Tree:
    """Eight CPUs: 0, 1, 4, 5 in package 0 and on node 0, the others in package 1 and on node 1; one L3 per package."""
    tree: Tree = {CPU + name: "0-7\n" for name in ("possible", "present", "online")}
    tree |= {CPU + "offline": "\n", CPU + "isolated": "\n", CPU + "smt/active": "1\n"}
    for cpu in range(8):
        package = cpu % 4 // 2
        base = f"{CPU}cpu{cpu}/"
        tree |= {
            base + "topology/physical_package_id": f"{package}\n",
            base + "topology/die_id": "0\n",
            base + "topology/cluster_id": "-1\n",
            base + "topology/core_id": f"{cpu % 2}\n",
            base + "topology/core_cpus_list": siblings_of(cpu) + "\n",
            base + "topology/thread_siblings_list": siblings_of(cpu) + "\n",
            base + "cpufreq/cpuinfo_max_freq": "2600000\n",
        }
        rows = (
            (0, "Data", 1, siblings_of(cpu), "32K", cpu % 4),
            (1, "Instruction", 1, siblings_of(cpu), "32K", cpu % 4),
            (2, "Unified", 2, siblings_of(cpu), "1024K", cpu % 4),
            (3, "Unified", 3, node_cpus(package), "32768K", package),
        )
        for index, kind, level, cpus, size, number in rows:
            cache = f"{base}cache/index{index}/"
            tree |= {cache + "type": f"{kind}\n", cache + "level": f"{level}\n", cache + "size": f"{size}\n"}
            tree |= {cache + "shared_cpu_list": f"{cpus}\n", cache + "id": f"{number}\n"}
    tree |= {NODE + name: "0-1\n" for name in ("online", "possible", "has_memory", "has_normal_memory", "has_cpu")}
    for node in range(2):
        base = f"{NODE}node{node}/"
        tree |= {base + "cpulist": node_cpus(node) + "\n", base + "distance": "10 20\n" if node == 0 else "20 10\n"}
        tree[base + "meminfo"] = node_meminfo(node, total_kib=1024 * (node + 1))
        for kib in (2048, 1048576):
            pages = f"{base}hugepages/hugepages-{kib}kB/"
            counts = (4, 1, 2) if kib == 2048 and node == 1 else (0, 0, 0)
            for name, count in zip(("nr_hugepages", "free_hugepages", "surplus_hugepages"), counts, strict=True):
                tree[pages + name] = f"{count}\n"
    tree["proc/meminfo"] = MEMINFO
    tree["proc/stat"] = "cpu  100 20 30 4000 50 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\nintr 5 6\n"
    return tree


def node_cpus(node: int) -> str:
    """CPUs of a package, which is a node."""
    return "0-1,4-5" if node == 0 else "2-3,6-7"


def node_meminfo(node: int, *, total_kib: int) -> str:
    """A node's meminfo, cut to what matters and what could be mixed up with it."""
    rows = {"MemTotal": total_kib, "MemFree": 300, "MemUsed": 1, "SwapCached": 7, "FilePages": 200, "AnonPages": 100}
    return "".join(f"Node {node} {key + ':':<15} {value:>8} kB\n" for key, value in rows.items())


MEMINFO = """MemTotal:       24684092 kB
MemFree:        24271860 kB
MemAvailable:   24317036 kB
Buffers:           46496 kB
SwapCached:            4 kB
Cached:           185476 kB
AnonPages:         24216 kB
SwapTotal:          2048 kB
SwapFree:           1024 kB
"""


def build(root: Path, tree: Tree, links: dict[str, str] | None = None, files: OsFiles | None = None) -> HostRoot:
    """Writes the tree below `root`; `links` maps a path to what it points at."""
    for path, content in tree.items():
        if content is not None:
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content if isinstance(content, bytes) else content.encode())
    for path, aim in (links or {}).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).symlink_to(aim)
    return HostRoot(root, files)
