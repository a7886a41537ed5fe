"""How a check says what it found. A check returns None when the facts tell nothing either way."""

from __future__ import annotations

from fuyaod.model.findings import Finding, FindingStatus


def ok(finding_id: str, summary: str) -> Finding:
    """As it should be."""
    return Finding(id=finding_id, status=FindingStatus.OK, summary=summary)


def degraded(finding_id: str, summary: str, *, cost: str, mend: str) -> Finding:
    """Works with a loss."""
    return Finding(id=finding_id, status=FindingStatus.DEGRADED, summary=summary, cost=cost, mend=mend)


def missing(finding_id: str, summary: str, *, cost: str, mend: str) -> Finding:
    """A capability is not there."""
    return Finding(id=finding_id, status=FindingStatus.MISSING, summary=summary, cost=cost, mend=mend)


def listed(items: tuple[str, ...] | list[str], most: int = 6) -> str:
    """Items with commas between them, the tail counted instead of shown."""
    shown = ", ".join(items[:most])
    return shown if len(items) <= most else f"{shown} and {len(items) - most} more"


def size(count: int) -> str:
    """Bytes in the largest unit that divides them, `2 MiB` or `64 KiB`."""
    for unit, shift in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if count >> shift and not count & ((1 << shift) - 1):
            return f"{count >> shift} {unit}"
    return f"{count} bytes"


def version_of(release: str | None) -> tuple[int, int] | None:
    """Major and minor number of a kernel release such as `6.6.0-72.0.0.64.oe2403.aarch64`, None for anything else."""
    major, _, rest = (release or "").partition(".")
    minor = rest[: len(rest) - len(rest.lstrip("0123456789"))]
    if not (major.isascii() and major.isdigit() and minor.isascii() and minor) or len(major) > 4 or len(minor) > 4:
        return None
    return int(major), int(minor)
