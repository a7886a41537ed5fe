"""Parsers for the shapes that kernel files come in. All take bytes or text and the path for the error message."""

from __future__ import annotations

from fuyaod.errors import HostParseError
from fuyaod.model.cpuset import CpuSet
from fuyaod.model.pressure import Pressure, PsiLine


def parse_mask(text: str, path: str) -> CpuSet:
    """A kernel mask, `"ffffffff,00000003"`: 32-bit hex words, highest first; a leading 0x is accepted.

    Raises:
        HostParseError: a word is no hex number, is longer than 8 digits (but for a single word), or the set is too
        large.

    Source: Linux lib/bitmap.c, bitmap_parse().
    """
    words = text.strip().removeprefix("0x").split(",")
    mask = 0
    for word in words:
        wide = len(words) == 1
        if not word or (len(word) > 8 and not wide) or not set(word) <= set("0123456789abcdefABCDEF"):
            raise HostParseError(path, text, "a CPU mask of 32-bit hex words")
        mask = mask << 32 | int(word, 16)
    try:
        return CpuSet.from_mask(mask)
    except ValueError as error:
        raise HostParseError(path, text, f"a CPU mask ({error})") from None


def parse_flat_keyed(raw: bytes, path: str) -> dict[bytes, int]:
    """Lines of `key value` with a whole number each, as in `cpu.stat`, `memory.events`, `cgroup.events`.

    Raises:
        HostParseError: a line is not of that form.
    """
    parts = raw.split()
    try:
        found = dict(zip(parts[::2], map(int, parts[1::2]), strict=True))
    except ValueError:
        raise HostParseError(path, raw[:60], "lines of key and number") from None
    if raw.count(b"\n") + (not raw.endswith(b"\n") and bool(raw)) != len(found):
        raise HostParseError(path, raw[:60], "lines of key and number")
    return found


def parse_nested_keyed(raw: bytes, path: str) -> dict[str, dict[str, str]]:
    """Lines of `key sub=value sub=value`, as in `io.stat`, `io.max`, `memory.numa_stat`. A line without values is
    kept empty.

    Raises:
        HostParseError: a word behind the key has no `=`, or the bytes are no text.
    """
    found: dict[str, dict[str, str]] = {}
    for line in _text(raw, path).splitlines():
        words = line.split()
        if not words:
            continue
        values = {}
        for word in words[1:]:
            key, equals, value = word.partition("=")
            if not equals:
                raise HostParseError(path, line, "a line of key and sub=value pairs")
            values[key] = value
        found[words[0]] = values
    return found


def parse_words(raw: bytes, path: str) -> tuple[str, ...]:
    """Blank-separated words, as in `cgroup.controllers`. Raises HostParseError for bytes that are no text."""
    return tuple(_text(raw, path).split())


def parse_colon_keyed(raw: bytes, path: str) -> dict[str, str]:
    """Lines of `key: value`, as in `/proc/meminfo` and `/proc/self/status`; other lines are passed over.

    Raises HostParseError for bytes that are no text.
    """
    pairs = (line.partition(":") for line in _text(raw, path).splitlines())
    return {key.strip(): value.strip() for key, colon, value in pairs if colon}


def parse_pressure(raw: bytes, path: str) -> Pressure:
    """A PSI file. Raises HostParseError when no line is of the form `some avg10=0.00 avg60=0.00 avg300=0.00 total=0`.

    Source: Linux Documentation/accounting/psi.rst; irq.pressure has a `full` line only, cpu.pressure before 5.13
    `some` only.
    """
    words = raw.split()
    some = full = None
    try:
        for at in range(0, len(words), 5):
            name, avg10, avg60, avg300, total = words[at : at + 5]
            line = PsiLine(
                avg10_pct=float(avg10[6:]),
                avg60_pct=float(avg60[6:]),
                avg300_pct=float(avg300[7:]),
                total_us=int(total[6:]),
            )
            if avg10[:6] != b"avg10=" or total[:6] != b"total=":
                raise ValueError
            if name == b"some":
                some = line
            elif name == b"full":
                full = line
            else:
                raise ValueError
    except ValueError:
        raise HostParseError(path, raw[:80], "a pressure file") from None
    if some is None and full is None:
        raise HostParseError(path, raw[:80], "a pressure file")
    return Pressure(some=some, full=full)


def _text(raw: bytes, path: str) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise HostParseError(path, raw[:40], "text") from None
