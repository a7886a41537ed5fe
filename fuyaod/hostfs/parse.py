"""Parsers for the shapes that kernel files come in. All take bytes or text and the path for the error message."""

from __future__ import annotations

import re
from typing import Final

from fuyaod.errors import HostParseError
from fuyaod.model.cpuset import CpuSet
from fuyaod.model.pressure import Pressure, PsiLine

_MASK_CHARS: Final = 4096
"""Longest mask: 8192 bits are 256 words of 8 digits, and as much again for words of zeros in front."""

_MASK: Final = re.compile(r"[0-9a-fA-F]+|[0-9a-fA-F]{1,8}(,[0-9a-fA-F]{1,8})*").fullmatch
_FLAT_KEYED: Final = re.compile(rb"(?:[!-~]+ [0-9]{1,20}\n)*(?:[!-~]+ [0-9]{1,20})?").fullmatch
_SHARES: Final = rb" avg10=(\d{1,3}\.\d\d) avg60=(\d{1,3}\.\d\d) avg300=(\d{1,3}\.\d\d) total=(\d{1,19})"
_PRESSURE: Final = re.compile(rb"(?=.)(?:some" + _SHARES + rb"\n)?(?:full" + _SHARES + rb"\n)?").fullmatch


def parse_mask(text: str, path: str) -> CpuSet:
    """A kernel mask, `"ffffffff,00000003"`: 32-bit hex words, highest first; a leading 0x is accepted.

    Raises:
        HostParseError: a word is no hex number, is longer than 8 digits (but for a single word), or the set is too
        large.

    Source: Linux lib/bitmap-str.c, bitmap_parse().
    """
    hexed = text.strip(" \n\t").removeprefix("0x")
    if len(hexed) > _MASK_CHARS or not _MASK(hexed):
        raise HostParseError(path, text, "a CPU mask of 32-bit hex words")
    try:
        return CpuSet.from_mask(int("".join(word.zfill(8) for word in hexed.split(",")), 16))
    except ValueError as error:
        raise HostParseError(path, text, f"a CPU mask ({error})") from None


def parse_flat_keyed(raw: bytes, path: str) -> dict[bytes, int]:
    """Lines of `key value` with a whole number each, as in `cpu.stat`, `memory.events`, `cgroup.events`.

    Raises:
        HostParseError: a line is not of that form, a number is negative or has more than 20 digits, or a key comes
        twice.
    """
    parts = raw.split()
    if _FLAT_KEYED(raw):
        found = dict(zip(parts[::2], map(int, parts[1::2]), strict=True))
        if 2 * len(found) == len(parts):
            return found
    raise HostParseError(path, raw[:80], "lines of key and number")


def parse_nested_keyed(raw: bytes, path: str) -> dict[str, dict[str, str]]:
    """Lines of `key sub=value sub=value`, as in `io.stat`, `io.max`, `memory.numa_stat`. A key without values is kept
    empty; the values belong to the last key of a line.

    Raises:
        HostParseError: a word behind the values has no `=`, a line has values and no key, a key or value comes twice,
        or the bytes are no text.

    Source: kernels 5.13 and later print devices without I/O as bare keys in front of the next one, or at the end
    without a newline (`7:7 7:6 7:5 rbytes=28672 wbytes=0 ...`): canonical/lxd#10052.
    """
    found: dict[str, dict[str, str]] = {}
    for line in raw.split(b"\n"):
        values: dict[str, str] | None = None
        for word in _text(line, path).split():
            key, equals, value = word.partition("=")
            if not equals and not values and word not in found:
                found[word] = values = {}
            elif equals and values is not None and key not in values:
                values[key] = value
            else:
                raise HostParseError(path, line, "a line of key and sub=value pairs")
    return found


def parse_words(raw: bytes, path: str) -> tuple[str, ...]:
    """Blank-separated words, as in `cgroup.controllers`. Raises HostParseError for bytes that are no text."""
    return tuple(_text(raw, path).split())


def parse_colon_keyed(raw: bytes, path: str) -> dict[str, str]:
    """Lines of `key: value`, as in `/proc/meminfo` and `/proc/self/status`; other lines are passed over.

    Raises HostParseError for bytes that are no text.
    """
    pairs = (line.partition(":") for line in _text(raw, path).split("\n"))
    return {key.strip(): value.strip() for key, colon, value in pairs if colon}


def parse_pressure(raw: bytes, path: str) -> Pressure:
    """A PSI file: a line `some avg10=0.00 avg60=0.00 avg300=0.00 total=0`, one that starts with `full`, or both.

    Raises:
        HostParseError: anything else, also a share that is no number with two decimals, a total of more than the 19
        digits that fit into 64 bits, and a text whose last line was cut.

    Source: Linux Documentation/accounting/psi.rst and kernel/sched/psi.c, psi_show(); irq.pressure has a `full` line
    only, cpu.pressure before 5.13 `some` only.
    """
    match = _PRESSURE(raw)
    if match is None:
        raise HostParseError(path, raw[:80], "a pressure file")
    some10, some60, some300, some_total, full10, full60, full300, full_total = match.groups()
    some = full = None
    if some10 is not None:
        some = PsiLine(
            avg10_pct=float(some10), avg60_pct=float(some60), avg300_pct=float(some300), total_us=int(some_total)
        )
    if full10 is not None:
        full = PsiLine(
            avg10_pct=float(full10), avg60_pct=float(full60), avg300_pct=float(full300), total_us=int(full_total)
        )
    return Pressure(some=some, full=full)


def _text(raw: bytes, path: str) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise HostParseError(path, raw[:40], "text") from None
