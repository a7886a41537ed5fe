"""How long to leave a server alone that failed."""

from __future__ import annotations

from random import Random
from typing import Final

FIRST_S: Final = 0.8
LAST_S: Final = 30.0
"""Source: the back-off of client-go's reflector (0.8 s to 30 s)."""


class Backoff:
    """Exponential back-off with full jitter: anywhere between 0 and a ceiling that doubles up to 30 s.

    Args:
        random: source of the jitter.
    """

    def __init__(self, random: Random) -> None:
        self._random = random
        self._failures = 0

    def next_s(self) -> float:
        """Seconds to wait after one more failure."""
        ceiling_s = min(LAST_S, FIRST_S * 2**self._failures)
        self._failures = min(self._failures + 1, 16)
        return self._random.uniform(0, ceiling_s)

    def reset(self) -> None:
        """Begin anew after a success."""
        self._failures = 0
