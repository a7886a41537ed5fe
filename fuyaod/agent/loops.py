"""The daemon's loops. Each is one coroutine that runs until it is cancelled; what it needs is passed in."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any, Final, Protocol

from fuyaod.agent.clock import Clock
from fuyaod.agent.counters import AgentCounters
from fuyaod.agent.latest import Latest
from fuyaod.agent.log import Logger
from fuyaod.agent.sdnotify import SystemdNotifier
from fuyaod.agent.settings_file import SettingsFile, needs_restart
from fuyaod.errors import SettingsError
from fuyaod.model.settings import Settings
from fuyaod.model.snapshot import NodeSnapshot

MAX_KINDS: Final = 100
"""Kinds of errors that are told; an error whose text has a number in it may come in many."""

MIN_PAUSE_S: Final = 0.2
"""Between two looks at the least, unless the interval is shorter: a storm of hotplug events is one look."""

SETTINGS_POLL_S: Final = 2.0
"""A changed settings file is seen within this time, with SIGHUP at once."""


class Observer(Protocol):
    """What makes snapshots."""

    def observe(self, at_ns: int, wall_s: float) -> NodeSnapshot:
        """One look at the whole node."""
        ...


class LoopErrors:
    """Unexpected errors at the loops' edges: every one is counted, each kind is logged once.

    Args:
        counters: where they are counted.
        log: where they are told.
    """

    def __init__(self, counters: AgentCounters, log: Logger) -> None:
        self._counters = counters
        self._log = log
        self._known: set[str] = set()

    def tell(self, loop: str, error: BaseException) -> None:
        """One error of one loop, which goes on."""
        self._counters.loop_errors[loop] += 1
        kind = f"{loop} {error!r}"
        if kind not in self._known and len(self._known) < MAX_KINDS:
            self._known.add(kind)
            self._log.error(f"{loop}_failed", error=str(error), exc_info=error)

    def tell_stray(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """What the event loop reports of its own, as its exception handler. It may be 65 tracebacks a second: while
        descriptors are lacking, each connection that cannot be accepted."""
        self.tell("event_loop", context.get("exception") or RuntimeError(context["message"]))


async def go_on(loop: str, work: Callable[[], Awaitable[None]], errors: LoopErrors, again_after_s: float) -> None:
    """Does `work` until it ends. When it raises that is told and it begins again after a pause, in seconds: no loop
    ends the others."""
    while True:
        try:
            return await work()
        except Exception as error:  # noqa: BLE001 the edge of a loop; counted and told
            errors.tell(loop, error)
        await asyncio.sleep(again_after_s)


async def observe_forever(
    observer: Observer,
    latest: Latest,
    counters: AgentCounters,
    interval_ms: Callable[[], int],
    clock: Clock,
    log: Logger,
    after: Callable[[NodeSnapshot], None],
    wake: asyncio.Event,
) -> None:
    """Makes a snapshot every `interval_ms` on a fixed grid and hands it to `latest` and `after`. `wake` (a hotplug
    event, changed settings) makes it look between two grid points, at most five times a second.

    A look that takes longer than the interval makes the loop skip grid points, counted as missed; one that raises, or
    whose `after` does, is told, and the loop goes on.
    """
    due_ns = clock.monotonic_ns()
    errors = LoopErrors(counters, log)
    while True:
        latest.tick_ns = clock.monotonic_ns()
        try:
            snapshot = _timed(observer, counters, clock)
            latest.snapshot = snapshot
            after(snapshot)
        except Exception as error:  # noqa: BLE001 the edge of a loop; counted and told
            errors.tell("observe", error)
        if clock.monotonic_ns() >= due_ns:
            due_ns = _next_due_ns(due_ns, clock.monotonic_ns(), interval_ms() * 1_000_000, counters)
        await asyncio.sleep(min(MIN_PAUSE_S, max(0, due_ns - clock.monotonic_ns()) / 1e9))
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(wake.wait(), max(0, due_ns - clock.monotonic_ns()) / 1e9)
        if wake.is_set():
            wake.clear()
            due_ns = min(due_ns, clock.monotonic_ns() + interval_ms() * 1_000_000)


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
            if asked:
                log.info("settings_unchanged")
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
