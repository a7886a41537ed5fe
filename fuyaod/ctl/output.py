"""What goes to standard output, and what is said on standard error meanwhile."""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import click

from fuyaod.view.text import printable

QUIET_FOR_S: Final = 1.0
"""Whoever waits longer is told for what."""


def terminal_width() -> int | None:
    """Characters per line of the terminal; None when standard output is none, so that nothing is cut."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def say(text: str) -> None:
    """One line for people on standard error."""
    click.echo(f"fuyaoctl: {printable(text)}", err=True)


@contextmanager
def progress(doing: str, expected_s: float = 0.0) -> Iterator[None]:
    """Says on standard error what is being done when it takes a second longer than the user asked for."""
    timer = threading.Timer(QUIET_FOR_S + expected_s, say, (f"{doing} ...",))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
