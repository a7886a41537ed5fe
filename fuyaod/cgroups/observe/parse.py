"""Parsers for the files that every group has, made for speed: five thousand of them are read per sweep.

All take bytes and the path for the error message, and raise HostParseError for what is not the file's format. A text
that does not end with a newline was cut and is refused, because a cut number is a wrong number.
"""

from __future__ import annotations

import re
from typing import Final

from fuyaod.errors import HostParseError
from fuyaod.model.cgroup import CpuStat, IoStat, MemoryEvents, MemoryStat

MAX_UINT64: Final = (1 << 64) - 1

_N: Final = rb"(\d{1,19})"
"""Every number of 19 digits fits into the 64 bits of a message; a 20th digit is a counter below zero or damage."""

# Atomic groups, not `(...)*+`: the re module of Python before 3.11.5 (Debian 12 has 3.11.2) matches a possessive
# quantifier over a group wrongly. Source: python/cpython#100061 and #106052.
_OTHER_LINES: Final = rb"(?>(?:[^\n]*+\n)*)"
_TO_PERIODS: Final = rb"(?>(?:(?!nr_periods )[^\n]*+\n)*)"

_COUNTER: Final = re.compile(_N + rb"\n").fullmatch
_CPU_STAT: Final = re.compile(
    rb"usage_usec %b\nuser_usec %b\nsystem_usec %b\n" % (_N, _N, _N)
    + _TO_PERIODS
    + rb"(?:nr_periods %b\nnr_throttled %b\nthrottled_usec %b\n" % (_N, _N, _N)
    + _OTHER_LINES
    + rb")?"
).fullmatch
_MEMORY_EVENTS: Final = re.compile(
    rb"low %b\nhigh %b\nmax %b\noom %b\noom_kill %b\n" % (_N, _N, _N, _N, _N) + _OTHER_LINES
).fullmatch
_IO_LINE: Final = re.compile(
    rb"(?>(?:(?:\d+:\d+|\(unknown\)) )+)"
    rb"(?:(?:rbytes=%b wbytes=%b rios=%b wios=%b(?=[ \n]))?"
    % (_N, _N, _N, _N)
    + rb"(?>(?: ?(?![rw](?:bytes|ios)=)[a-z_.]++=[^ =\n]++)*) ?\n|\Z)|(.+)",
    re.DOTALL,
)


def parse_counter(raw: bytes, path: str) -> int:
    """A file of one number: `memory.current`, `pids.current`."""
    if _COUNTER(raw) is None:
        raise HostParseError(path, raw[:80], "a number")
    return int(raw)


def parse_cpu_stat(raw: bytes, path: str) -> CpuStat:
    """`cpu.stat`; the kernel adds lines in the middle and at the end from time to time."""
    match = _CPU_STAT(raw)
    if match is None:
        raise HostParseError(path, raw[:80], "usage_usec, user_usec, system_usec and perhaps nr_periods")
    usage, user, system, periods, throttled_periods, throttled = match.groups()
    return CpuStat(
        usage_us=int(usage),
        user_us=int(user),
        system_us=int(system),
        periods=None if periods is None else int(periods),
        throttled_periods=None if periods is None else int(throttled_periods),
        throttled_us=None if periods is None else int(throttled),
    )


def parse_memory_events(raw: bytes, path: str) -> MemoryEvents:
    """`memory.events`."""
    match = _MEMORY_EVENTS(raw)
    if match is None:
        raise HostParseError(path, raw[:80], "low, high, max, oom and oom_kill")
    low, high, maximum, oom, oom_kill = map(int, match.groups())
    return MemoryEvents(low=low, high=high, max=maximum, oom=oom, oom_kill=oom_kill)


def parse_memory_stat(raw: bytes, path: str) -> MemoryStat:
    """`memory.stat`; of its forty to sixty lines, whose order changes, the five that decisions use."""
    try:
        if raw[-1:] != b"\n":
            raise ValueError("cut")
        lines = b"\n" + raw
        return MemoryStat(
            anon_bytes=_number(lines, b"\nanon "),
            file_bytes=_number(lines, b"\nfile "),
            inactive_file_bytes=_number(lines, b"\ninactive_file "),
            shmem_bytes=_number(lines, b"\nshmem "),
            pgmajfault=_number(lines, b"\npgmajfault "),
        )
    except ValueError:
        raise HostParseError(path, raw[:80], "lines of key and number") from None


def parse_io_stat(raw: bytes, path: str) -> IoStat:
    """`io.stat` summed over devices; an empty file means that nothing was read or written yet.

    A device without I/O of its own (a group still being set up) has no values, and stands in front of the next one or
    at the end without a newline: `7:7 7:6 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0`, `252:0 `. The kernel writes
    `(unknown)` for the paths below an NVMe multipath device.

    Source: Linux block/blk-cgroup.c, blkcg_print_one_stat(); canonical/lxd#10052 and #18609.
    """
    totals = [0, 0, 0, 0]
    for *numbers, garbage in _IO_LINE.findall(raw):
        if garbage:
            raise HostParseError(path, garbage[:80], "a device and its key=value pairs")
        if numbers[0]:
            totals = [total + int(number) for total, number in zip(totals, numbers, strict=True)]
    if max(totals) > MAX_UINT64:
        raise HostParseError(path, raw[:80], "counters whose sum fits into 64 bits")
    return IoStat(read_bytes=totals[0], written_bytes=totals[1], reads=totals[2], writes=totals[3])


def _number(lines: bytes, key: bytes) -> int:
    """The number behind the first `key`. Raises ValueError when there is none of at most 19 digits."""
    begin = lines.index(key) + len(key)
    word = lines[begin : lines.index(b"\n", begin)]
    if not word.isdigit() or len(word) > 19:
        raise ValueError(key)
    return int(word)
