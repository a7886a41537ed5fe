"""CPU lists and masks: what the kernel writes, and the odd forms that it takes."""

from __future__ import annotations

import re

import hypothesis.strategies as st
import pytest
from hypothesis import example, given

from fuyaod.errors import HostParseError
from fuyaod.hostfs.parse import parse_mask
from fuyaod.model import CpuSet
from fuyaod.model.cpuset import MAX_ID
from fuyaod.model.values import parse_cpulist

numbers = st.integers(0, MAX_ID)
sets = st.one_of(
    st.sets(numbers, max_size=40),
    st.tuples(numbers, numbers).map(lambda ends: set(range(min(ends), max(ends) + 1))),
    st.integers(1, 8192).map(lambda count: set(range(count))),
    st.integers(1, 8192).map(lambda count: set(range(0, count, 2))),
)


def kernel_list(members: set[int]) -> str:
    """Written the slow way, as `%*pbl` prints it."""
    runs: list[list[int]] = []
    for member in sorted(members):
        if runs and member == runs[-1][-1] + 1:
            runs[-1].append(member)
        else:
            runs.append([member])
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def kernel_mask(members: set[int], bits: int) -> str:
    """As `%*pb` prints it: 32-bit words, as many as `bits` CPUs take, the highest one only as wide as needed."""
    words = []
    for start in range(0, bits, 32):
        width = min(32, bits - start)
        word = sum(1 << (cpu - start) for cpu in range(start, start + width) if cpu in members)
        words.append(f"{word:0{(width + 3) // 4}x}")
    return ",".join(reversed(words))


@given(sets)
def test_cpulist_that_the_kernel_writes_is_read_back(members: set[int]) -> None:
    text = kernel_list(members)

    parsed = parse_cpulist(text + "\n")

    assert set(parsed) == members
    assert len(parsed) == len(members)
    assert str(parsed) == text


@given(sets, st.sampled_from([1, 2, 31, 32, 33, 64, 96, 128, 1024, 8192]))
def test_mask_that_the_kernel_writes_is_read_back(members: set[int], bits: int) -> None:
    fitting = {member for member in members if member < bits}

    assert set(parse_mask(kernel_mask(fitting, bits) + "\n", "p")) == fitting


@given(sets)
def test_mask_of_one_word_with_0x_is_read_back(members: set[int]) -> None:
    assert set(parse_mask(f"0x{CpuSet(members).mask:x}", "p")) == members


def item_members(first: int, last: int | None, group: tuple[int, int] | None) -> set[int]:
    """What lib/bitmap-str.c sets for one item, number by number."""
    if last is None:
        return {first}
    used, size = group or (1, 1)
    return {cpu for cpu in range(first, last + 1) if (cpu - first) % size < used}


@st.composite
def items(draw: st.DrawFn) -> tuple[str, set[int]]:
    first = draw(numbers)
    if draw(st.booleans()):
        return str(first), item_members(first, None, None)
    last = draw(st.integers(first, MAX_ID))
    if draw(st.booleans()):
        return f"{first}-{last}", item_members(first, last, None)
    size = draw(st.integers(1, 9000))
    used = draw(st.integers(0, size))
    return f"{first}-{last}:{used}/{size}", item_members(first, last, (used, size))


separators = st.sampled_from([",", ",,", " ", ", ", "\n", " , ", "\t,"])


@given(st.lists(items(), max_size=8), separators, st.sampled_from(["", " ", "\n", ","]))
@example([("1", {1}), ("0", {0})], ",", "")
@example([("0", {0}), ("1", {1})], ",,", "")
@example([("2", {2})], ",", " ")
@example([("0-3:1/2", {0, 2})], ",", "")
@example([("7", {7})] * 256, ",", "")
def test_cpulist_odd_form_means_what_the_kernel_makes_of_it(
    parts: list[tuple[str, set[int]]], separator: str, around: str
) -> None:
    text = around + separator.join(part for part, _ in parts) + around

    assert set(parse_cpulist(text)) == set().union(*(members for _, members in parts))


