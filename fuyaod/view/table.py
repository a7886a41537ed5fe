"""A table as a value, and as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fuyaod.model.values import Value
from fuyaod.view.text import printable

GAP = "  "


class Table(Value, frozen=True, kw_only=True):
    """Rows of cells under a title. Columns whose name ends in `>` are aligned right (the mark is not shown).

    `empty` is said in place of rows where there are none.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    empty: str = "none"


def render(tables: Iterable[Table], width: int | None = None) -> str:
    """The tables as text, one below the other; lines are cut at `width` characters where one is given."""
    lines: list[str] = []
    for table in tables:
        lines += ["", table.title, *_body(table)]
    return "\n".join(_shown(line, width) for line in lines[1:])


def _shown(line: str, width: int | None) -> str:
    return printable(line if width is None or len(line) <= width else line[: width - 1] + "…")


def _body(table: Table) -> list[str]:
    if not table.rows:
        return [GAP + table.empty]
    right = [name.endswith(">") for name in table.columns]
    heads = tuple(name.removesuffix(">") for name in table.columns)
    widths = [max(len(row[i]) for row in (heads, *table.rows)) for i in range(len(heads))]
    return [GAP + _line(row, widths, right) for row in (heads, *table.rows)]


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = (c.rjust(w) if r else c.ljust(w) for c, w, r in zip(cells, widths, right, strict=True))
    return GAP.join(padded).rstrip()
