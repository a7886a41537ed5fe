"""Kubernetes resource quantities.

Grammar: a signed decimal number, then a binary suffix (Ki … Ei), a decimal one (n u m k M G T P E) or an exponent
(e3, E-2).
Source: k8s.io/apimachinery/pkg/api/resource, quantity.go (grammar, rounding up, the cap at 2^63-1).
"""

from __future__ import annotations

import re
from typing import Final

MAX_VALUE: Final = 2**63 - 1
MAX_LENGTH: Final = 64

_GRAMMAR: Final = re.compile(
    r"(?P<sign>[+-]?)(?P<whole>[0-9]*)(?:\.(?P<part>[0-9]*))?(?:(?P<suffix>[KMGTPE]i|[numkMGTPE]?)|[eE](?P<exp>[+-]?[0-9]+))"
)
_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_BEYOND: Final = 200
"""A power of ten that no 64-character number brings back into range."""


def parse_quantity(text: str | int | float, thousandths: bool = False) -> int:
    """The quantity as an integer, rounded up (away from zero, as Kubernetes does), capped at ±(2^63-1).

    Args:
        text: as the API writes it.
        thousandths: count in thousandths (CPU millicores) instead of units.

    Raises:
        ValueError: it is no quantity.
    """
    shown = str(text)
    found = _GRAMMAR.fullmatch(shown) if len(shown) <= MAX_LENGTH else None
    if found is None or not (found["whole"] or found["part"]):
        raise ValueError(f"cannot read {shown[:MAX_LENGTH]!r} as a resource quantity")
    part = found["part"] or ""
    digits = int(found["whole"] + part)
    shift = 3 * thousandths - len(part)
    suffix = found["suffix"] or ""
    if suffix in _BINARY:
        digits <<= _BINARY[suffix]
    else:
        shift += int(found["exp"]) if found["exp"] else _DECIMAL[suffix]
    value = min(_scaled(digits, shift), MAX_VALUE)
    return -value if found["sign"] == "-" else value


def _scaled(digits: int, power: int) -> int:
    if digits == 0:
        return 0
    if power > _BEYOND:
        return MAX_VALUE
    if power < -_BEYOND:
        return 1
    factor: int = 10 ** abs(power)
    return digits * factor if power >= 0 else -(-digits // factor)


def parse_cpu_milli(text: str | int | float) -> int:
    """CPU in thousandths of a core: "100m" → 100, "0.5" → 500. Raises ValueError."""
    return parse_quantity(text, thousandths=True)


def parse_memory_bytes(text: str | int | float) -> int:
    """Memory in bytes: "1Gi" → 1073741824, "1e3" → 1000. Raises ValueError."""
    return parse_quantity(text)
