"""Pressure stall information: numbers, triggers, and how fast it may be polled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fuyaod.doctor.decide.verdict import degraded, missing, ok, version_of
from fuyaod.model.facts import HostFacts, PsiState
from fuyaod.model.findings import Finding

BOOT: Final = "add `psi=1` to the kernel command line and reboot (the kernel must be built with CONFIG_PSI=y)"
BLIND: Final = "no pressure: contention is guessed from utilisation, which is slower and gives more false alarms"

CAP_SYS_RESOURCE: Final = 24
"""Source: Linux include/uapi/linux/capability.h."""

SHORT_WINDOWS: Final = (6, 4)
"""From 6.4 on privileged openers may ask for windows below 500 ms. Source: Linux kernel/sched/psi.c."""


def diagnose_psi(facts: HostFacts) -> Iterator[Finding | None]:
    """Findings `psi.*`."""
    yield system(facts)
    yield group(facts)
    yield trigger(facts)
    yield jiffy(facts)


def system(facts: HostFacts) -> Finding | None:
    """Whether `/proc/pressure` gives numbers."""
    if facts.kernel.release is None:
        return None
    states = facts.psi.system
    wanted = [states.get(name, PsiState.ABSENT) for name in ("cpu", "memory", "io")]
    if all(state is PsiState.READABLE for state in wanted):
        names = [name for name, state in states.items() if state is PsiState.READABLE]
        return ok("psi.system", f"/proc/pressure gives {' '.join(names)}")
    if PsiState.SWITCHED_OFF in wanted:
        return missing(
            "psi.system", "/proc/pressure exists and reading it gives EOPNOTSUPP: PSI is off", cost=BLIND, mend=BOOT
        )
    if PsiState.REFUSED in wanted:
        return degraded(
            "psi.system",
            "/proc/pressure cannot be read: " + "; ".join(r.text for r in facts.refused if "/pressure/" in r.path),
            cost=BLIND,
            mend="run as root, with the host's /proc mounted",
        )
    return missing("psi.system", "no /proc/pressure: PSI is off or not built in", cost=BLIND, mend=BOOT)


def group(facts: HostFacts) -> Finding | None:
    """Whether a cgroup has pressure files that give numbers: `/proc/pressure` does not promise it."""
    path = facts.psi.cgroup_path
    if path is None:
        return None
    cost = "pressure of single pods is not known: the agent cannot tell who suffers, and acts on the whole node's"
    match facts.psi.cgroup:
        case PsiState.READABLE:
            return ok("psi.cgroup", f"cpu.pressure of {path} gives numbers")
        case PsiState.SWITCHED_OFF:
            return missing("psi.cgroup", f"cpu.pressure of {path} gives EOPNOTSUPP: PSI is off", cost=cost, mend=BOOT)
        case PsiState.ABSENT:
            return missing(
                "psi.cgroup",
                f"{path} has no cpu.pressure",
                cost=cost,
                mend="add `psi=1` to the kernel command line, remove `cgroup_disable=pressure` from it, and reboot; "
                f"where it is there, `echo 1 > cgroup.pressure` in {path}",
            )
        case PsiState.REFUSED:
            return degraded(
                "psi.cgroup", f"cpu.pressure of {path} cannot be read", cost=cost, mend="run as root; see host.readable"
            )


def trigger(facts: HostFacts) -> Finding | None:
    """How short a window a pressure trigger may have here: it depends on privilege and kernel."""
    if facts.process is None or facts.process.cap_eff is None:
        return None
    if PsiState.READABLE not in facts.psi.system.values():
        return None
    if not facts.process.cap_eff >> CAP_SYS_RESOURCE & 1:
        return degraded(
            "psi.trigger",
            "without CAP_SYS_RESOURCE only windows that are a multiple of 2 s are accepted",
            cost="the kernel wakes the agent seconds after pressure began; in between it polls",
            mend="add SYS_RESOURCE to `securityContext.capabilities.add` (DaemonSet) or "
            "`AmbientCapabilities=CAP_SYS_RESOURCE` (unit)",
        )
    version = version_of(facts.kernel.release)
    if version is None or version < SHORT_WINDOWS:
        return degraded(
            "psi.trigger",
            f"Linux {facts.kernel.release or '(release not known)'}: windows from 500 ms on",
            cost="the kernel looks every tenth of a window, so a trigger wakes the agent after 50 ms or more",
            mend="boot a kernel from 6.4 on (openEuler 24.03, Ubuntu 24.04) for windows below 500 ms",
        )
    return ok("psi.trigger", "any window up to 10 s (CAP_SYS_RESOURCE, Linux 6.4 or later)")


def jiffy(facts: HostFacts) -> Finding | None:
    """The kernel's tick: pressure files read faster than one jiffy lose stall time for every reader."""
    hz = facts.kernel.hz
    if facts.kernel.release is None:
        return None
    cost = "pressure cannot be polled more often than every 10 ms without losing stall time for every reader"
    if hz is None:
        return degraded(
            "psi.jiffy",
            "the kernel's HZ is not known: neither /proc/config.gz nor /boot/config-RELEASE is there",
            cost=cost + "; HZ=100 is assumed",
            mend="`modprobe configs`, or mount the host's /boot read-only",
        )
    if hz < 250:
        return degraded("psi.jiffy", f"HZ={hz}", cost=cost, mend="boot a kernel built with CONFIG_HZ_250=y or higher")
    return ok("psi.jiffy", f"HZ={hz}: a jiffy is {1000 / hz:g} ms")
