"""What the process may do: capabilities, limits, real-time scheduling, namespaces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fuyaod.doctor.decide.verdict import degraded, missing, ok, size
from fuyaod.model.cgroup import CgroupMode
from fuyaod.model.facts import HostFacts, Limit, ProcessFacts
from fuyaod.model.findings import Finding

IPC_LOCK: Final = 14
CAPABILITIES: Final = (
    ("dac_override", 1, "files of other users cannot be read or written: cgroups, kubelet's state, sockets"),
    ("kill", 5, "processes of an evicted pod cannot be killed one by one where cgroup.kill is missing"),
    ("net_admin", 12, "no shaping of BE network traffic, and no link events of other network namespaces"),
    ("ipc_lock", IPC_LOCK, "the guard's memory can be swapped out, and hugepages of the KV tier cannot be locked"),
    ("sys_admin", 21, "resctrl cannot be mounted and other namespaces cannot be entered"),
    ("sys_nice", 23, "no SCHED_FIFO: on a busy CPU the guard's tick waits tens of milliseconds behind other threads"),
    ("sys_resource", 24, "pressure triggers with windows of 2 s only, and limits cannot be raised"),
    ("perfmon", 38, "no instruction and cycle counters: interference is seen through pressure alone"),
)
"""Name, number, and what is lost without. Source: Linux include/uapi/linux/capability.h."""

MEMLOCK_BYTES: Final = 64 << 20
"""What the guard locks at most: its own resident memory."""

NOFILE: Final = 8192
"""200 pods with 400 containers keep about 4,800 descriptors open when every file is kept."""

INITIAL_PID_NAMESPACE: Final = 0xEFFFFFFC
"""Source: Linux include/linux/proc_ns.h, PROC_PID_INIT_INO."""


def diagnose_privilege(facts: HostFacts) -> Iterator[Finding | None]:
    """Findings `privilege.*`; none for a root without `/proc/self`."""
    process = facts.process
    if process is None:
        return
    for name, bit, cost in CAPABILITIES:
        yield capability(process, name, bit, cost)
    yield memlock(process)
    yield nofile(process.nofile)
    yield realtime(facts, process)
    yield pid_namespace(process)
    yield no_new_privs(process)


def capability(process: ProcessFacts, name: str, bit: int, cost: str) -> Finding | None:
    """One effective capability."""
    if process.cap_eff is None:
        return None
    upper = name.upper()
    if process.cap_eff >> bit & 1:
        return ok(f"privilege.{name}", f"CAP_{upper} is effective")
    return missing(
        f"privilege.{name}",
        f"CAP_{upper} is not effective",
        cost=cost,
        mend=f"add {upper} to `securityContext.capabilities.add` (DaemonSet), `AmbientCapabilities=CAP_{upper}` "
        "(unit), or run as root",
    )


def memlock(process: ProcessFacts) -> Finding | None:
    """Whether the guard can lock its memory."""
    limit = process.memlock
    if limit is None:
        return None
    if process.cap_eff is not None and process.cap_eff >> IPC_LOCK & 1:
        return ok("privilege.memlock", "CAP_IPC_LOCK: no limit")
    if limit.soft is None or limit.soft >= MEMLOCK_BYTES:
        return ok("privilege.memlock", f"{'any amount' if limit.soft is None else size(limit.soft)} may be locked")
    return degraded(
        "privilege.memlock",
        f"only {size(limit.soft)} may be locked, the guard needs {size(MEMLOCK_BYTES)}",
        cost="the guard can be paged out and then reacts when the disk answers",
        mend="`LimitMEMLOCK=infinity` (unit), or add IPC_LOCK to `securityContext.capabilities.add` (DaemonSet)",
    )


def nofile(limit: Limit | None) -> Finding | None:
    """Whether enough descriptors can be kept open."""
    if limit is None:
        return None
    if limit.hard is None or limit.hard >= NOFILE:
        return ok("privilege.nofile", f"{'unlimited' if limit.hard is None else limit.hard} files may be open")
    return degraded(
        "privilege.nofile",
        f"only {limit.hard} files may be open, {NOFILE} are wanted",
        cost="files beyond the limit are opened for every read, which costs 12 times the CPU time",
        mend="`LimitNOFILE=65536` (unit), or raise the container runtime's own LimitNOFILE",
    )


def realtime(facts: HostFacts, process: ProcessFacts) -> Finding | None:
    """Whether SCHED_FIFO can be had, beside CAP_SYS_NICE."""
    cost = "the guard runs as a normal thread: on a busy CPU its tick waits tens of milliseconds behind others"
    if process.rt_runtime_us is None:
        return None
    if process.rt_runtime_us == 0:
        return missing(
            "privilege.realtime",
            "kernel.sched_rt_runtime_us = 0: real-time tasks get no CPU time",
            cost=cost,
            mend="`sysctl -w kernel.sched_rt_runtime_us=950000`",
        )
    if process.rt_group_runtime_us == 0:
        return missing(
            "privilege.realtime",
            "RT_GROUP_SCHED gives our cgroup 0 us of real-time: SCHED_FIFO is refused",
            cost=cost,
            mend="`echo 200000 > cpu.rt_runtime_us` in our v1 cpu group and each above it, or boot with cgroup v2",
        )
    if process.rt_runtime_us < 0:
        return degraded(
            "privilege.realtime",
            "kernel.sched_rt_runtime_us = -1: real-time tasks are not throttled",
            cost="a real-time task that spins takes its CPU for ever, with no rest for anything else",
            mend="`sysctl -w kernel.sched_rt_runtime_us=950000`",
        )
    if facts.cgroup.mode is CgroupMode.UNIFIED and facts.kernel.rt_group_sched and not rt_groups_off(facts):
        return degraded(
            "privilege.realtime",
            "the kernel is built with RT_GROUP_SCHED, and cgroup v2 is in use",
            cost="the cpu controller can be enabled only while every real-time task is in the root group: "
            "it may be refused, and so may SCHED_FIFO in a container",
            mend="add `rt_group_sched=0` to the kernel command line where the kernel knows it (6.16 or later), or boot "
            "one built without CONFIG_RT_GROUP_SCHED",
        )
    return ok("privilege.realtime", f"real-time tasks may use {process.rt_runtime_us} us of each second")


def rt_groups_off(facts: HostFacts) -> bool:
    """Whether real-time groups were switched off at boot."""
    return "rt_group_sched=0" in facts.kernel.cmdline


def pid_namespace(process: ProcessFacts) -> Finding | None:
    """Whether we see the host's processes."""
    if process.pid_namespace is None:
        return None
    if process.pid_namespace == INITIAL_PID_NAMESPACE:
        return ok("privilege.pid_namespace", "in the host's PID namespace")
    return degraded(
        "privilege.pid_namespace",
        f"in a PID namespace of its own ({process.pid_namespace})",
        cost="processes outside this container are not seen: no census, no check of who uses a device",
        mend="`hostPID: true` in the DaemonSet's pod spec",
    )


def no_new_privs(process: ProcessFacts) -> Finding | None:
    """no_new_privs alone costs nothing; with a capability missing it also bars the way to get it."""
    if process.no_new_privs is None or process.cap_eff is None:
        return None
    lacking = [name for name, bit, _ in CAPABILITIES if not process.cap_eff >> bit & 1]
    if process.no_new_privs and lacking:
        return degraded(
            "privilege.no_new_privs",
            f"no_new_privs is set while {len(lacking)} capabilities are missing",
            cost="file capabilities and setuid programs give nothing: what is missing cannot be gained by exec",
            mend="`allowPrivilegeEscalation: true` in the DaemonSet, `NoNewPrivileges=no` in the unit",
        )
    return ok("privilege.no_new_privs", "set, and nothing is lost by it" if process.no_new_privs else "not set")
