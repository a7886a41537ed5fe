"""Where a figure was measured, and how figures are printed. Shared by all benches."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Iterable
from pathlib import Path

import msgspec


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """The machine and the moment. A load above the number of CPUs makes every figure pessimistic."""

    kernel: str
    cpu: str
    cpus: int
    python: str
    load_1min: float
    date: str

    def line(self) -> str:
        """One line for people."""
        return (
            f"{self.cpu} x {self.cpus}, Linux {self.kernel}, Python {self.python}, "
            f"load {self.load_1min:.2f}, {self.date}"
        )


def this_machine() -> Machine:
    """This machine, now."""
    return Machine(
        kernel=platform.release(),
        cpu=_cpu_model(),
        cpus=os.cpu_count() or 1,
        python=platform.python_version(),
        load_1min=round(os.getloadavg()[0], 2),
        date=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def _cpu_model() -> str:
    """x86 names the model in cpuinfo; arm64 gives numbers only."""
    for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            return value.strip()
    return platform.machine()


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One figure. `target` is the most it may be, None for one that is only reported."""

    name: str
    value: float
    unit: str
    target: float | None = None
    note: str = ""

    @property
    def ok(self) -> bool:
        """Whether the target holds."""
        return self.target is None or self.value <= self.target

    def line(self) -> str:
        """One line for people."""
        verdict = "" if self.target is None else f"<= {self.target:g}  {'ok' if self.ok else 'MISSED'}"
        return f"{self.name:<26} {self.value:>9.3f} {self.unit:<6} {verdict:<16} {self.note}".rstrip()


def print_rows(title: str, rows: Iterable[Row], machine: Machine, *, as_json: bool) -> None:
    """Prints the figures: a table, or one JSON object with the figures by name and the machine."""
    rows = tuple(rows)
    if as_json:
        found: dict[str, object] = {row.name: round(row.value, 3) for row in rows}
        found["targets_missed"] = [row.name for row in rows if not row.ok]
        found["machine"] = msgspec.to_builtins(machine)
        print(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())
        return
    print(f"{title}\n{machine.line()}\n")
    for row in rows:
        print(row.line())
