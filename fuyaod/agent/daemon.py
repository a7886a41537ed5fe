"""`fuyaod run`: what is started, in which order, and how it ends."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

import msgspec

from fuyaod.agent.clock import Clock
from fuyaod.agent.counters import AgentCounters
from fuyaod.agent.http import Liveness, make_app, serve_http
from fuyaod.agent.journalist import Journalist
from fuyaod.agent.latest import Latest
from fuyaod.agent.log import Logger
from fuyaod.agent.loops import LoopErrors, feed_watchdog, go_on, observe_forever, watch_settings
from fuyaod.agent.metrics.exposition import Exposition
from fuyaod.agent.sdnotify import SystemdNotifier
from fuyaod.agent.settings_file import SettingsFile
from fuyaod.agent.sources import kubernetes_task
from fuyaod.agent.wake import HotplugWake
from fuyaod.doctor.decide import diagnose
from fuyaod.doctor.observe import observe_facts
from fuyaod.hostfs import HostRoot
from fuyaod.model.findings import Finding, FindingStatus
from fuyaod.model.settings import Settings
from fuyaod.model.snapshot import NodeSnapshot
from fuyaod.node.observe import NodeObserver
from fuyaod.numa.observe import HotplugEvents
from fuyaod.rpc.server import serve_rpc

DEAD_AFTER_S: Final = 30.0
"""Liveness fails when the observing loop has not come round for its interval and so long: far above any delay of a busy
machine."""


AGAIN_AFTER_S: Final = 10.0
"""Pause of a loop that ended with an error nobody foresaw."""


PAGES: Final = ("/metrics", "/healthz", "/readyz")


class Places(msgspec.Struct, frozen=True, kw_only=True):
    """Where the faces really are; None for one that is switched off."""

    url: str | None
    socket: str

    def describe(self) -> str:
        """One line for people."""
        pages = self.url + " ".join(PAGES) if self.url else "no HTTP (http.listen is empty)"
        return f"{pages}  ·  gRPC {self.socket}"


class Daemon:
    """One agent on one host.

    Args:
        host: the host to observe.
        file: the settings and where they came from.
        socket_path: where the node API listens.
        environment: for systemd's notification and Kubernetes' in-cluster address.
        log: where events go.
        clock: the clocks.
    """

    def __init__(
        self,
        host: HostRoot,
        file: SettingsFile,
        socket_path: str,
        environment: Mapping[str, str],
        log: Logger,
        clock: Clock,
    ) -> None:
        self._host = host
        self._file = file
        self._socket_path = socket_path
        self._log = log
        self._clock = clock
        self._notifier = SystemdNotifier(environment)
        self._counters = AgentCounters()
        self._errors = LoopErrors(self._counters, log)
        self._told_ready = False
        self._journalist = Journalist(log)
        self._hangup = asyncio.Event()
        self._wake = asyncio.Event()
        self._kubernetes = kubernetes_task(file.current, environment, host, clock.monotonic_ns)
        self._observer: NodeObserver | None = None
        self.latest = Latest(clock.monotonic_ns())
        self.capabilities: tuple[Finding, ...] = ()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Places]:
        """Runs all loops and faces while the context lasts. systemd hears READY with the first snapshot.

        Raises:
            FuyaodError: an address or socket cannot be bound.
        """
        async with AsyncExitStack() as stack:
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGHUP, self._hangup.set)
            loop.set_exception_handler(self._errors.tell_stray)
            stack.callback(loop.set_exception_handler, None)
            observer = self._make_observer(stack)
            places = await self._open_faces(stack)
            async with asyncio.TaskGroup() as group:
                self._log.info(
                    "started",
                    url=places.url,
                    pages=PAGES if places.url else (),
                    socket=places.socket,
                    root=self._host.path,
                )
                tasks = self._start_loops(group, observer, places)
                try:
                    yield places
                finally:
                    self._notifier.stopping()
                    for task in tasks:
                        task.cancel()
        self._log.info("stopped")

    def examine_host(self) -> tuple[Finding, ...]:
        """What can be done here and what cannot, with the mend; also logged, one event per loss."""
        self.capabilities = diagnose(observe_facts(self._host, brand_deadline_s=0))
        for finding in self.capabilities:
            say = self._log.info if finding.status is FindingStatus.OK else self._log.warning
            say(
                "capability",
                **{k: v for k, v in msgspec.structs.asdict(finding).items() if v and k != "status"},
                status=finding.status.value,
            )
        good = sum(1 for finding in self.capabilities if finding.status is FindingStatus.OK)
        self._log.info("host_examined", ok=good, not_ok=len(self.capabilities) - good)
        return self.capabilities

    def _make_observer(self, stack: AsyncExitStack) -> NodeObserver:
        opened = HotplugEvents.open(self._host)
        for finding in opened.findings:
            self._log.warning("finding", id=finding.id, summary=finding.summary, cost=finding.cost, mend=finding.mend)
        hotplug = HotplugWake(opened.value, self._wake)
        hotplug.start()
        stack.callback(hotplug.close)
        sources = (self._kubernetes.source,)
        self._observer = NodeObserver(self._host, self._file.current, sources=sources, drain_events=hotplug.take)
        stack.callback(self._observer.close)
        return self._observer

    async def _open_faces(self, stack: AsyncExitStack) -> Places:
        url = None
        listen = self._file.current.http.listen
        if listen:
            exposition = Exposition(self.latest.get, self._counters, self._clock.monotonic_ns)
            health = Liveness(
                last_tick_ns=self.latest.last_tick_ns,
                latest=self.latest.get,
                now_ns=self._clock.monotonic_ns,
                dead_after_s=self._dead_after_s,
                stale_after_s=lambda: self._file.current.http.stale_after_s,
            )
            url = await stack.enter_async_context(serve_http(make_app(exposition.render, health), listen))
        socket = await stack.enter_async_context(serve_rpc(self._socket_path, self.latest.get, self._is_ready))
        return Places(url=url, socket=socket)

    def _start_loops(
        self, group: asyncio.TaskGroup, observer: NodeObserver, places: Places
    ) -> list[asyncio.Task[None]]:
        log, clock = self._log, self._clock

        def interval_ms() -> int:
            return self._file.current.observe.interval_ms

        def after(snapshot: NodeSnapshot) -> None:
            if not self._told_ready:  # not by its number: the first look may have failed
                self._notifier.ready(places.describe())
                self._told_ready = True
            self._journalist.tell(snapshot)

        observing = observe_forever(observer, self.latest, self._counters, interval_ms, clock, log, after, self._wake)

        def settings() -> Coroutine[None, None, None]:
            return watch_settings(self._file, self._hangup, self._counters, log, self._take)

        errors = self._errors
        return [
            group.create_task(observing, name="observe"),
            group.create_task(go_on("settings", settings, errors, AGAIN_AFTER_S), name="settings"),
            group.create_task(feed_watchdog(self._notifier, self.latest, clock, self._dead_after_s), name="watchdog"),
            group.create_task(go_on("kubernetes", self._kubernetes.run, errors, AGAIN_AFTER_S), name="kubernetes"),
        ]

    def _dead_after_s(self) -> float:
        return DEAD_AFTER_S + self._file.current.observe.interval_ms / 1000

    def _is_ready(self) -> bool:
        snapshot = self.latest.snapshot
        if snapshot is None:
            return False
        return (self._clock.monotonic_ns() - snapshot.at_ns) / 1e9 <= self._file.current.http.stale_after_s

    def _take(self, settings: Settings) -> None:
        if self._observer is not None:
            self._observer.update_settings(settings)
            self._wake.set()
