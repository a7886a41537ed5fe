"""Regular expressions that mean the same in every Python that the project runs on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import cluster
import fuyaod

POSSESSIVE_GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{\d*,?\d*\})\+")
"""A possessive quantifier over a group: matched wrongly before Python 3.11.5, and Debian 12 has 3.11.2.
Source: python/cpython#100061 and #106052."""


def _texts(source: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
            text = node.value.decode("latin-1") if isinstance(node.value, bytes) else node.value
            yield node.lineno, text


@pytest.mark.parametrize("package", [fuyaod, cluster], ids=lambda package: str(package.__name__))
def test_patterns_have_no_possessive_quantifier_over_a_group(package: object) -> None:
    folder = Path(str(package.__file__)).parent  # type: ignore[attr-defined]
    modules = sorted(folder.rglob("*.py"))

    found = [
        f"{module.relative_to(folder)}:{line}"
        for module in modules
        for line, text in _texts(module.read_text())
        if POSSESSIVE_GROUP.search(text)
    ]

    assert modules
    assert found == [], "write (?>(...)*) in place of (...)*+"


@pytest.mark.parametrize("pattern", [r"(?:ab?c)*+", r"(a)++b", r"(a|b)?+", r"(a){2,}+", r"(a){3}+"])
def test_possessive_group_is_recognised(pattern: str) -> None:
    assert POSSESSIVE_GROUP.search(pattern)


@pytest.mark.parametrize("pattern", [r"[^\n]*+\n", r"(?>(?:ab?c)*)", r"(a)+b", r"\)++", r"(a){3}b+"])
def test_other_patterns_are_not_taken_for_one(pattern: str) -> None:
    assert POSSESSIVE_GROUP.search(pattern) is None
