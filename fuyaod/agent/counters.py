"""What the agent counts about itself between snapshots."""

from __future__ import annotations

from collections import Counter


class AgentCounters:
    """Plain counters; the metrics table reads them at scrape time.

    Attributes:
        ticks: completed observations.
        tick_cpu_s: process CPU time they took, in seconds.
        tick_wall_s: wall time they took, in seconds.
        missed_ticks: ticks skipped because the one before took longer than the interval.
        loop_errors: unexpected exceptions caught at a loop's edge, by loop name.
        reloads: settings files by result (`taken`, `refused`).
    """

    def __init__(self) -> None:
        self.ticks = 0
        self.tick_cpu_s = 0.0
        self.tick_wall_s = 0.0
        self.missed_ticks = 0
        self.loop_errors: Counter[str] = Counter()
        self.reloads: Counter[str] = Counter()
