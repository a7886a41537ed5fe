"""The files of a cgroup v2 group: which kernel has them, and what they say.

Source of all names and formats: Linux Documentation/admin-guide/cgroup-v2.rst; of the versions: the release that first
carried the file in kernel/cgroup/cgroup.c, kernel/sched/core.c, mm/memcontrol.c, block/, kernel/cgroup/{cpuset,pids}.c.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from tests.hosts.cgroup_values import Numbers, pressure_text, salt_of
from tests.hosts.facts import GroupFact
from tests.hosts.profiles import Profile, Version
from tests.hosts.text import cpulist, table


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """All that a file of one group depends on."""

    group: GroupFact
    numbers: Numbers
    profile: Profile
    step: int
    limit_step: int
    descendants: int
    shared_cpus: str
    online: tuple[int, ...]
    memory_nodes: tuple[int, ...]

    @property
    def salt(self) -> int:
        """The group's own number."""
        return salt_of(self.group.path)


Render = Callable[[Scene], str]


class CgroupFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file. `root`: whether the root group has it (`no`, `also`, `only`). `counts`: changes by itself as time
    passes; `limit`: changes only when somebody sets limits."""

    name: str
    controller: str = ""
    since: Version = (4, 15)
    feature: str | None = None
    root: str = "no"
    counts: bool = False
    limit: bool = False
    render: Render


def _constant(text: str) -> Render:
    return lambda scene: text


def _cpu_stat(s: Scene) -> str:
    n = s.numbers
    text = table((("usage_usec", n.usage_us), ("user_usec", n.user_us), ("system_usec", n.system_us)))
    if "cpu" not in s.group.controllers or s.group.path == "/":
        return text
    rows = [("nr_periods", n.periods), ("nr_throttled", n.throttled), ("throttled_usec", n.throttled_us)]
    if s.profile.has((5, 16)):
        rows += [("nr_bursts", n.throttled // 2), ("burst_usec", n.throttled * 11)]
    return text + table(rows)


def _memory_stat(s: Scene) -> str:
    n = s.numbers
    slab = n.kernel // 2 // 4096 * 4096
    rows = [("anon", n.anon), ("file", n.file), ("kernel_stack", n.kernel - slab)]
    if s.profile.has((5, 18)):
        rows.insert(2, ("kernel", n.kernel))
    rows += [("sock", 0), ("shmem", n.shmem), ("file_mapped", n.file // 4), ("file_dirty", 4096), ("file_writeback", 0)]
    rows += [("inactive_anon", n.anon - n.anon // 3), ("active_anon", n.anon // 3)]
    rows += [("inactive_file", n.inactive_file), ("active_file", n.file - n.inactive_file - n.shmem)]
    rows += [("unevictable", 0), ("slab_reclaimable", slab // 2), ("slab_unreclaimable", slab - slab // 2)]
    rows += [("pgfault", n.pgfault), ("pgmajfault", n.pgmajfault), ("workingset_refault", 3 * n.pgmajfault)]
    return table(rows)


def _memory_events(s: Scene) -> str:
    n = s.numbers
    rows = [("low", n.low), ("high", n.high), ("max", n.max), ("oom", n.oom), ("oom_kill", n.oom_kill)]
    if s.profile.has((5, 17)):
        rows.append(("oom_group_kill", 0))
    return table(rows)


def _io_stat(s: Scene) -> str:
    n = s.numbers
    lines = []
    for device, part in (("8:0", 4), ("259:0", 1)):
        r, w, ri, wi = (v // 4 if part == 1 else v - v // 4 for v in (n.read_bytes, n.written_bytes, n.reads, n.writes))
        lines.append(f"{device} rbytes={r} wbytes={w} rios={ri} wios={wi} dbytes=0 dios=0\n")
    return "".join(lines)


def _numa_stat(s: Scene) -> str:
    nodes = s.memory_nodes
    lines = []
    for name, value in (("anon", s.numbers.anon), ("file", s.numbers.file)):
        each = value // len(nodes) // 4096 * 4096
        shares = [value - each * (len(nodes) - 1), *[each] * (len(nodes) - 1)]
        lines.append(name + "".join(f" N{node}={share}" for node, share in zip(nodes, shares, strict=True)) + "\n")
    return "".join(lines)


def _cpus(s: Scene) -> str:
    if s.group.cpus is not None:
        return cpulist(s.group.cpus) + "\n"
    return (s.shared_cpus if s.group.kind == "container" else "") + "\n"


def _effective_cpus(s: Scene) -> str:
    return _cpus(s) if _cpus(s) != "\n" else cpulist(s.online) + "\n"


def _weight(s: Scene) -> int:
    return (1 if "besteffort" in s.group.path else 20 + s.salt % 200) + s.limit_step % 50


def _pressure(resource: str) -> Render:
    return lambda s: pressure_text(s.group.path, resource, s.step, cpu_full=s.profile.has((5, 13)))


def _quota(s: Scene) -> str:
    quota = 50_000 + 1_000 * (s.salt % 400) + 1_000 * s.limit_step if s.salt % 3 == 0 or s.limit_step else None
    return f"{'max' if quota is None else quota} 100000\n"


def _limit(s: Scene) -> str:
    if s.salt % 2 and not s.limit_step:
        return "max\n"
    return f"{(s.numbers.current // 4096 * 2 + 4096 + s.limit_step) * 4096}\n"


def _high(s: Scene) -> str:
    limit = _limit(s)
    return limit if limit == "max\n" else f"{int(limit) // 4096 * 9 // 10 * 4096}\n"


_F = CgroupFile
FILES: tuple[CgroupFile, ...] = (
    _F(name="cgroup.controllers", root="also", render=lambda s: " ".join(s.group.controllers) + "\n"),
    _F(name="cgroup.subtree_control", root="also", render=lambda s: " ".join(s.group.handed_down) + "\n"),
    _F(name="cgroup.procs", root="also", render=lambda s: "".join(f"{pid}\n" for pid in s.group.pids)),
    _F(
        name="cgroup.threads",
        root="also",
        render=lambda s: "".join(f"{pid + i}\n" for pid in s.group.pids for i in range(s.group.threads)),
    ),
    _F(name="cgroup.type", render=_constant("domain\n")),
    _F(name="cgroup.events", render=lambda s: f"populated {int(s.numbers.pids > 0)}\n" + _frozen(s)),
    _F(name="cgroup.stat", root="also", render=lambda s: f"nr_descendants {s.descendants}\nnr_dying_descendants 0\n"),
    _F(name="cgroup.max.depth", root="also", render=_constant("max\n")),
    _F(name="cgroup.max.descendants", root="also", render=_constant("max\n")),
    _F(name="cgroup.freeze", since=(5, 2), render=_constant("0\n")),
    _F(name="cgroup.kill", since=(5, 14), render=_constant("")),
    _F(name="cgroup.pressure", since=(6, 1), root="also", render=_constant("1\n")),
    _F(name="cpu.stat", root="also", counts=True, render=_cpu_stat),
    _F(
        name="cpu.stat.local",
        since=(6, 6),
        root="also",
        counts=True,
        render=lambda s: f"throttled_usec {s.numbers.throttled_us}\n",
    ),
    _F(name="cpu.pressure", root="also", counts=True, render=_pressure("cpu")),
    _F(name="memory.pressure", root="also", counts=True, render=_pressure("memory")),
    _F(name="io.pressure", root="also", counts=True, render=_pressure("io")),
    # CONFIG_IRQ_TIME_ACCOUNTING
    _F(name="irq.pressure", since=(6, 1), feature="irq_time", root="also", counts=True, render=_pressure("irq")),
    _F(name="cpu.weight", controller="cpu", limit=True, render=lambda s: f"{_weight(s)}\n"),
    _F(name="cpu.weight.nice", controller="cpu", render=_constant("0\n")),
    _F(name="cpu.max", controller="cpu", limit=True, render=_quota),
    _F(name="cpu.max.burst", controller="cpu", limit=True, since=(5, 14), render=lambda s: f"{1_000 * s.limit_step}\n"),
    _F(name="cpu.idle", controller="cpu", since=(5, 15), render=_constant("0\n")),
    # CONFIG_UCLAMP_TASK_GROUP, 5.4
    _F(name="cpu.uclamp.min", controller="cpu", since=(5, 4), feature="uclamp", render=_constant("0.00\n")),
    _F(name="cpu.uclamp.max", controller="cpu", since=(5, 4), feature="uclamp", render=_constant("max\n")),
    _F(name="cpuset.cpus", controller="cpuset", since=(5, 0), render=_cpus),
    _F(name="cpuset.mems", controller="cpuset", since=(5, 0), render=_constant("\n")),
    _F(name="cpuset.cpus.partition", controller="cpuset", since=(5, 0), render=_constant("member\n")),
    _F(name="cpuset.cpus.effective", controller="cpuset", since=(5, 0), root="also", render=_effective_cpus),
    _F(
        name="cpuset.mems.effective",
        controller="cpuset",
        since=(5, 0),
        root="also",
        render=lambda s: cpulist(s.memory_nodes) + "\n",
    ),
    _F(name="cpuset.cpus.exclusive", controller="cpuset", since=(6, 7), render=_constant("\n")),
    _F(name="cpuset.cpus.exclusive.effective", controller="cpuset", since=(6, 7), render=_constant("\n")),
    _F(name="cpuset.cpus.isolated", controller="cpuset", since=(6, 8), root="only", render=_constant("\n")),
    _F(name="memory.current", controller="memory", counts=True, render=lambda s: f"{s.numbers.current}\n"),
    _F(name="memory.stat", controller="memory", root="also", counts=True, render=_memory_stat),
    _F(name="memory.events", controller="memory", counts=True, render=_memory_events),
    _F(name="memory.events.local", controller="memory", since=(5, 2), counts=True, render=_memory_events),
    _F(name="memory.min", controller="memory", limit=True, since=(4, 18), render=lambda s: f"{4096 * s.limit_step}\n"),
    _F(name="memory.low", controller="memory", limit=True, render=lambda s: f"{4096 * s.limit_step}\n"),
    _F(name="memory.high", controller="memory", limit=True, render=_high),
    _F(name="memory.max", controller="memory", limit=True, render=_limit),
    _F(name="memory.oom.group", controller="memory", since=(4, 19), render=_constant("0\n")),
    _F(name="memory.numa_stat", controller="memory", since=(5, 8), root="also", counts=True, render=_numa_stat),
    _F(
        name="memory.peak",
        controller="memory",
        since=(5, 19),
        counts=True,
        render=lambda s: f"{s.numbers.current + 4096 * (600 + s.step)}\n",
    ),
    _F(name="memory.reclaim", controller="memory", since=(5, 19), root="also", render=_constant("")),
    _F(name="memory.swap.current", controller="memory", counts=True, render=lambda s: f"{s.numbers.swap}\n"),
    _F(name="memory.swap.max", controller="memory", render=_constant("max\n")),
    _F(name="memory.swap.high", controller="memory", since=(5, 8), render=_constant("max\n")),
    _F(name="memory.swap.events", controller="memory", since=(4, 18), render=_constant("max 0\nfail 0\n")),
    _F(
        name="memory.swap.peak",
        controller="memory",
        since=(6, 5),
        counts=True,
        render=lambda s: f"{s.numbers.swap + 4096 * s.step}\n",
    ),
    # CONFIG_ZSWAP, 5.19
    _F(name="memory.zswap.current", controller="memory", since=(5, 19), feature="zswap", render=_constant("0\n")),
    _F(name="memory.zswap.max", controller="memory", since=(5, 19), feature="zswap", render=_constant("max\n")),
    # openEuler, on v2 in OLK-6.6 only
    _F(name="memory.qos_level", controller="memory", since=(6, 6), feature="qos_v2", render=_constant("0\n")),
    _F(name="io.stat", controller="io", root="also", counts=True, render=_io_stat),
    _F(name="io.max", controller="io", render=_constant("")),
    _F(name="io.latency", controller="io", since=(4, 19), render=_constant("")),
    _F(
        name="io.weight",
        controller="io",
        limit=True,
        since=(5, 4),
        feature="iocost",
        render=lambda s: f"default {100 + s.limit_step % 50}\n",
    ),
    # CONFIG_BLK_CGROUP_IOCOST, 5.4
    _F(name="io.cost.qos", controller="io", since=(5, 4), feature="iocost", root="only", render=_constant("")),
    _F(name="io.cost.model", controller="io", since=(5, 4), feature="iocost", root="only", render=_constant("")),
    # CONFIG_BLK_CGROUP_IOPRIO, 5.14
    _F(name="io.prio.class", controller="io", since=(5, 14), feature="ioprio", render=_constant("no-change\n")),
    _F(name="pids.current", controller="pids", counts=True, render=lambda s: f"{s.numbers.pids}\n"),
    _F(name="pids.max", controller="pids", limit=True, render=lambda s: f"{4096 + s.limit_step}\n"),
    _F(name="pids.events", controller="pids", render=_constant("max 0\n")),
    _F(
        name="pids.peak",
        controller="pids",
        since=(6, 1),
        counts=True,
        render=lambda s: f"{s.numbers.pids + 9 + s.step}\n",
    ),
    _F(name="hugetlb.2MB.current", controller="hugetlb", render=_constant("0\n")),
    _F(name="hugetlb.2MB.max", controller="hugetlb", render=_constant("max\n")),
    _F(name="hugetlb.2MB.events", controller="hugetlb", render=_constant("max 0\n")),
    _F(name="hugetlb.2MB.rsvd.current", controller="hugetlb", since=(5, 7), render=_constant("0\n")),
    _F(name="hugetlb.1GB.current", controller="hugetlb", render=_constant("0\n")),
    _F(name="hugetlb.1GB.max", controller="hugetlb", render=_constant("max\n")),
    _F(name="rdma.current", controller="rdma", render=_constant("")),
    _F(name="rdma.max", controller="rdma", render=_constant("")),
    _F(name="misc.current", controller="misc", since=(5, 13), root="also", render=_constant("")),
    _F(name="misc.max", controller="misc", since=(5, 13), render=_constant("")),
    _F(name="misc.events", controller="misc", since=(5, 16), render=_constant("")),
    _F(name="misc.capacity", controller="misc", since=(5, 13), root="only", render=_constant("")),
)


def _frozen(s: Scene) -> str:
    return "frozen 0\n" if s.profile.has((5, 2)) else ""


def files_of(group: GroupFact, profile: Profile) -> tuple[CgroupFile, ...]:
    """The files that this kernel puts into the group."""
    unwanted = "no" if group.path == "/" else "only"
    return tuple(
        file
        for file in FILES
        if file.root != unwanted
        and (not file.controller or file.controller in group.controllers)
        and profile.has(file.since, file.feature)
    )
