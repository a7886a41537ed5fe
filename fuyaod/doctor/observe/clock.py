"""Clocks: what the kernel counts time with, and whether somebody keeps it right."""

from __future__ import annotations

import ctypes
import re
from typing import Final

from fuyaod.doctor.observe.reader import Reader
from fuyaod.model.facts import ClockFacts

CLOCKSOURCE: Final = "sys/devices/system/clocksource/clocksource0"

DAEMON_FILES: Final = {
    "chrony": ("run/chrony/chronyd.pid", "run/chrony/chronyd.sock", "run/chronyd.pid"),
    "ntpd": ("run/ntpd.pid", "var/lib/ntp/ntp.drift", "var/lib/ntpsec/ntp.drift"),
    "systemd-timesyncd": ("run/systemd/timesync/synchronized",),
    "ptp4l": ("run/ptp4l", "run/ptp4l.pid"),
}
"""Run-time files of time daemons; timesyncd makes its own once it has synchronised (systemd-timesyncd.service(8))."""

STA_UNSYNC: Final = 0x40
"""Source: Linux include/uapi/linux/timex.h."""


class _Timex(ctypes.Structure):
    """The start of `struct timex`, and more room than it has. Source: Linux include/uapi/linux/timex.h."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("freq", ctypes.c_long),
        ("maxerror", ctypes.c_long),
        ("esterror", ctypes.c_long),
        ("status", ctypes.c_int),
        ("rest", ctypes.c_byte * 256),
    )


def observe_clock(reader: Reader) -> ClockFacts:
    """Clock source and time synchronisation. The kernel's own word on the latter needs the root to be this machine."""
    daemons = [name for name, paths in DAEMON_FILES.items() if reader.find(*paths)]
    return ClockFacts(
        source=reader.line(f"{CLOCKSOURCE}/current_clocksource"),
        available=reader.words(f"{CLOCKSOURCE}/available_clocksource") or (),
        kernel_synchronised=kernel_synchronised() if reader.host.is_this_machine else None,
        sync_daemons=tuple(daemons),
        monotonic_offset_ns=monotonic_offset_ns(reader),
    )


def kernel_synchronised() -> bool | None:
    """Whether some daemon keeps the kernel's clock right, by adjtimex(2) without changes; None when it is refused."""
    try:
        adjtimex = ctypes.CDLL(None, use_errno=True).adjtimex
    except (OSError, AttributeError):
        return None
    timex = _Timex()
    if adjtimex(ctypes.byref(timex)) < 0:
        return None
    return not timex.status & STA_UNSYNC


def monotonic_offset_ns(reader: Reader) -> int | None:
    """How far CLOCK_MONOTONIC of our time namespace is from the host's. Source: time_namespaces(7)."""
    for line in reader.lines("proc/self/timens_offsets"):
        if found := re.fullmatch(r"(?:monotonic|1)\s+(-?\d{1,9})\s+(\d{1,9})", line.strip()):
            return int(found[1]) * 1_000_000_000 + int(found[2])
    return None
