"""Resource quantities: the grammar, rounding, and agreement with exact arithmetic."""

from __future__ import annotations

import contextlib
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuyaod.kube.quantity import MAX_VALUE, parse_cpu_milli, parse_memory_bytes, parse_quantity

SUFFIXES = {
    "": Fraction(1),
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "k": Fraction(10**3),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "T": Fraction(10**12),
    "P": Fraction(10**15),
    "E": Fraction(10**18),
    "Ki": Fraction(2**10),
    "Mi": Fraction(2**20),
    "Gi": Fraction(2**30),
    "Ti": Fraction(2**40),
    "Pi": Fraction(2**50),
    "Ei": Fraction(2**60),
    "e3": Fraction(1000),
    "E-2": Fraction(1, 100),
    "e+1": Fraction(10),
}


@pytest.mark.parametrize(
    ("text", "milli"),
    [
        ("100m", 100),
        ("0.5", 500),
        ("1", 1000),
        ("1.5", 1500),
        ("2k", 2_000_000),
        ("1e3", 1_000_000),
        ("0.0001", 1),
        ("1u", 1),
        ("0", 0),
        (".5", 500),
        ("1.", 1000),
        ("+1", 1000),
        (2, 2000),
        (0.25, 250),
    ],
)
def test_cpu_is_counted_in_millicores_rounded_up(text: str | int | float, milli: int) -> None:
    assert parse_cpu_milli(text) == milli


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("128974848", 128_974_848),
        ("129e6", 129_000_000),
        ("129M", 129_000_000),
        ("128974848000m", 128_974_848),
        ("123Mi", 128_974_848),
        ("1Gi", 2**30),
        ("1.5Gi", 3 * 2**29),
        ("1Ki", 1024),
        ("1e3", 1000),
        ("1E3", 1000),
        ("12E", MAX_VALUE),
        ("7E", 7 * 10**18),
        ("1500m", 2),
        ("-1500m", -2),
        ("9223372036854775807", MAX_VALUE),
        ("9223372036854775808", MAX_VALUE),
        ("1e999999999", MAX_VALUE),
        ("1e-999999999", 1),
        ("0e999999999", 0),
    ],
)
def test_memory_is_counted_in_bytes_rounded_up_and_capped(text: str, size: int) -> None:
    assert parse_memory_bytes(text) == size


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "abc",
        "1 Gi",
        "1gi",
        "1K",
        "1kb",
        "Gi",
        ".",
        "-",
        "1e",
        "1e1.5",
        "12e",
        "1.2.3",
        "0x10",
        "1_000",
        "١",
        "1Gi\n",
        "9" * 65,
        "NaN",
        "inf",
        "1mm",
    ],
)
def test_text_that_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="cannot read"):
        parse_quantity(text)


@given(
    whole=st.integers(0, 10**12),
    part=st.text("0123456789", max_size=6),
    suffix=st.sampled_from(sorted(SUFFIXES)),
    negative=st.booleans(),
    thousandths=st.booleans(),
)
def test_quantity_agrees_with_exact_arithmetic(
    whole: int, part: str, suffix: str, negative: bool, thousandths: bool
) -> None:
    text = f"{'-' * negative}{whole}{'.' * bool(part)}{part}{suffix}"

    value = parse_quantity(text, thousandths=thousandths)

    exact = Fraction(f"{whole}.{part or 0}") * SUFFIXES[suffix] * (1000 if thousandths else 1)
    expected = min(math.ceil(exact), MAX_VALUE)
    assert value == (-expected if negative else expected)


@given(st.text(max_size=80))
def test_any_text_gives_a_number_or_a_value_error(text: str) -> None:
    with contextlib.suppress(ValueError):
        assert abs(parse_quantity(text)) <= MAX_VALUE
