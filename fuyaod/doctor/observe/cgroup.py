"""cgroup hierarchies, the way down to the pods, and which files the kernel offers in a group."""

from __future__ import annotations

from collections import deque
from typing import Final

from fuyaod.doctor.observe.reader import Reader
from fuyaod.model.cgroup import CgroupMode
from fuyaod.model.facts import CgroupFacts, CgroupLevel

PROBED: Final = frozenset(
    {
        "cgroup.freeze",
        "cgroup.kill",
        "cpu.idle",
        "cpu.pressure",
        "cpu.qos_level",
        "cpuset.cpus.exclusive",
        "io.cost.qos",
        "memory.oom.group",
        "memory.reclaim",
    }
)
"""Files that kernels have or lack. Source: Linux Documentation/admin-guide/cgroup-v2.rst; openEuler's cpu.qos_level."""

SEARCH_DEPTH: Final = 4
SEARCH_LIMIT: Final = 1000
"""Groups looked at in search of the pods' group: kind and `--cgroup-root` put it one to three levels down."""

PROBE_CHILDREN: Final = 8


def observe_cgroup(reader: Reader) -> CgroupFacts:
    """The hierarchy in use. Groups are looked into only where v2 is mounted."""
    mode, mount = find_hierarchy(reader)
    v1 = v1_controllers(reader)
    if mount is None:
        return CgroupFacts(mode=mode, v1_controllers=v1, v1_qos_level=v1_qos_level(reader))
    pod_roots = find_pod_roots(reader, mount)
    levels = [look_into(reader, mount, path) for path in way_down(reader, mount, pod_roots)]
    seen = {level.path for level in levels}
    children = [path for path in child_groups(reader, mount, "/") if path not in seen][:PROBE_CHILDREN]
    return CgroupFacts(
        mode=mode,
        mount=mount,
        mount_options=mount_options(reader, mount),
        v1_controllers=v1,
        v1_qos_level=v1_qos_level(reader),
        levels=tuple(levels),
        others=tuple(look_into(reader, mount, path) for path in children),
        pod_roots=pod_roots,
    )


def find_hierarchy(reader: Reader) -> tuple[CgroupMode, str | None]:
    """Which hierarchies are mounted at the usual places, and where v2 is."""
    if reader.there("sys/fs/cgroup/cgroup.controllers"):
        return CgroupMode.UNIFIED, "sys/fs/cgroup"
    if reader.there("sys/fs/cgroup/unified/cgroup.controllers"):
        return CgroupMode.HYBRID, "sys/fs/cgroup/unified"
    if v1_controllers(reader):
        return CgroupMode.LEGACY, None
    return CgroupMode.NONE, None


def v1_controllers(reader: Reader) -> tuple[str, ...]:
    """Controllers that have a v1 hierarchy of their own."""
    if reader.there("sys/fs/cgroup/cgroup.controllers"):
        return ()
    known = ("blkio", "cpu", "cpuset", "memory", "pids")
    return tuple(name for name in known if reader.there(f"sys/fs/cgroup/{name}/cgroup.procs"))


def v1_qos_level(reader: Reader) -> bool:
    """Whether openEuler's `cpu.qos_level` is in a v1 cpu group."""
    folders = ("", "kubepods/", "kubepods.slice/", "system.slice/")
    return any(reader.there(f"sys/fs/cgroup/cpu/{folder}cpu.qos_level") for folder in folders)


def find_pod_roots(reader: Reader, mount: str) -> tuple[str, ...]:
    """Groups named `kubepods` or `[...-]kubepods.slice`, nearest to the root first; nothing below them is searched."""
    found: list[str] = []
    queue = deque([("/", 0)])
    looked = 0
    while queue and looked < SEARCH_LIMIT:
        path, depth = queue.popleft()
        looked += 1
        for child in child_groups(reader, mount, path):
            name = child.rpartition("/")[2]
            if name == "kubepods" or name == "kubepods.slice" or name.endswith("-kubepods.slice"):
                found.append(child)
            elif depth + 1 < SEARCH_DEPTH:
                queue.append((child, depth + 1))
    return tuple(found)


def child_groups(reader: Reader, mount: str, path: str) -> list[str]:
    """Paths of the groups directly below one. Kernel files have a dot after a controller's name, groups rarely do."""
    base = f"{mount}/{path.strip('/')}".rstrip("/")
    prefix = path.rstrip("/")
    return [
        f"{prefix}/{name}"
        for name in reader.names(base)
        if not name.startswith(("cgroup.", "cpu.", "cpuset.", "io.", "memory.", "pids.", "hugetlb.", "rdma.", "misc."))
        and reader.there(f"{base}/{name}/cgroup.procs")
    ]


def way_down(reader: Reader, mount: str, pod_roots: tuple[str, ...]) -> list[str]:
    """Paths from the root to each pods' group and its two QoS groups; without Kubernetes to `system.slice`."""
    ends: list[str] = []
    for root in pod_roots:
        ends.append(root)
        ends.extend(child for child in child_groups(reader, mount, root) if is_qos_group(child))
    if not ends and reader.there(f"{mount}/system.slice/cgroup.procs"):
        ends.append("/system.slice")
    ways = {"/": None}
    for end in ends:
        parts = end.strip("/").split("/")
        ways.update({"/" + "/".join(parts[: n + 1]): None for n in range(len(parts))})
    return list(ways)


def is_qos_group(path: str) -> bool:
    """Whether a group below the pods' group is kubelet's for burstable or best-effort pods."""
    return path.rpartition("/")[2].removesuffix(".slice").endswith(("burstable", "besteffort"))


def look_into(reader: Reader, mount: str, path: str) -> CgroupLevel:
    """Controllers and probed files of one group."""
    base = f"{mount}/{path.strip('/')}".rstrip("/")
    return CgroupLevel(
        path=path,
        controllers=reader.words(f"{base}/cgroup.controllers"),
        enabled=reader.words(f"{base}/cgroup.subtree_control"),
        files=tuple(name for name in reader.names(base) if name in PROBED),
    )


def mount_options(reader: Reader, mount: str) -> tuple[str, ...] | None:
    """Options of the v2 mount, those of the mount point and of the filesystem together.

    Source: proc_pid_mountinfo(5). Behind a root such as `/host` the mount table shows the agent's own paths, and its
    own `/sys/fs/cgroup` may be another, read-only mount: the full path is looked for first.
    """
    table: dict[str, tuple[str, ...]] = {}
    for line in reader.lines("proc/self/mountinfo"):
        before, dash, after = line.partition(" - ")
        fields, tail = before.split(), after.split()
        if dash and len(fields) >= 6 and len(tail) >= 2 and tail[0] == "cgroup2":
            options = fields[5].split(",") + (tail[2].split(",") if len(tail) > 2 else [])
            table[fields[4]] = tuple(dict.fromkeys(options))
    return table.get(reader.host.absolute(mount)) or table.get("/" + mount)
