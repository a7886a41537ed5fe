"""The kernel files that may be written, and when two texts of one mean the same.

A file that is not in the table is never written: without a comparison it could neither be skipped nor given back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from mmap import PAGESIZE
from types import MappingProxyType
from typing import Final

from fuyaod.model.values import Value, parse_cpulist


class FileFormat(Value, frozen=True, kw_only=True):
    """How one kernel file behaves.

    `same(wanted, current)` tells whether a file that reads `current` already is what a write of `wanted` makes of it.
    `effective` is the file beside it that tells what the kernel made of the value. `inherits`: an empty value means
    the ancestor's effective one, and a group with tasks refuses it. `loses` is the file beside it that forgets its
    value when this one is set to 1 and reads one of `lost_reads` from then on.
    """

    same: Callable[[str, str], bool]
    effective: str | None = None
    inherits: bool = False
    loses: str | None = None
    lost_reads: tuple[str, ...] = ()


def format_of(path: str) -> FileFormat | None:
    """The format of the file at the end of `path`; None when the agent may not write it."""
    return FORMATS.get(path.rpartition("/")[2])


def _same_number(wanted: str, current: str) -> bool:
    return _number(wanted) == _number(current)


def _same_bytes(wanted: str, current: str) -> bool:
    """The kernel cuts memory limits down to whole pages. Source: Linux mm/page_counter.c, page_counter_memparse()."""
    asked, found = _number(wanted), _number(current)
    if isinstance(asked, str) or isinstance(found, str):
        return asked == found
    return found in (asked, asked // PAGESIZE * PAGESIZE)


def _same_cpu_max(wanted: str, current: str) -> bool:
    """A quota without a period leaves the period alone. Source: Linux kernel/sched/core.c, cpu_period_quota_parse()."""
    asked, found = wanted.split(), current.split()
    if not 1 <= len(asked) <= 2:
        return False
    return [_number(word) for word in asked] == [_number(word) for word in found[: len(asked)]]


def _same_set(wanted: str, current: str) -> bool:
    try:
        return parse_cpulist(wanted) == parse_cpulist(current)
    except ValueError:
        return False


def _number(text: str) -> int | str:
    word = text.strip()
    return int(word) if word.isascii() and word.isdigit() and len(word) <= 20 else word


_NUMBER: Final = FileFormat(same=_same_number)
_BYTES: Final = FileFormat(same=_same_bytes)

FORMATS: Final[Mapping[str, FileFormat]] = MappingProxyType(
    {
        "cgroup.freeze": _NUMBER,
        "cgroup.max.depth": _NUMBER,
        "cgroup.max.descendants": _NUMBER,
        "cpu.idle": FileFormat(same=_same_number, loses="cpu.weight", lost_reads=("0", "1", "100")),
        "cpu.max": FileFormat(same=_same_cpu_max),
        "cpu.max.burst": _NUMBER,
        "cpu.weight": _NUMBER,
        "cpuset.cpus": FileFormat(same=_same_set, effective="cpuset.cpus.effective", inherits=True),
        "cpuset.mems": FileFormat(same=_same_set, effective="cpuset.mems.effective", inherits=True),
        "memory.high": _BYTES,
        "memory.low": _BYTES,
        "memory.max": _BYTES,
        "memory.min": _BYTES,
        "memory.oom.group": _NUMBER,
        "memory.swap.max": _BYTES,
        "pids.max": _NUMBER,
    }
)
"""Source: Linux Documentation/admin-guide/cgroup-v2.rst. `lost_reads`: the weight of an idle group was read as 0 on 6.1
and as 1 on 6.12; on both it is 100 once the group is idle no more."""
