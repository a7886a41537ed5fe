"""Text of others on a terminal."""

from __future__ import annotations

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def printable(line: str) -> str:
    """The line with a mark in place of each character that is not printable, so that it stays as long as it was.

    Names of units, pods and processes are chosen by others: an escape sequence in one would steer the terminal.
    """
    return line if line.isprintable() else "".join(c if c.isprintable() else REPLACEMENT for c in line)