NUMBER = r"[0-9]{1,5}"
ITEM = re.compile(rf"({NUMBER})(?:-({NUMBER})(?::({NUMBER})/({NUMBER}))?)?")


def slow_cpulist(text: str) -> set[int] | None:
    """The reference: None for what is refused."""
    members: set[int] = set()
    for part in re.split(r"[,\s]+", text):
        if not part:
            continue
        match = ITEM.fullmatch(part)
        if match is None:
            return None
        first, last, used, size = (None if digits is None else int(digits) for digits in match.groups())
        assert first is not None
        end = first if last is None else last
        if first > end or end > MAX_ID or (used is not None and size is not None and (size == 0 or used > size)):
            return None
        members |= item_members(first, last, None if used is None or size is None else (used, size))
    return members


@given(st.one_of(st.text(alphabet="0123456789-,:/ \n", max_size=24), st.text(max_size=12)))
@example("0-3:")
@example("0-")
@example("-1")
@example("3-1")
@example("0-3:1/0")
@example("0-3:0/0")
@example("0-3:0/1")
@example("0-3:3/2")
@example("8192")
@example("0-8192")
@example("1 - 3")
@example("٣")
@example("1_0")
@example("+1")
@example("999999")
def test_cpulist_of_anything_agrees_with_the_slow_reader(text: str) -> None:
    expected = slow_cpulist(text)

    if expected is None:
        with pytest.raises(ValueError, match="cannot"):
            parse_cpulist(text)
    else:
        assert set(parse_cpulist(text)) == expected


@given(st.one_of(st.text(alphabet="0123456789abcdefABCDEFx,", max_size=30), st.text(max_size=12)))
@example("")
@example("0x")
@example("1,")
@example("123456789,1")
@example("0x_1")
@example("-1")
@example("f" * 2048)
@example("1" + "0" * 2048)
@example("0," * 300 + "1")
@example("0," * 3000 + "1")
def test_mask_of_anything_agrees_with_the_slow_reader(text: str) -> None:
    expected = slow_mask(text)

    if expected is None:
        with pytest.raises(HostParseError, match="cannot read p"):
            parse_mask(text, "p")
    else:
        assert set(parse_mask(text, "p")) == expected


def slow_mask(text: str) -> set[int] | None:
    stripped = text.strip(" \n\t").removeprefix("0x")
    words = stripped.split(",")
    digits = set("0123456789abcdefABCDEF")
    if len(stripped) > 4096 or not all(word and set(word) <= digits for word in words):
        return None
    if len(words) > 1 and any(len(word) > 8 for word in words):
        return None
    members = set()
    for place, word in enumerate(reversed(words)):
        bits = int(word, 16)
        members |= {32 * place + bit for bit in range(bits.bit_length()) if bits >> bit & 1}
    return None if members and max(members) > MAX_ID else members


@given(sets, sets)
def test_cpuset_algebra_is_that_of_sets(one: set[int], other: set[int]) -> None:
    a, b = CpuSet(one), CpuSet(other)

    assert set(a & b) == one & other
    assert set(a | b) == one | other
    assert set(a - b) == one - other
    assert (a <= b) == (one <= other)
    assert (a == b) == (one == other)
    assert bool(a) == bool(one)
    assert all((number in a) == (number in one) for number in (*list(other)[:50], 0, MAX_ID, MAX_ID + 1, -1))
    assert hash(CpuSet(list(one)[::-1])) == hash(a)


@pytest.mark.parametrize("members", [[-1], [MAX_ID + 1], [0, 10**9]])
def test_cpuset_number_out_of_range_is_refused(members: list[int]) -> None:
    with pytest.raises(ValueError, match="cannot hold CPU"):
        CpuSet(members)
