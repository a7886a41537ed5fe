"""The daemon's loops. Each is one coroutine that runs until it is cancelled; what it needs is passed in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, Protocol

from fuyaod.agent.clock import Clock
from fuyaod.agent.counters import AgentCounters
from fuyaod.agent.latest import Latest
from fuyaod.agent.log import Logger
from fuyaod.agent.sdnotify import SystemdNotifier
from fuyaod.agent.settings_file import SettingsFile, needs_restart
from fuyaod.errors import SettingsError
from fuyaod.model.settings import Settings
from fuyaod.model.snapshot import NodeSnapshot

SETTINGS_POLL_S: Final = 2.0
"""A changed settings file is seen within this time; SIGHUP makes it at once."""


class Observer(Protocol):
    """What makes snapshots."""

    def observe(self, at_ns: int, wall_s: float) -> NodeSnapshot:
        """One look at the whole node."""
        ...


async def observe_forever(
    observer: Observer,
    latest: Latest,
    counters: AgentCounters,
    interval_ms: Callable[[], int],
    clock: Clock,
    log: Logger,
    after: Callable[[NodeSnapshot], None],
) -> None:
    """Makes a snapshot every `interval_ms` on a fixed grid and hands it to `latest` and `after`.

    A look that takes longer than the interval makes the loop skip grid points, counted as missed; one that raises is
    counted and logged once per kind of error, and the loop goes on.
    """
    due_ns = clock.monotonic_ns()
    known_errors: set[str] = set()
    while True:
        latest.tick_ns = clock.monotonic_ns()
        try:
            snapshot = _timed(observer, counters, clock)
        except Exception as error:
            counters.loop_errors["observe"] += 1
            if repr(error) not in known_errors and len(known_errors) < 100:
                known_errors.add(repr(error))
                log.error("observe_failed", error=str(error), exc_info=error)
        else:
            latest.snapshot = snapshot
            after(snapshot)
        due_ns = _next_due_ns(due_ns, clock.monotonic_ns(), interval_ms() * 1_000_000, counters)
        await asyncio.sleep(max(0, due_ns - clock.monotonic_ns()) / 1e9)


def _timed(observer: Observer, counters: AgentCounters, clock: Clock) -> NodeSnapshot:
    cpu_ns, wall_ns = clock.cpu_ns(), clock.monotonic_ns()
    try:
        return observer.observe(wall_ns, clock.wall_s())
    finally:
        counters.ticks += 1
        counters.tick_cpu_s += (clock.cpu_ns() - cpu_ns) / 1e9
        counters.tick_wall_s += (clock.monotonic_ns() - wall_ns) / 1e9


def _next_due_ns(due_ns: int, now_ns: int, interval_ns: int, counters: AgentCounters) -> int:
    due_ns += interval_ns
    if now_ns <= due_ns:
        return due_ns
    missed = (now_ns - due_ns) // interval_ns + 1
    counters.missed_ticks += missed
    return due_ns + missed * interval_ns


async def watch_settings(
    file: SettingsFile,
    hangup: asyncio.Event,
    counters: AgentCounters,
    log: Logger,
    take: Callable[[Settings], None],
    poll_s: float = SETTINGS_POLL_S,
) -> None:
    """Takes a changed settings file, or refuses it whole; `hangup` (SIGHUP) makes it look at once."""
    while True:
        try:
            await asyncio.wait_for(hangup.wait(), poll_s)
            asked = True
        except TimeoutError:
            asked = False
        hangup.clear()
        old = file.current
        try:
            fresh = file.reload() if asked else file.poll()
        except SettingsError as error:
            counters.reloads["refused"] += 1
            log.error("settings_refused", error=str(error), kept="the settings in force")
            continue
        if fresh is None:
            continue
        counters.reloads["taken"] += 1
        take(fresh)
        log.info("settings_taken", needs_restart=list(needs_restart(old, fresh)))


async def feed_watchdog(
    notifier: SystemdNotifier, latest: Latest, clock: Clock, dead_after_s: Callable[[], float]
) -> None:
    """Feeds systemd's watchdog as long as the observing loop comes round."""
    if notifier.watchdog_s is None:
        return
    while True:
        if (clock.monotonic_ns() - latest.tick_ns) / 1e9 <= dead_after_s():
            notifier.alive()
        await asyncio.sleep(notifier.watchdog_s)
