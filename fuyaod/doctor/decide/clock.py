"""Clocks, and the agent's own state folder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fuyaod.doctor.decide.verdict import degraded, listed, missing, ok
from fuyaod.model.facts import HostFacts
from fuyaod.model.findings import Finding

FAST_SOURCES: Final = ("tsc", "arch_sys_counter")
"""Clock sources that are read without leaving user space. Source: Linux Documentation/timers/timekeeping.rst."""

GUEST_SOURCES: Final = ("kvm-clock", "hyperv_clocksource_tsc_page")
"""Paravirtual ones that the vDSO reads as well, on hosts with a stable TSC."""


def diagnose_clock(facts: HostFacts) -> Iterator[Finding | None]:
    """Findings `clock.*` and `agent.*`."""
    yield source(facts)
    yield synchronised(facts)
    yield monotonic(facts)
    yield state_dir(facts)


def source(facts: HostFacts) -> Finding | None:
    """What the kernel counts time with."""
    name = facts.clock.source
    if name is None:
        return None
    if name in FAST_SOURCES:
        return ok("clock.source", f"clock source {name}")
    others = [other for other in facts.clock.available if other in FAST_SOURCES]
    if name in GUEST_SOURCES:
        return ok("clock.source", f"clock source {name} (paravirtual)")
    return degraded(
        "clock.source",
        f"clock source {name}; available: {listed(list(facts.clock.available)) or 'not told'}",
        cost="each reading of the clock is a system call of about a microsecond: time stamps of the guard are coarse",
        mend=f"`echo {others[0]} > /sys/devices/system/clocksource/clocksource0/current_clocksource`"
        if others
        else "the kernel found the TSC unstable: look for `clocksource: Marking` in dmesg; a BIOS update or "
        "`tsc=reliable` on the kernel command line may help",
    )


def synchronised(facts: HostFacts) -> Finding | None:
    """Whether wall time is kept: it dates events, while decisions use the monotonic clock alone."""
    daemons = listed(list(facts.clock.sync_daemons))
    if facts.clock.kernel_synchronised:
        return ok("clock.sync", f"the kernel says the clock is synchronised ({daemons or 'daemon not known'})")
    if facts.clock.kernel_synchronised is None and not daemons:
        return None
    if facts.clock.kernel_synchronised is None:
        return ok("clock.sync", f"time daemon: {daemons}; the kernel was not asked (another root)")
    return degraded(
        "clock.sync",
        f"the kernel says the clock is not synchronised; {daemons or 'no time daemon seen'}",
        cost="events of several nodes cannot be ordered: fault times, link statistics and leases drift apart",
        mend="`apt install chrony` or `dnf install chrony`, `systemctl enable --now chronyd`, then `chronyc tracking`",
    )


def monotonic(facts: HostFacts) -> Finding | None:
    """Whether CLOCK_MONOTONIC is the host's. Source: time_namespaces(7)."""
    offset = facts.clock.monotonic_offset_ns
    if offset is None:
        return None
    if offset == 0:
        return ok("clock.monotonic", "CLOCK_MONOTONIC is the host's")
    return degraded(
        "clock.monotonic",
        f"CLOCK_MONOTONIC is {offset / 1e9:g} s away from the host's: we are in a time namespace",
        cost="time stamps shared with programs outside this container (guard, kernel log) do not compare",
        mend="run the agent without a time namespace of its own (no `unshare --time`, no restored checkpoint)",
    )


def state_dir(facts: HostFacts) -> Finding | None:
    """Whether the journal can be written."""
    agent = facts.agent
    if agent.writable is None:
        return None
    if agent.writable:
        return ok("agent.state_dir", f"{agent.state_dir} can be written")
    return missing(
        "agent.state_dir",
        f"{agent.state_dir} cannot be written",
        cost="no journal: the agent changes nothing, because it could not undo it after a crash",
        mend=f"run as root, or set `[state] dir` to a folder of this user; in the DaemonSet mount {agent.state_dir} "
        "(hostPath, type DirectoryOrCreate)",
    )
