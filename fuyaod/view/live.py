"""The one-screen live view. The only user of textual, which is there with the extra `top`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.containers import Grid, VerticalScroll
from textual.widgets import Footer, Static

from fuyaod.model.findings import Finding
from fuyaod.model.snapshot import NodeSnapshot
from fuyaod.view.rates import group_rates
from fuyaod.view.screens import (
    class_table,
    device_table,
    finding_lines,
    headline,
    numa_table,
    pressure_table,
    source_table,
    workload_table,
    workloads,
)
from fuyaod.view.table import Table, render
from fuyaod.view.text import printable

REFRESH_S = 1.0
PANES = ("pressure", "classes", "workloads", "numa", "devices", "findings")


class LiveView(App[None]):
    """Shows the last snapshot once a second until the user quits.

    Args:
        latest: the last snapshot, None before the first.
        capabilities: findings about the node that were made at start.
        log_tail: the last log lines, oldest first.
        places: where `/metrics` and the socket are, one line.
    """

    TITLE = "fuyaod"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (130, "-wide")]
    BINDINGS: ClassVar[list[BindingType]] = [("q", "quit", "Quit"), ("ctrl+c", "quit", "Quit")]
    CSS = """
    #head { height: 2; padding: 0 1; color: $accent; text-wrap: nowrap; text-overflow: ellipsis; }
    Grid { grid-size: 2; grid-columns: 1fr 1fr; grid-rows: auto 1fr 1fr; height: 1fr; }
    Screen.-narrow Grid { grid-size: 1; grid-rows: auto; grid-columns: 1fr; overflow-y: auto; }
    Screen.-narrow .pane { height: auto; }
    .pane { border: round $primary; padding: 0 1; }
    .pane Static { text-wrap: nowrap; text-overflow: ellipsis; }
    .pane #findings { text-wrap: wrap; }
    #log { height: 5; border: round $secondary; padding: 0 1; }
    """

    def __init__(
        self,
        latest: Callable[[], NodeSnapshot | None],
        capabilities: Sequence[Finding],
        log_tail: Callable[[], Sequence[str]],
        places: str,
    ) -> None:
        super().__init__()
        self._latest = latest
        self._capabilities = tuple(capabilities)
        self._log_tail = log_tail
        self._places = places
        self._shown: NodeSnapshot | None = None

    def compose(self) -> ComposeResult:
        """Head, six panes, the last log lines, the keys."""
        yield Static("waiting for the first snapshot", id="head", markup=False)
        with Grid():
            for name in PANES:
                with VerticalScroll(classes="pane", id=f"pane-{name}"):
                    yield Static("", id=name, markup=False)
        yield Static("", id="log", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        """Starts the refresh."""
        self.set_interval(REFRESH_S, self.refresh_panes)
        self.refresh_panes()

    def refresh_panes(self) -> None:
        """Draws the last snapshot."""
        self._write("log", "\n".join(map(printable, list(self._log_tail())[-3:])))
        now = self._latest()
        if now is None or now is self._shown:
            return
        before, self._shown = self._shown, now
        self._write("head", self._places + "\n" + headline(now, before))
        for name, tables in _panes(now, before).items():
            self._write(name, render(tables))
        self._write("findings", finding_lines((*now.findings, *self._capabilities)))

    def _write(self, name: str, text: str) -> None:
        self.query_one(f"#{name}", Static).update(text)


def _panes(now: NodeSnapshot, before: NodeSnapshot | None) -> dict[str, tuple[Table, ...]]:
    rows = tuple(workloads(now, group_rates(before, now)))
    return {
        "pressure": (pressure_table(now),),
        "classes": (class_table(rows),),
        "workloads": (workload_table(rows, 50),),
        "numa": (numa_table(now),),
        "devices": (device_table(now), source_table(now)),
    }
