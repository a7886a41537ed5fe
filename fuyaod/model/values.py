"""The base of every value, and how values become JSON and back."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from fuyaod.model.cpuset import CpuSet

T = TypeVar("T")


class Value(msgspec.Struct, frozen=True, gc=False):
    """An immutable record. Subclasses add `frozen=True, kw_only=True` (msgspec does not inherit `kw_only`).

    Without cyclic garbage collection: a frozen value can only refer to what was made before it, and a snapshot of 600
    groups has several thousand values that a collection would walk.
    """


def _encode_other(value: object) -> str:
    if isinstance(value, CpuSet):
        return str(value)
    raise NotImplementedError(f"cannot encode a {type(value).__name__}")


def _decode_other(kind: type[Any], raw: object) -> object:
    if kind is not CpuSet:
        raise NotImplementedError(f"cannot decode a {kind.__name__}")
    if not isinstance(raw, str):
        raise TypeError(f"cannot read {raw!r} as a CPU list")  # msgspec makes a ValidationError with the path of it
    return parse_cpulist(raw)


def encode(value: object) -> bytes:
    """The value as compact JSON; a `CpuSet` becomes its list format."""
    return msgspec.json.encode(value, enc_hook=_encode_other)


def encode_pretty(value: object) -> bytes:
    """The value as indented JSON for people and files under version control."""
    return msgspec.json.format(encode(value), indent=2)


def decode(raw: bytes | str, kind: type[T], *, strict: bool = True) -> T:
    """The value that `encode` made. Raises msgspec.ValidationError naming the path, msgspec.DecodeError on bad JSON."""
    return msgspec.json.decode(raw, type=kind, dec_hook=_decode_other, strict=strict)


def convert(raw: object, kind: type[T], *, strict: bool = True) -> T:
    """Plain dicts and lists (from TOML) as a value. Raises msgspec.ValidationError naming the path."""
    return msgspec.convert(raw, kind, dec_hook=_decode_other, strict=strict)


def to_builtins(value: object) -> Any:
    """The value as plain dicts, lists, strings and numbers."""
    return msgspec.to_builtins(value, enc_hook=_encode_other)


def parse_cpulist(text: str) -> CpuSet:
    """A kernel list such as `"0-3,8,16-31:2/4"` as a set; an empty text is the empty set.

    Accepts what the kernel accepts: blanks, commas or both between items, empty items, repeats, any order, and groups
    `a-b:used/size` (of each `size` numbers the first `used`); not the words `all` and `N`, which no kernel file holds.

    Raises:
        ValueError: an item is no number or range, a range runs backwards, or a number is above `MAX_ID`.

    Source: Linux lib/bitmap-str.c, bitmap_parselist().
    """
    mask = 0
    for item in text.replace(",", " ").split():
        mask |= _parse_item(item)
    return CpuSet.from_mask(mask)


def _parse_item(item: str) -> int:
    span, colon, group = item.partition(":")
    first_text, dash, last_text = span.partition("-")
    first = _number(first_text, item)
    last = _number(last_text, item) if dash else first
    whole = CpuSet.from_range(first, last).mask
    if not colon:
        return whole
    used_text, slash, size_text = group.partition("/")
    used, size = _number(used_text, item), _number(size_text, item)
    if not slash or not dash or not 0 <= used <= size or size == 0:
        raise ValueError(f"cannot read {item!r} as a group of CPU numbers (first-last:used/size)")
    groups = (last - first) // size + 1
    starts = ((1 << size * groups) - 1) // ((1 << size) - 1)  # bits 0, size, 2 * size, ...
    return (starts * ((1 << used) - 1) << first) & whole


def _number(text: str, item: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 5):
        raise ValueError(f"cannot read {item!r} as CPU numbers")
    return int(text)
