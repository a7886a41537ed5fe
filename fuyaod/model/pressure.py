"""Pressure stall information (PSI). Source: Linux Documentation/accounting/psi.rst."""

from __future__ import annotations

from fuyaod.model.values import Value


class PsiLine(Value, frozen=True, kw_only=True):
    """One line of a pressure file: shares of wall time in percent, and total stall time in microseconds since boot."""

    avg10_pct: float
    avg60_pct: float
    avg300_pct: float
    total_us: int


class Pressure(Value, frozen=True, kw_only=True):
    """One pressure file. `some`: at least one task stalled (None for irq, which has `full` alone); `full`: all did
    (None before 5.13 for cpu)."""

    some: PsiLine | None
    full: PsiLine | None


class SystemPressure(Value, frozen=True, kw_only=True):
    """`/proc/pressure/*`; a resource is None where the kernel has no file or refuses to read it (EOPNOTSUPP)."""

    cpu: Pressure | None
    memory: Pressure | None
    io: Pressure | None
    irq: Pressure | None
