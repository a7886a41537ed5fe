"""Every parser against any bytes: our error or the value that a slow reader finds, nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, example, given, settings

from fuyaod.errors import HostFileError, HostParseError
from fuyaod.hostfs import HostRoot
from fuyaod.hostfs.parse import (
    parse_colon_keyed,
    parse_flat_keyed,
    parse_nested_keyed,
    parse_pressure,
    parse_words,
)
from fuyaod.model.pressure import Pressure, PsiLine

PSI = b"some avg10=1.50 avg60=0.42 avg300=100.00 total=123456\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=12\n"
CPU_STAT = b"usage_usec 123\nuser_usec 45\nsystem_usec 78\n"
IO_STAT = b"8:0 rbytes=1 wbytes=2\n7:7 7:6 7:5 rbytes=3\n"
NUMBERS = [b"nan", b"inf", b"-1", b"-0.5", b"1e5", b"1_0", b"+1", b"9" * 20, b"9" * 21, b"9" * 5000, "٣".encode(), b""]


@st.composite
def near(draw: st.DrawFn, sample: bytes) -> bytes:
    """The sample with a piece cut out, put in or taken from elsewhere."""
    text = bytearray(sample)
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(text)))
        until = draw(st.integers(at, min(len(text), at + 12)))
        text[at:until] = draw(st.one_of(st.binary(max_size=3), st.sampled_from(NUMBERS), st.just(bytes(text[:30]))))
    return bytes(text)


def any_bytes(sample: bytes) -> st.SearchStrategy[bytes]:
    return st.one_of(near(sample), st.binary(max_size=60), st.integers(0, len(sample)).map(lambda end: sample[:end]))


def ascii_number(text: bytes, most_digits: int) -> bool:
    return 0 < len(text) <= most_digits and all(48 <= byte <= 57 for byte in text)


def slow_lines(raw: bytes) -> list[bytes] | None:
    """Lines without their ends; the last may lack its newline. None when one is empty."""
    lines = raw.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    return None if b"" in lines else lines


def slow_share(word: bytes, name: bytes) -> float | None:
    head, equals, number = word.partition(b"=")
    whole, dot, decimals = number.partition(b".")
    if (head, equals, dot, len(decimals)) != (name, b"=", b".", 2):
        return None
    if not ascii_number(whole, 3) or not ascii_number(decimals, 2):
        return None
    return int(whole) + int(decimals) / 100


def slow_pressure(raw: bytes) -> Pressure | None:
    lines = slow_lines(raw) if raw.endswith(b"\n") else None
    found: dict[bytes, PsiLine] = {}
    for line in lines or []:
        words = line.split(b" ")
        if len(words) != 5 or words[0] not in (b"some", b"full") or words[0] in found or b"full" in found:
            return None
        shares = [
            slow_share(word, name) for word, name in zip(words[1:4], (b"avg10", b"avg60", b"avg300"), strict=True)
        ]
        head, _, total = words[4].partition(b"=")
        if None in shares or head != b"total" or not ascii_number(total, 19):
            return None
        ten, sixty, three_hundred = (share for share in shares if share is not None)
        found[words[0]] = PsiLine(avg10_pct=ten, avg60_pct=sixty, avg300_pct=three_hundred, total_us=int(total))
    return Pressure(some=found.get(b"some"), full=found.get(b"full")) if lines and found else None


@given(any_bytes(PSI))
@example(PSI)
@example(PSI[:-1])
@example(PSI.splitlines(keepends=True)[0])
@example(PSI.splitlines(keepends=True)[1])
@example(PSI.replace(b"1.50", b"nan"))
@example(PSI.replace(b"1.50", b"-1.50"))
@example(PSI.replace(b"123456", b"1_0"))
@example(PSI.replace(b"123456", b"9" * 19))
@example(PSI.replace(b"123456", b"9" * 20))
@example(PSI.replace(b"\n", b"", 1))
@example(PSI + PSI)
@example(b"")
@example(b"\n")
def test_pressure_of_anything_agrees_with_the_slow_reader(raw: bytes) -> None:
    expected = slow_pressure(raw)

    if expected is None:
        with pytest.raises(HostParseError, match=r"cannot read p: .* is not a pressure file"):
            parse_pressure(raw, "p")
    else:
        assert parse_pressure(raw, "p") == expected


def slow_flat_keyed(raw: bytes) -> dict[bytes, int] | None:
    lines = slow_lines(raw)
    if lines is None:
        return None
    found: dict[bytes, int] = {}
    for line in lines:
        key, space, number = line.partition(b" ")
        printable = key and all(33 <= byte <= 126 for byte in key)
        if not printable or not space or not ascii_number(number, 20) or key in found:
            return None
        found[key] = int(number)
    return found


@given(any_bytes(CPU_STAT))
@example(CPU_STAT)
@example(CPU_STAT[:-1])
@example(b"")
@example(b"a 1\na 2\n")
@example(b"a 1 b\n2\n")
@example(b"a 1\n\nb 2\n")
@example(b"a -1\n")
@example(b"a 1_0\n")
@example(b"a " + b"9" * 21)
@example(b"a " + b"9" * 21 + b"\nb 1\n")
@example(b"a " + b"9" * 20 + b"\nb " + b"9" * 20)
@example(b"a 1.5\n")
@example(b"a\n")
def test_flat_keyed_of_anything_agrees_with_the_slow_reader(raw: bytes) -> None:
    expected = slow_flat_keyed(raw)

    if expected is None:
        with pytest.raises(HostParseError, match=r"cannot read p: .* is not lines of key and number"):
            parse_flat_keyed(raw, "p")
    else:
        assert parse_flat_keyed(raw, "p") == expected


def slow_nested_keyed(raw: bytes) -> dict[str, dict[str, str]] | None:
    found: dict[str, dict[str, str]] = {}
    for line in raw.split(b"\n"):
        try:
            words = line.decode().split()
        except UnicodeDecodeError:
            return None
        keys = [word for word in words if "=" not in word]
        pairs = [word.split("=", 1) for word in words if "=" in word]
        bad_order = words != keys + ["=".join(pair) for pair in pairs]
        if bad_order or (pairs and not keys) or len({key for key, _ in pairs}) < len(pairs):
            return None
        for key in keys:
            if key in found:
                return None
            found[key] = {}
        if pairs:
            found[keys[-1]] = dict(pairs)
    return found


@given(any_bytes(IO_STAT))
@example(IO_STAT)
@example(b"252:0 ")
@example(b"8:0 rbytes=1 8:1 rbytes=2\n")
@example(b"8:0 rbytes=1 rbytes=2\n")
@example(b"rbytes=1\n")
@example(b"8:0 rbytes=1\n8:0 rbytes=2\n")
@example(b"\xff\n")
def test_nested_keyed_of_anything_agrees_with_the_slow_reader(raw: bytes) -> None:
    expected = slow_nested_keyed(raw)

    if expected is None:
        with pytest.raises(HostParseError, match="cannot read p: "):
            parse_nested_keyed(raw, "p")
    else:
        assert parse_nested_keyed(raw, "p") == expected


@given(any_bytes(b"MemTotal:       123 kB\nMemFree: 1 kB\n"))
@example("A: b\x85c\n".encode())
@example(b"\xff: 1\n")
def test_colon_keyed_and_words_of_anything_are_text_or_our_error(raw: bytes) -> None:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        for parse in (parse_colon_keyed, parse_words):
            with pytest.raises(HostParseError, match="is not text"):
                parse(raw, "p")
        return
    keyed = {}
    for line in re.split("\n", text):
        if ":" in line:
            key, value = line.split(":", 1)
            keyed[key.strip()] = value.strip()
    assert parse_colon_keyed(raw, "p") == keyed
    assert parse_words(raw, "p") == tuple(text.split())


FILE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@FILE
@given(raw=any_bytes(b"-12345\n"))
@example(raw=b"0x1f\n")
@example(raw=b"0X1F")
@example(raw=b"-0x1f")
@example(raw=b"1_0")
@example(raw=b"+1")
@example(raw=b"9" * 20)
@example(raw=b"9" * 21)
@example(raw=b"0x" + b"f" * 17)
@example(raw=b"0x")
@example(raw=b"nan")
@example(raw="٣".encode())
@example(raw=b"1\n2\n")
@example(raw=b"")
def test_read_int_of_anything_is_the_number_or_our_error(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "file").write_bytes(raw)
    host = HostRoot(tmp_path)
    text = raw.decode(errors="replace").strip()
    decimal = re.fullmatch(r"-?[0-9]{1,20}", text)
    hexed = re.fullmatch(r"0[xX][0-9a-fA-F]{1,16}", text)

    if decimal or hexed:
        assert host.read_int("file") == (int(text, 16) if hexed else int(text))
    else:
        with pytest.raises((HostParseError, HostFileError), match="cannot read"):
            host.read_int("file")
