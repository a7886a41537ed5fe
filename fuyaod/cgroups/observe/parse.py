"""Parsers for the files that every group has, made for speed: five thousand of them are read per sweep.

All raise ValueError for what is not the file's format. A text that does not end with a newline was cut and is refused,
because a cut number is a wrong number.
"""

from __future__ import annotations

from typing import Final

from fuyaod.errors import HostParseError
from fuyaod.hostfs.parse import parse_pressure
from fuyaod.model.cgroup import CpuStat, IoStat, MemoryEvents, MemoryStat
from fuyaod.model.pressure import Pressure, PsiLine

_MAX_SUM_PCT: Final = 606.0
"""Six averages of at most 100 % and a rounding each; refuses NaN and infinity, which float() would take."""


def parse_cpu_stat(raw: bytes) -> CpuStat:
    """`cpu.stat`; the kernel adds lines in the middle from time to time, so the throttling part is looked for."""
    words = _words(raw)
    if words[:5:2] != [b"usage_usec", b"user_usec", b"system_usec"]:
        raise ValueError("usage_usec, user_usec and system_usec must come first")
    periods = throttled_periods = throttled_us = None
    if len(words) > 6 and b"nr_periods" in words:
        at = words.index(b"nr_periods")
        if words[at + 2 : at + 5 : 2] != [b"nr_throttled", b"throttled_usec"]:
            raise ValueError("nr_throttled and throttled_usec must follow nr_periods")
        periods, throttled_periods, throttled_us = int(words[at + 1]), int(words[at + 3]), int(words[at + 5])
    return CpuStat(
        usage_us=int(words[1]),
        user_us=int(words[3]),
        system_us=int(words[5]),
        periods=periods,
        throttled_periods=throttled_periods,
        throttled_us=throttled_us,
    )


def parse_group_pressure(raw: bytes) -> Pressure:
    """A pressure file with both lines; one with a single line (cpu before 5.13, irq) takes the general parser."""
    words = _words(raw)
    if len(words) != 10:
        return _general_pressure(raw)
    some, a10, a60, a300, a_total, full, b10, b60, b300, b_total = words
    if not (
        some == b"some"
        and full == b"full"
        and a10[:6] == b10[:6] == b"avg10="
        and a60[:6] == b60[:6] == b"avg60="
        and a300[:7] == b300[:7] == b"avg300="
        and a_total[:6] == b_total[:6] == b"total="
    ):
        return _general_pressure(raw)
    s10, s60, s300 = float(a10[6:]), float(a60[6:]), float(a300[7:])
    f10, f60, f300 = float(b10[6:]), float(b60[6:]), float(b300[7:])
    if not 0.0 <= s10 + s60 + s300 + f10 + f60 + f300 <= _MAX_SUM_PCT:
        raise ValueError("shares must be percentages")
    return Pressure(
        some=PsiLine(avg10_pct=s10, avg60_pct=s60, avg300_pct=s300, total_us=int(a_total[6:])),
        full=PsiLine(avg10_pct=f10, avg60_pct=f60, avg300_pct=f300, total_us=int(b_total[6:])),
    )


def parse_counter(raw: bytes) -> int:
    """A file of one number: `memory.current`, `pids.current`."""
    if not raw.endswith(b"\n"):
        raise ValueError("cut")
    return int(raw)


def parse_memory_stat(raw: bytes) -> MemoryStat:
    """`memory.stat`; of its forty to sixty lines the five that decisions use."""
    words = _words(raw)
    value = words.index
    return MemoryStat(
        anon_bytes=int(words[value(b"anon") + 1]),
        file_bytes=int(words[value(b"file") + 1]),
        inactive_file_bytes=int(words[value(b"inactive_file") + 1]),
        shmem_bytes=int(words[value(b"shmem") + 1]),
        pgmajfault=int(words[value(b"pgmajfault") + 1]),
    )


def parse_memory_events(raw: bytes) -> MemoryEvents:
    """`memory.events`."""
    words = _words(raw)
    value = words.index
    return MemoryEvents(
        low=int(words[value(b"low") + 1]),
        high=int(words[value(b"high") + 1]),
        max=int(words[value(b"max") + 1]),
        oom=int(words[value(b"oom") + 1]),
        oom_kill=int(words[value(b"oom_kill") + 1]),
    )


def parse_io_stat(raw: bytes) -> IoStat:
    """`io.stat` summed over devices; an empty file means that nothing was read or written yet."""
    totals = {b"rbytes": 0, b"wbytes": 0, b"rios": 0, b"wios": 0}
    for word in _words(raw) if raw else ():
        key, equals, number = word.partition(b"=")
        if key in totals:
            totals[key] += int(number)
        elif not equals and b":" not in word:
            raise ValueError("a device or key=value was expected")
    return IoStat(
        read_bytes=totals[b"rbytes"],
        written_bytes=totals[b"wbytes"],
        reads=totals[b"rios"],
        writes=totals[b"wios"],
    )


def _words(raw: bytes) -> list[bytes]:
    if not raw.endswith(b"\n"):
        raise ValueError("cut")
    return raw.split()


def _general_pressure(raw: bytes) -> Pressure:
    try:
        return parse_pressure(raw, "")
    except HostParseError as error:
        raise ValueError("a pressure file was expected") from error
