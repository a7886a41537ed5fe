"""Waiting for a pipe; select(2) knows no descriptor above 1023, and a test run may hold more."""

import select
from typing import Protocol


class HasFileno(Protocol):
    """A file."""

    def fileno(self) -> int:
        """Its descriptor."""
        ...


def readable(file: int | HasFileno, within_s: float = 30) -> bool:
    """Whether a file can be read, or ends, within a time."""
    poll = select.poll()
    poll.register(file, select.POLLIN)
    return bool(poll.poll(within_s * 1000))
