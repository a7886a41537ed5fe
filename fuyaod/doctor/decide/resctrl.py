"""Cache and memory-bandwidth isolation: RDT on x86, MPAM on arm64."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fuyaod.doctor.decide.verdict import degraded, listed, missing, ok
from fuyaod.model.facts import HostFacts, ResctrlResource
from fuyaod.model.findings import Finding

NO_ISOLATION: Final = "BE pods can flush the last-level cache and take the memory bandwidth of inference pods"
CLASSES: Final = 4
"""The default group and one for each of HLS, LS and BE."""

ALLOCATING_FLAGS: Final = frozenset({"cat_l2", "cat_l3", "mba", "smba", "mpam"})
MOUNT: Final = "`mount -t resctrl resctrl /sys/fs/resctrl`"


def diagnose_resctrl(facts: HostFacts) -> Iterator[Finding | None]:
    """Findings `resctrl.*`. What the mount would tell is left out until it is mounted."""
    if facts.kernel.release is None and not facts.resctrl.mounted:
        return
    yield capable(facts)
    if not may_isolate(facts):
        return
    yield mounted(facts)
    if facts.resctrl.mounted:
        yield classes(facts)
        yield cache(facts)
        yield bandwidth(facts)
        yield monitoring(facts)


def may_isolate(facts: HostFacts) -> bool:
    """Whether CPU and kernel together offer anything."""
    resctrl = facts.resctrl
    return resctrl.mounted or resctrl.known is True


def capable(facts: HostFacts) -> Finding:
    """Whether CPU and kernel support it at all."""
    resctrl = facts.resctrl
    flags = " ".join(resctrl.flags) or "no flag"
    if may_isolate(facts):
        return ok("resctrl.capable", f"the kernel offers resctrl ({flags} in /proc/cpuinfo)")
    if facts.kernel.machine == "aarch64":
        return mpam(facts)
    if ALLOCATING_FLAGS & set(resctrl.flags):
        return missing(
            "resctrl.capable",
            f"the CPU has {flags}, the kernel offers no resctrl",
            cost=NO_ISOLATION,
            mend="boot a kernel built with CONFIG_X86_CPU_RESCTRL=y and without `rdt=!...` on its command line",
        )
    return missing(
        "resctrl.capable",
        "the CPU shows no RDT or PQoS (or a hypervisor hides it)",
        cost=NO_ISOLATION,
        mend="none on this CPU: keep BE pods on another NUMA node than inference pods; in a VM ask for RDT passthrough",
    )


def mpam(facts: HostFacts) -> Finding:
    """Why an arm64 host offers no resctrl."""
    if "arm64.mpam" in facts.kernel.cmdline:
        return missing(
            "resctrl.capable",
            "`arm64.mpam` is on the kernel command line, and the kernel offers no resctrl",
            cost=NO_ISOLATION,
            mend="boot openEuler 22.03 SP1 or later (CONFIG_ARM64_MPAM=y), and enable MPAM in the firmware",
        )
    return missing(
        "resctrl.capable",
        "MPAM is off: no `arm64.mpam` on the kernel command line",
        cost=NO_ISOLATION,
        mend="on openEuler: `grubby --update-kernel=ALL --args=arm64.mpam`, reboot, then " + MOUNT,
    )


def mounted(facts: HostFacts) -> Finding:
    """Whether the filesystem is mounted."""
    if facts.resctrl.mounted:
        names = [resource.name for resource in facts.resctrl.resources]
        return ok("resctrl.mounted", f"/sys/fs/resctrl is mounted and allocates {listed(names) or 'nothing'}")
    return missing("resctrl.mounted", "/sys/fs/resctrl is not mounted", cost=NO_ISOLATION, mend=MOUNT)


def classes(facts: HostFacts) -> Finding | None:
    """Whether there are enough classes of service; the smallest resource counts."""
    found = [r.num_closids for r in facts.resctrl.resources if r.num_closids is not None]
    if not found:
        return None
    if min(found) < CLASSES:
        return degraded(
            "resctrl.classes",
            f"{min(found)} classes of service (num_closids), {CLASSES} are wanted",
            cost="HLS and LS share one class: LS pods can take cache from HLS pods",
            mend="mount without `cdp`, which halves the classes; or stop other users of resctrl",
        )
    return ok("resctrl.classes", f"{min(found)} classes of service")


def cache(facts: HostFacts) -> Finding:
    """Whether the cache can be divided."""
    caches = [r for r in facts.resctrl.resources if r.cbm_mask is not None]
    if caches:
        return ok("resctrl.cache", listed([cache_shape(resource) for resource in caches]))
    return missing(
        "resctrl.cache",
        "no cache allocation in /sys/fs/resctrl/info",
        cost="BE pods can flush the last-level cache of inference pods",
        mend="none on this CPU where cat_l3 is not in /proc/cpuinfo; else boot without `rdt=!l3cat`",
    )


def cache_shape(resource: ResctrlResource) -> str:
    """`L3 mask fff, at least 1 bit, shared with I/O: c00`."""
    shared = f", shared with I/O: {resource.shareable_bits}" if (resource.shareable_bits or "0").strip("0") else ""
    return f"{resource.name} mask {resource.cbm_mask}, at least {resource.min_cbm_bits or 1} bit{shared}"


def bandwidth(facts: HostFacts) -> Finding:
    """Whether memory bandwidth can be limited; the unit is percent on Intel and absolute on AMD."""
    found = [r for r in facts.resctrl.resources if r.min_bandwidth is not None]
    if found:
        told = [f"{r.name} from {r.min_bandwidth} in steps of {r.bandwidth_gran or 1}" for r in found]
        return ok("resctrl.bandwidth", listed(told))
    return missing(
        "resctrl.bandwidth",
        "no memory-bandwidth allocation in /sys/fs/resctrl/info",
        cost="BE pods can take the memory bandwidth of inference pods; only throttling their CPU helps",
        mend="none on this CPU where mba is not in /proc/cpuinfo; else boot without `rdt=!mba`",
    )


def monitoring(facts: HostFacts) -> Finding:
    """Whether cache use and bandwidth of a group can be measured."""
    resctrl = facts.resctrl
    if "mbm_local_bytes" in resctrl.monitors or "mbm_total_bytes" in resctrl.monitors:
        return ok("resctrl.monitoring", f"{' '.join(resctrl.monitors)} for {resctrl.num_rmids or 'unknown'} groups")
    return missing(
        "resctrl.monitoring",
        f"no bandwidth counters ({' '.join(resctrl.monitors) or 'no monitoring'})",
        cost="bandwidth limits are set without feedback, and the culprit of contention is not named",
        mend="boot without `rdt=!mbmtotal,!mbmlocal`; none on a CPU without cqm_mbm_total in /proc/cpuinfo",
    )
