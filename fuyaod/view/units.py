"""Numbers as people read them; what is not known is a dash."""

from __future__ import annotations

UNKNOWN = "-"
_STEPS = ("B", "KiB", "MiB", "GiB", "TiB")


def size(count: float | None) -> str:
    """Bytes with a binary unit: `1536` → `1.5 KiB`."""
    if count is None:
        return UNKNOWN
    for unit in _STEPS[:-1]:
        if abs(count) < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} {_STEPS[-1]}"


def cores(value: float | None) -> str:
    """CPU use in cores: `0.05`."""
    return UNKNOWN if value is None else f"{value:.2f}"


def percent(value: float | None) -> str:
    """A share that is already in percent."""
    return UNKNOWN if value is None else f"{value:.1f} %"


def word(value: object) -> str:
    """Any value as it is."""
    return UNKNOWN if value is None or value == "" else str(value)
