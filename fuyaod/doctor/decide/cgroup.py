"""cgroup hierarchy, controllers, delegation, and which files of a group the kernel offers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fuyaod.doctor.decide.verdict import degraded, listed, missing, ok, version_of
from fuyaod.model.cgroup import CgroupMode
from fuyaod.model.facts import CgroupFacts, CgroupLevel, HostFacts
from fuyaod.model.findings import Finding
from fuyaod.model.values import Value

UNIFY: Final = "add `systemd.unified_cgroup_hierarchy=1 cgroup_no_v1=all` to the kernel command line and reboot"

LOST_WITHOUT: Final = {
    "cpu": "no weights, limits or cpu.idle: BE cannot be throttled",
    "cpuset": "no disjoint CPU sets: BE runs on the cores of HLS pods",
    "memory": "no memory.min, low or high: BE can push out the memory of LLM pods",
    "io": "no io.weight or io.max: loading weights competes with BE disk traffic",
    "pids": "no pids.max: a fork bomb in a BE pod takes the node down",
}
"""Controllers that the product uses, and what each protects. Source: Linux Documentation/admin-guide/cgroup-v2.rst."""


class Feature(Value, frozen=True, kw_only=True):
    """A file that kernels have or lack.

    `controller` "" is a core file, `version` the first Linux with it. `root_only`: the root group alone has it.
    """

    id: str
    file: str
    controller: str
    version: tuple[int, int]
    cost: str
    mend: str
    root_only: bool = False

    @property
    def since(self) -> str:
        """The release as people write it."""
        return f"{self.version[0]}.{self.version[1]}"


FEATURES: Final = (
    Feature(
        id="cgroup.freeze",
        file="cgroup.freeze",
        controller="",
        version=(5, 2),
        cost="no pausing of BE: the first answer to pressure is throttling, then eviction",
        mend="boot a kernel from 5.2 on with cgroup v2 mounted",
    ),
    Feature(
        id="cgroup.kill",
        file="cgroup.kill",
        controller="",
        version=(5, 14),
        cost="an evicted pod is killed process by process: forks that race with it survive one round",
        mend="boot a kernel from 5.14 on (openEuler 24.03, Ubuntu 22.04)",
    ),
    Feature(
        id="cgroup.cpu_idle",
        file="cpu.idle",
        controller="cpu",
        version=(5, 15),
        cost="BE keeps its cpu.weight share and is not preempted at once: protection by weights and cpu.max only",
        mend="boot a kernel from 5.15 on (openEuler 24.03, Ubuntu 22.04); openEuler 22.03 has cpu.qos_level on v1",
    ),
    Feature(
        id="cgroup.cpuset_exclusive",
        file="cpuset.cpus.exclusive",
        controller="cpuset",
        version=(6, 7),
        cost="no CPU partitions below kubepods: exclusivity of HLS cores is kept by disjoint sets and checks alone",
        mend="boot a kernel from 6.7 on, or go on: disjoint sets do not need it",
    ),
    Feature(
        id="cgroup.memory_reclaim",
        file="memory.reclaim",
        controller="memory",
        version=(5, 19),
        cost="BE memory is pushed out through memory.high, which stalls BE and may block the writer",
        mend="boot a kernel from 5.19 on (openEuler 24.03, Ubuntu 22.04 HWE)",
    ),
    Feature(
        id="cgroup.memory_oom_group",
        file="memory.oom.group",
        controller="memory",
        version=(4, 19),
        cost="the OOM killer takes single processes of a BE pod and leaves it half alive",
        mend="boot a kernel from 4.19 on with the memory controller on cgroup v2",
    ),
    Feature(
        id="cgroup.io_cost",
        file="io.cost.qos",
        controller="io",
        version=(5, 4),
        cost="no io.weight by device cost: BE disk traffic is held by fixed io.max limits only",
        mend="boot a kernel built with CONFIG_BLK_CGROUP_IOCOST=y, or set io.max for BE",
        root_only=True,
    ),
)
"""Source: Linux Documentation/admin-guide/cgroup-v2.rst, and the release in which each file first shipped."""


def diagnose_cgroup(facts: HostFacts) -> Iterator[Finding | None]:
    """Findings `cgroup.*`; the first alone where there is no hierarchy."""
    yield hierarchy(facts.cgroup)
    if facts.cgroup.mode is CgroupMode.NONE:
        return
    yield controllers(facts.cgroup)
    yield delegation(facts.cgroup)
    yield writable(facts.cgroup)
    yield recursive_protection(facts.cgroup)
    for item in FEATURES:
        yield feature(facts.cgroup, facts.kernel.release, item)
    yield qos_level(facts)


def hierarchy(cgroup: CgroupFacts) -> Finding:
    """Which hierarchy is mounted."""
    v1 = listed(list(cgroup.v1_controllers)) or "none"
    match cgroup.mode:
        case CgroupMode.UNIFIED:
            return ok("cgroup.hierarchy", f"cgroup v2 at /{cgroup.mount}")
        case CgroupMode.HYBRID:
            return degraded(
                "cgroup.hierarchy",
                f"hybrid: controllers on v1 ({v1}), bare cgroup v2 at /{cgroup.mount}",
                cost="observation, freeze and pressure work; weights, limits, CPU sets and memory protection do not",
                mend=UNIFY,
            )
        case CgroupMode.LEGACY:
            return missing(
                "cgroup.hierarchy",
                f"cgroup v1 only ({v1})",
                cost="no control at all: the agent observes; kubelet from 1.35 on refuses to start here",
                mend=UNIFY,
            )
        case CgroupMode.NONE:
            return missing(
                "cgroup.hierarchy",
                "no cgroup hierarchy at /sys/fs/cgroup below this root",
                cost="no pods, no services, no pressure by group: the agent sees the machine as a whole only",
                mend="mount it: hostPath /sys/fs/cgroup in the DaemonSet, or `mount -t cgroup2 none /sys/fs/cgroup`",
            )


def controllers(cgroup: CgroupFacts) -> Finding:
    """Controllers that the v2 root offers."""
    offered = (cgroup.levels[0].controllers or ()) if cgroup.levels else ()
    lost = [name for name in LOST_WITHOUT if name not in offered]
    if not lost:
        return ok("cgroup.controllers", f"cgroup v2 offers {' '.join(offered)}")
    summary = f"cgroup v2 offers {' '.join(offered) or 'no controller'}; not {' '.join(lost)}"
    cost = "; ".join(LOST_WITHOUT[name] for name in lost)
    mend = "remove `cgroup_disable=` from the kernel command line, or boot a kernel built with these controllers"
    if cgroup.mode is not CgroupMode.UNIFIED:
        mend = UNIFY
    if len(lost) == len(LOST_WITHOUT):
        return missing("cgroup.controllers", summary, cost=cost, mend=mend)
    return degraded("cgroup.controllers", summary, cost=cost, mend=mend)


def delegation(cgroup: CgroupFacts) -> Finding | None:
    """Whether each level down to the pods passes on what the root offers."""
    if cgroup.mode is not CgroupMode.UNIFIED or not cgroup.levels:
        return None
    wanted = [name for name in LOST_WITHOUT if name in (cgroup.levels[0].controllers or ())]
    gaps = {level.path: [name for name in wanted if name not in (level.enabled or ())] for level in cgroup.levels}
    gaps = {path: lost for path, lost in gaps.items() if lost}
    way = f"{len(cgroup.levels)} groups from / down to {cgroup.levels[-1].path}"
    if not gaps:
        return ok("cgroup.delegation", f"{' '.join(wanted) or 'nothing'} enabled on {way}")
    told = listed([f"{path} does not pass on {' '.join(lost)}" for path, lost in gaps.items()], 4)
    lines = [
        f"echo '{' '.join('+' + name for name in lost)}' > /{cgroup.mount}{path.rstrip('/')}/cgroup.subtree_control"
        for path, lost in gaps.items()
    ]
    lost_any = [name for name in wanted if any(name in lost for lost in gaps.values())]
    return degraded(
        "cgroup.delegation",
        told,
        cost="pods lack the files of these controllers: " + "; ".join(LOST_WITHOUT[name] for name in lost_any),
        mend=" && ".join(lines) + " (again after `systemctl daemon-reload`, which may take it back)",
    )


def writable(cgroup: CgroupFacts) -> Finding | None:
    """Whether the v2 mount accepts writes."""
    if cgroup.mount is None or cgroup.mount_options is None:
        return None
    if "ro" in cgroup.mount_options:
        return missing(
            "cgroup.writable",
            f"/{cgroup.mount} is mounted read-only",
            cost="the agent observes and cannot set, pause or limit anything",
            mend="`mount -o remount,rw /sys/fs/cgroup`; in the DaemonSet `securityContext.privileged: true` and a "
            "hostPath volume for /sys/fs/cgroup without readOnly",
        )
    return ok("cgroup.writable", f"/{cgroup.mount} is mounted read-write")


def recursive_protection(cgroup: CgroupFacts) -> Finding | None:
    """Whether memory.min and memory.low of a pod reach its containers. Source: cgroup-v2.rst, memory_recursiveprot."""
    if cgroup.mode is not CgroupMode.UNIFIED or cgroup.mount_options is None:
        return None
    if "memory_recursiveprot" in cgroup.mount_options:
        return ok("cgroup.memory_recursiveprot", "memory.min and memory.low of a pod protect its containers")
    return degraded(
        "cgroup.memory_recursiveprot",
        f"/{cgroup.mount} is mounted without memory_recursiveprot",
        cost="memory.min and memory.low set on a pod do not protect its containers",
        mend="`mount -o remount,nsdelegate,memory_recursiveprot /sys/fs/cgroup` (kernel 5.7 or later)",
    )


def feature(cgroup: CgroupFacts, release: str | None, item: Feature) -> Finding:
    """Whether the kernel offers one file: judged in a group where its controller is on, else by the release."""
    where = candidates(cgroup, item)
    version = version_of(release)
    if not where and cgroup.mount and not item.controller and version and version >= item.version:
        return ok(item.id, f"no group to look for {item.file} in; Linux has it since {item.since}, this is {release}")
    if not where:
        group = (
            f"no group below the root has the {item.controller} controller"
            if item.controller
            else "no group but the root"
        )
        return missing(
            item.id,
            f"{item.file} cannot be used: {group if cgroup.mount else 'no cgroup v2 mount'}",
            cost=item.cost,
            mend="see cgroup.controllers and cgroup.delegation" if cgroup.mode is CgroupMode.UNIFIED else UNIFY,
        )
    owner = next((level.path for level in where if item.file in level.files), None)
    if owner is None:
        return missing(
            item.id,
            f"{item.file} is not in {where[0].path}: the kernel lacks it (in Linux since {item.since})",
            cost=item.cost,
            mend=item.mend,
        )
    return ok(item.id, f"{item.file} is in {owner}")


def candidates(cgroup: CgroupFacts, item: Feature) -> list[CgroupLevel]:
    """Groups that would have the file if the kernel knew it, deepest on the way to the pods first."""
    every = [*reversed(cgroup.levels), *cgroup.others]
    level = [group for group in every if (group.path == "/") == item.root_only]
    return [group for group in level if not item.controller or item.controller in (group.controllers or ())]


def qos_level(facts: HostFacts) -> Finding | None:
    """openEuler's own absolute priority, needed where cpu.idle is not there."""
    every = [*facts.cgroup.levels, *facts.cgroup.others]
    if facts.cgroup.v1_qos_level or any("cpu.qos_level" in level.files for level in every):
        return ok("cgroup.qos_level", "openEuler's cpu.qos_level is there")
    if facts.kernel.os_id != "openEuler":
        return None
    if any("cpu.idle" in level.files for level in every):
        return ok("cgroup.qos_level", "no cpu.qos_level, and not needed: cpu.idle is there")
    return missing(
        "cgroup.qos_level",
        "neither cpu.qos_level nor cpu.idle on this openEuler kernel",
        cost="no absolute priority of online over offline tasks: protection by weights and cpu.max only",
        mend="boot openEuler 24.03, whose kernel has cpu.idle; 22.03 offers cpu.qos_level on cgroup v1 only",
    )
