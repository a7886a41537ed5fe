"""The last snapshot, and when the loop that makes them last came round."""

from __future__ import annotations

from fuyaod.model.snapshot import NodeSnapshot


class Latest:
    """Holder that one loop writes and every face reads; all on one event loop, so without a lock.

    Attributes:
        snapshot: the last one, None before the first.
        tick_ns: when the observing loop last came round, with or without success (monotonic nanoseconds).
    """

    def __init__(self, now_ns: int) -> None:
        self.snapshot: NodeSnapshot | None = None
        self.tick_ns = now_ns

    def get(self) -> NodeSnapshot | None:
        """The last snapshot."""
        return self.snapshot

    def last_tick_ns(self) -> int:
        """When the loop last came round."""
        return self.tick_ns
