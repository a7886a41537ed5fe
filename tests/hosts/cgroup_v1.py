"""The files of cgroup v1 hierarchies, as far as a degraded mode or a survey looks at them.

Source: Linux Documentation/admin-guide/cgroup-v1/. openEuler's additions: see `profiles.py`.
"""

from __future__ import annotations

import msgspec

from tests.hosts.cgroup_v2 import Render, Scene
from tests.hosts.profiles import Profile, Version
from tests.hosts.text import cpulist, table

# Hierarchies below /sys/fs/cgroup, with the controllers of each; `systemd` has none.
HIERARCHIES = {
    "cpu,cpuacct": ("cpu", "cpuacct"),
    "cpuset": ("cpuset",),
    "memory": ("memory",),
    "pids": ("pids",),
    "blkio": ("blkio",),
    "freezer": ("freezer",),
    "systemd": (),
}


class V1File(msgspec.Struct, frozen=True, kw_only=True):
    """One file of one hierarchy; `counts` as in `CgroupFile`."""

    hierarchy: str
    name: str
    since: Version = (4, 15)
    feature: str | None = None
    counts: bool = False
    render: Render


def _memory_stat(s: Scene) -> str:
    n = s.numbers
    rows = [("cache", n.file), ("rss", n.anon), ("shmem", n.shmem), ("mapped_file", n.file // 4), ("swap", n.swap)]
    rows += [("pgfault", n.pgfault), ("pgmajfault", n.pgmajfault), ("inactive_file", n.inactive_file)]
    rows += [("active_file", n.file - n.inactive_file - n.shmem)]
    return table([*rows, *((f"total_{name}", value) for name, value in rows)])


def _cpu_stat(s: Scene) -> str:
    n = s.numbers
    return table((("nr_periods", n.periods), ("nr_throttled", n.throttled), ("throttled_time", n.throttled_us * 1000)))


def _cpus(s: Scene) -> str:
    return cpulist(s.online if s.group.cpus is None else s.group.cpus) + "\n"


_F = V1File
FILES: tuple[V1File, ...] = (
    *(_F(hierarchy=h, name="cgroup.procs", render=lambda s: table_of(s.group.pids)) for h in HIERARCHIES),
    *(_F(hierarchy=h, name="tasks", render=lambda s: table_of(s.group.pids)) for h in HIERARCHIES),
    _F(hierarchy="cpu,cpuacct", name="cpu.shares", render=lambda s: f"{2 + s.salt % 2048}\n"),
    _F(hierarchy="cpu,cpuacct", name="cpu.cfs_quota_us", render=lambda s: "-1\n"),
    _F(hierarchy="cpu,cpuacct", name="cpu.cfs_period_us", render=lambda s: "100000\n"),
    _F(hierarchy="cpu,cpuacct", name="cpu.stat", counts=True, render=_cpu_stat),
    _F(
        hierarchy="cpu,cpuacct",
        name="cpuacct.usage",
        counts=True,
        render=lambda s: f"{s.numbers.usage_us * 1000}\n",
    ),
    _F(
        hierarchy="cpu,cpuacct",
        name="cpuacct.stat",
        counts=True,
        render=lambda s: f"user {s.numbers.user_us // 10_000}\nsystem {s.numbers.system_us // 10_000}\n",
    ),
    _F(hierarchy="cpu,cpuacct", name="cpu.qos_level", since=(5, 10), feature="qos_v1", render=lambda s: "0\n"),
    _F(hierarchy="cpuset", name="cpuset.cpus", render=_cpus),
    _F(hierarchy="cpuset", name="cpuset.mems", render=lambda s: cpulist(s.memory_nodes) + "\n"),
    _F(hierarchy="cpuset", name="cpuset.effective_cpus", render=_cpus),
    _F(hierarchy="memory", name="memory.usage_in_bytes", counts=True, render=lambda s: f"{s.numbers.current}\n"),
    _F(hierarchy="memory", name="memory.limit_in_bytes", render=lambda s: "9223372036854771712\n"),
    _F(hierarchy="memory", name="memory.failcnt", counts=True, render=lambda s: f"{s.numbers.max}\n"),
    _F(hierarchy="memory", name="memory.stat", counts=True, render=_memory_stat),
    _F(hierarchy="memory", name="memory.qos_level", since=(5, 10), feature="qos_v1", render=lambda s: "0\n"),
    _F(hierarchy="pids", name="pids.current", counts=True, render=lambda s: f"{s.numbers.pids}\n"),
    _F(hierarchy="pids", name="pids.max", render=lambda s: "max\n"),
    _F(hierarchy="freezer", name="freezer.state", render=lambda s: "THAWED\n"),
    _F(
        hierarchy="blkio",
        name="blkio.throttle.io_service_bytes",
        counts=True,
        render=lambda s: (
            f"8:0 Read {s.numbers.read_bytes}\n8:0 Write {s.numbers.written_bytes}\n"
            f"Total {s.numbers.read_bytes + s.numbers.written_bytes}\n"
        ),
    ),
)


def table_of(pids: tuple[int, ...]) -> str:
    """One number per line."""
    return "".join(f"{pid}\n" for pid in pids)


def files_of(profile: Profile) -> tuple[V1File, ...]:
    """The files that this kernel has in every v1 group."""
    return tuple(file for file in FILES if profile.has(file.since, file.feature))
