"""CPUs: model, SMT, isolation, offline ones, frequency."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fuyaod.doctor.decide.verdict import degraded, ok
from fuyaod.model.cpuset import CpuSet
from fuyaod.model.facts import HostFacts
from fuyaod.model.findings import Finding

SLOW_GOVERNORS: Final = ("powersave", "ondemand", "conservative")
"""Governors that clock up only after load was seen. Source: Linux Documentation/admin-guide/pm/cpufreq.rst."""


def diagnose_cpu(facts: HostFacts) -> Iterator[Finding | None]:
    """Findings `cpu.*`."""
    yield model(facts)
    yield smt(facts)
    yield offline(facts)
    yield isolated(facts)
    yield nohz_full(facts)
    yield governor(facts)


def model(facts: HostFacts) -> Finding | None:
    """The CPU's name."""
    online = facts.cpu.online
    count = f"{len(online)} online" if online is not None else "number not known"
    if facts.cpu.model:
        return ok("cpu.model", f"{facts.cpu.model}, {count}")
    if facts.kernel.release is None:
        return None
    return degraded(
        "cpu.model",
        f"CPU model not known, {count}",
        cost="tables keyed by CPU model (die layout, clusters) do not apply: topology comes from sysfs alone",
        mend="check `lscpu`; report its first lines if the model is a Kunpeng",
    )


def smt(facts: HostFacts) -> Finding | None:
    """SMT: no loss either way, but HLS pods take whole cores where it is on."""
    match facts.cpu.smt:
        case None:
            return None
        case "on":
            return ok("cpu.smt", "SMT is on: HLS pods get whole cores, siblings idle or HLS only")
        case word:
            return ok("cpu.smt", f"SMT is {word}: each CPU is a core")


def offline(facts: HostFacts) -> Finding | None:
    """CPUs that are there and off."""
    present, online = facts.cpu.present, facts.cpu.online
    if present is None or online is None:
        return None
    off = present - online
    if not off:
        return ok("cpu.offline", f"all CPUs are online ({online})")
    if smt_siblings_off(facts):
        return ok("cpu.offline", f"CPUs {off} are offline because SMT is {facts.cpu.smt}")
    return degraded(
        "cpu.offline",
        f"CPUs {off} are offline",
        cost="capacity is lost, and a CPU set that names only such CPUs silently becomes its parent's set, HLS cores "
        "included",
        mend=f"`for c in {spelled(off)}; do echo 1 > /sys/devices/system/cpu/cpu$c/online; done`, or leave them out of "
        "every CPU set",
    )


def smt_siblings_off(facts: HostFacts) -> bool:
    """Whether SMT was switched off by hand: its second threads are offline then, and that is meant."""
    return facts.cpu.smt in ("off", "forceoff")


def spelled(cpus: CpuSet) -> str:
    """CPUs as words for a shell loop."""
    return " ".join(str(a) if a == b else f"$(seq {a} {b})" for a, b in cpus.ranges())


def isolated(facts: HostFacts) -> Finding | None:
    """CPUs without load balancing."""
    cpus = facts.cpu.isolated
    if cpus is None:
        return None
    if not cpus:
        return ok("cpu.isolated", "no isolated CPUs")
    return degraded(
        "cpu.isolated",
        f"CPUs {cpus} are isolated (isolcpus=)",
        cost="threads there are not balanced: those of one pod pile up on a single CPU unless the pod pins them itself",
        mend="remove `isolcpus=` from the kernel command line (CPU sets isolate without it), or add these CPUs to "
        "`reservedSystemCPUs`",
    )


def nohz_full(facts: HostFacts) -> Finding | None:
    """CPUs without a tick: each entry into the kernel costs more there."""
    cpus = facts.cpu.nohz_full
    if cpus is None:
        return None
    if not cpus:
        return ok("cpu.nohz_full", "no CPUs without a tick")
    return degraded(
        "cpu.nohz_full",
        f"CPUs {cpus} run without a tick (nohz_full=)",
        cost="system calls and page faults cost more there; it pays only for one spinning thread per CPU",
        mend="remove `nohz_full=` from the kernel command line unless pods there poll and never call the kernel",
    )


def governor(facts: HostFacts) -> Finding | None:
    """Frequency governors."""
    governors = facts.cpu.governors
    if not governors:
        return None if facts.cpu.online is None else ok("cpu.governor", "no frequency control here: firmware or VM")
    told = ", ".join(f"{name} on CPUs {cpus}" for name, cpus in sorted(governors.items()))
    driver = f" ({facts.cpu.cpufreq_driver})" if facts.cpu.cpufreq_driver else ""
    if not any(name in SLOW_GOVERNORS for name in governors):
        return ok("cpu.governor", told + driver)
    return degraded(
        "cpu.governor",
        told + driver,
        cost="cores clock up only after load was seen: the first milliseconds of each request run slowly",
        mend="`cpupower frequency-set -g performance`, or `cpufreq.default_governor=performance` on the kernel command "
        "line",
    )
