"""Arbitrary facts: every field of every record takes any value of its type."""

from __future__ import annotations

import enum
import types
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgspec
from hypothesis import strategies as st

from fuyaod.model.cpuset import MAX_ID, CpuSet

INTERESTING = st.sampled_from([-1, 0, 1, 2, 3, 4, 100, 250, 65536, 1 << 30, 0xD803, 0x10DE, 0xEFFFFFFC])
WORDS = st.sampled_from(["", "none", "static", "systemd", "tsc", "always", "off", "aarch64", "openEuler", "6.3", "cpu"])


def values(hint: Any) -> st.SearchStrategy[Any]:
    """Values of one annotation as it is used in `fuyaod.model`."""
    if hint is int:
        return st.integers(-(1 << 63), (1 << 63) - 1) | INTERESTING
    if hint is str:
        return WORDS | st.text(max_size=8)
    if hint is CpuSet:
        return st.sets(st.integers(0, 9) | st.integers(0, MAX_ID), max_size=6).map(CpuSet)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return st.sampled_from(hint)
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return records(hint)
    return compound(hint)


def compound(hint: Any) -> st.SearchStrategy[Any]:
    """Values of a union, tuple or dict."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return st.one_of(*map(values, arguments))
    if origin is tuple:
        return st.lists(values(arguments[0]), max_size=3).map(tuple)
    if origin is dict:
        return st.dictionaries(values(arguments[0]), values(arguments[1]), max_size=3)
    return st.from_type(hint)


def records(kind: type[Any]) -> st.SearchStrategy[Any]:
    """Records of one class."""
    return st.builds(kind, **{name: values(hint) for name, hint in get_type_hints(kind).items()})
