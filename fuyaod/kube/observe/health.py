"""How the watch is doing, as a state with its beginning and its reason."""

from __future__ import annotations

from collections.abc import Callable

from fuyaod.errors import ApiServerError
from fuyaod.model.pods import SourceHealth, SourceKind, SourceState


class WatchHealth:
    """STARTING until the first list, then OK or STALE.

    Args:
        now_ns: monotonic clock.
    """

    def __init__(self, now_ns: Callable[[], int]) -> None:
        self._now_ns = now_ns
        self._state = SourceState.STARTING
        self._since_ns = now_ns()
        self._reason = "waiting for the API server's first answer"
        self._silent = False
        self._dropped = 0
        self._last: SourceHealth | None = None

    def now(self, details: tuple[str, ...]) -> SourceHealth:
        """The health with further `details`; the same value while nothing changes."""
        health = SourceHealth(
            kind=SourceKind.KUBERNETES,
            state=self._state,
            since_ns=self._since_ns,
            details=(self._reason, *details) if self._reason else details,
            dropped=self._dropped,
        )
        if health != self._last:
            self._last = health
        return self._last

    def answered(self) -> None:
        """The server sent something: what is known is current."""
        self._silent = False
        self._enter(SourceState.OK, "")

    def accepted(self) -> None:
        """The server accepted a watch, which counts unless the last one was accepted and then hung."""
        if not self._silent:
            self.answered()

    def failed(self, error: ApiServerError, silent: bool = False) -> None:
        """The server failed; what was known stays. `silent`: it had accepted and then sent nothing."""
        self._silent = self._silent or silent
        state = SourceState.STARTING if self._state is SourceState.STARTING else SourceState.STALE
        self._enter(state, str(error))

    def drop(self) -> None:
        """Count something that could not be understood."""
        self._dropped += 1

    def _enter(self, state: SourceState, reason: str) -> None:
        if state is not self._state:
            self._state, self._since_ns = state, self._now_ns()
        self._reason = reason
