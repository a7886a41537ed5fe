"""What a reader of the table yields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fuyaod.model.pressure import Pressure, PsiLine

Row = tuple[tuple[str, ...], float]
"""Label values in the table's order, and the value."""


def row(value: float | None, *labels: str) -> Iterator[Row]:
    """One row, or none where the value is not known."""
    if value is not None:
        yield labels, float(value)


def label(value: object) -> str:
    """A label value; None is the empty string, which Prometheus treats as absent."""
    return "" if value is None else str(value)


def stall_rows(pressures: Iterable[tuple[str, Pressure | None]], *labels: str) -> Iterator[Row]:
    """Stall seconds of each resource and kind, behind the given labels."""
    for resource, pressure in pressures:
        for kind, line in psi_lines(pressure):
            yield (*labels, resource, kind), line.total_us / 1e6


def psi_lines(pressure: Pressure | None) -> Iterator[tuple[str, PsiLine]]:
    """The lines that a pressure file has, with their names."""
    if pressure is None:
        return
    if pressure.some is not None:
        yield "some", pressure.some
    if pressure.full is not None:
        yield "full", pressure.full
