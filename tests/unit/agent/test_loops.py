"""The daemon's loops with clocks of their own."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from fuyaod.agent.clock import Clock
from fuyaod.agent.counters import AgentCounters
from fuyaod.agent.latest import Latest
from fuyaod.agent.log import LogTail, make_logger
from fuyaod.agent.loops import LoopErrors, feed_watchdog, go_on, observe_forever, watch_settings
from fuyaod.agent.sdnotify import SystemdNotifier
from fuyaod.agent.settings_file import SettingsFile, needs_restart
from fuyaod.model.settings import Http, Log, Settings
from fuyaod.model.snapshot import NodeSnapshot
from tests.unit.rpc.samples import snapshot as make_snapshot

MS = 1_000_000


class FakeTime:
    """A monotonic clock that moves when told."""

    def __init__(self) -> None:
        self.ns = 0

    def clock(self) -> Clock:
        return Clock(monotonic_ns=lambda: self.ns, wall_s=lambda: 0.0, cpu_ns=lambda: self.ns // 2)


class Script:
    """An observer that does one thing per call, then waits to be cancelled."""

    def __init__(self, *steps: Callable[[], None]) -> None:
        self._steps = list(steps)
        self.calls = 0
        self.done = asyncio.Event()

    def observe(self, at_ns: int, wall_s: float) -> NodeSnapshot:
        self.calls += 1
        if self.calls > len(self._steps):
            self.done.set()
        else:
            self._steps[self.calls - 1]()
        return msgspec.structs.replace(make_snapshot(full=False), at_ns=at_ns, seq=self.calls)


def nothing() -> None:
    pass


def fail() -> None:
    raise RuntimeError("boom")


async def run_observer(
    script: Script, time: FakeTime, after: Callable[[NodeSnapshot], None] = lambda _: None
) -> tuple[AgentCounters, Latest, LogTail]:
    counters, latest, tail = AgentCounters(), Latest(0), LogTail()
    task = asyncio.create_task(
        observe_forever(
            script, latest, counters, lambda: 10, time.clock(), make_logger(Log(), tail), after, asyncio.Event()
        )
    )
    async with asyncio.timeout(10):
        await script.done.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    return counters, latest, tail


async def test_observe_error_is_counted_logged_once_and_the_loop_goes_on() -> None:
    counters, latest, tail = await run_observer(Script(nothing, fail, fail, nothing), FakeTime())

    assert counters.loop_errors["observe"] == 2
    assert sum("observe_failed" in line for line in tail.lines()) == 1
    assert latest.snapshot is not None
    assert latest.snapshot.seq >= 4


async def test_observe_whose_listener_fails_is_counted_and_the_snapshot_stands() -> None:
    def refuse(_: NodeSnapshot) -> None:
        fail()

    counters, latest, _ = await run_observer(Script(nothing, nothing), FakeTime(), refuse)

    assert counters.loop_errors["observe"] >= 2
    assert latest.snapshot is not None


async def test_loop_that_fails_begins_again_and_is_told_once() -> None:
    counters, tail, calls = AgentCounters(), LogTail(), []

    async def work() -> None:
        calls.append(1)
        if len(calls) < 4:
            fail()

    async with asyncio.timeout(10):
        await go_on("kubernetes", work, LoopErrors(counters, make_logger(Log(), tail)), again_after_s=0)

    assert (len(calls), counters.loop_errors["kubernetes"]) == (4, 3)
    assert sum("kubernetes_failed" in line for line in tail.lines()) == 1


def test_stray_error_of_the_event_loop_is_counted_and_told_once() -> None:
    counters, tail = AgentCounters(), LogTail()
    errors = LoopErrors(counters, make_logger(Log(), tail))
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(errors.tell_stray)

    for _ in range(65):
        error = OSError(24, "Too many open files")
        loop.call_exception_handler({"message": "socket.accept() out of system resource", "exception": error})
    loop.call_exception_handler({"message": "no exception in it"})
    loop.close()

    assert counters.loop_errors["event_loop"] == 66
    assert sum("event_loop_failed" in line for line in tail.lines()) == 2


async def test_observe_that_takes_too_long_misses_ticks_and_stays_on_the_grid() -> None:
    time = FakeTime()

    def slow() -> None:
        time.ns += 35 * MS

    counters, _, _ = await run_observer(Script(slow), time)

    assert counters.missed_ticks == 3  # of the grid 10, 20, 30 the loop can only take up again at 40


async def test_observe_measures_cpu_and_wall_time() -> None:
    time = FakeTime()

    def slow() -> None:
        time.ns += 4 * MS

    counters, _, _ = await run_observer(Script(slow), time)

    assert counters.tick_wall_s == pytest.approx(0.004)
    assert counters.tick_cpu_s == pytest.approx(0.002)


async def hourly(script: Script, wake: asyncio.Event) -> None:
    """The loop on the real clock, with an hour between two looks."""
    log = make_logger(Log(), LogTail())
    await observe_forever(
        script, Latest(0), AgentCounters(), lambda: 3_600_000, Clock(), log, after=lambda _: None, wake=wake
    )


async def test_observe_looks_at_once_when_woken() -> None:
    woken, wake = Script(nothing), asyncio.Event()
    task = asyncio.create_task(
        observe_forever(
            woken,
            Latest(0),
            AgentCounters(),
            lambda: 3_600_000,
            Clock(),
            make_logger(Log(), LogTail()),
            lambda _: None,
            wake,
        )
    )
    wake.set()

    async with asyncio.timeout(10):
        await woken.done.wait()  # the second look, an hour before its time

    assert not wake.is_set()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_observe_storm_of_wakes_is_a_few_looks() -> None:
    script, wake = Script(*[nothing] * 50), asyncio.Event()
    task = asyncio.create_task(
        observe_forever(
            script,
            Latest(0),
            AgentCounters(),
            lambda: 3_600_000,
            Clock(),
            make_logger(Log(), LogTail()),
            lambda _: None,
            wake,
        )
    )
    for _ in range(100):
        wake.set()
        await asyncio.sleep(0.005)

    assert script.calls <= 5
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


class Watched:
    """A settings file and the loop that watches it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.file = SettingsFile(str(path), {})
        self.counters = AgentCounters()
        self.tail = LogTail()
        self.hangup = asyncio.Event()
        self.taken: list[Settings] = []

    async def until(self, condition: Callable[[], bool], poll_s: float = 0.005) -> None:
        task = asyncio.create_task(
            watch_settings(
                self.file, self.hangup, self.counters, make_logger(Log(), self.tail), self.taken.append, poll_s
            )
        )
        async with asyncio.timeout(10):
            while not condition():  # noqa: ASYNC110 what is awaited has no event of its own
                await asyncio.sleep(0.002)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    path = tmp_path / "fuyaod.toml"
    path.write_text("[observe]\ninterval_ms = 500\n")
    return Watched(path)


async def test_settings_changed_file_is_taken(watched: Watched) -> None:
    watched.path.write_text("[observe]\ninterval_ms = 700\n")

    await watched.until(lambda: bool(watched.taken))

    assert watched.taken[0].observe.interval_ms == 700
    assert watched.counters.reloads["taken"] == 1


async def test_settings_refused_file_keeps_the_old_ones_whole(watched: Watched) -> None:
    watched.path.write_text('[observe]\ninterval_ms = 700\ncensus_top = "many"\n')

    await watched.until(lambda: watched.counters.reloads["refused"] > 0)

    assert watched.taken == []
    assert watched.file.current.observe.interval_ms == 500
    assert any("$.observe.census_top" in line for line in watched.tail.lines())


async def test_settings_vanished_file_keeps_the_old_ones(watched: Watched) -> None:
    watched.path.unlink()

    await watched.until(lambda: watched.counters.reloads["refused"] > 0)

    assert watched.file.current.observe.interval_ms == 500


async def test_settings_hangup_reads_at_once(watched: Watched) -> None:
    watched.path.write_text("[observe]\ninterval_ms = 800\n")
    watched.hangup.set()

    await watched.until(lambda: bool(watched.taken), poll_s=3600)

    assert watched.taken[0].observe.interval_ms == 800


async def test_settings_swapped_link_is_seen(tmp_path: Path) -> None:
    """A ConfigMap volume: the file is a link into a folder that is a link, and the inner one is swapped."""
    for name, value in (("one", 500), ("two", 900)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "fuyaod.toml").write_text(f"[observe]\ninterval_ms = {value}\n")
    (tmp_path / "data").symlink_to("one")
    (tmp_path / "fuyaod.toml").symlink_to("data/fuyaod.toml")
    watched = Watched(tmp_path / "fuyaod.toml")
    (tmp_path / "next").symlink_to("two")
    (tmp_path / "next").rename(tmp_path / "data")

    await watched.until(lambda: bool(watched.taken))

    assert watched.taken[0].observe.interval_ms == 900


def test_settings_file_caught_empty_is_looked_at_once_more(watched: Watched) -> None:
    watched.path.write_text("")
    caught = watched.file.poll()
    watched.path.write_text("[observe]\ninterval_ms = 800\n")
    written = watched.file.poll()

    assert caught is None
    assert written is not None
    assert written.observe.interval_ms == 800


def test_settings_file_that_stays_empty_means_defaults(watched: Watched) -> None:
    watched.path.write_text("")

    assert [watched.file.poll(), watched.file.poll()] == [None, Settings()]


def test_needs_restart_names_what_is_only_read_at_start() -> None:
    assert needs_restart(Settings(), Settings(http=Http(listen="127.0.0.1:1"))) == ("$.http.listen",)
    assert needs_restart(Settings(), Settings(http=Http(stale_after_s=99))) == ()


async def test_watchdog_is_fed_while_the_loop_comes_round_and_not_when_stuck(tmp_path: Path) -> None:
    import socket

    address = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(address)
        manager.settimeout(5)
        notifier = SystemdNotifier({"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "20000"}, pid=1)
        time, latest = FakeTime(), Latest(0)
        task = asyncio.create_task(feed_watchdog(notifier, latest, time.clock(), dead_after_s=lambda: 30))
        assert await asyncio.to_thread(manager.recv, 100) == b"WATCHDOG=1"

        time.ns = 31 * 1_000_000_000
        await asyncio.sleep(0.05)
        manager.setblocking(False)
        while True:  # what was sent before the loop got stuck
            try:
                manager.recv(100)
            except BlockingIOError:
                break
        await asyncio.sleep(0.05)
        with pytest.raises(BlockingIOError):
            manager.recv(100)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


def test_notifier_without_manager_does_nothing() -> None:
    notifier = SystemdNotifier({})
    notifier.ready("x")

    assert notifier.watchdog_s is None


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": "2000000"}, 1.0),
        ({"NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": "2000000", "WATCHDOG_PID": "7"}, 1.0),
        ({"NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": "2000000", "WATCHDOG_PID": "8"}, None),
        ({"NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": "0"}, None),
        ({"NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": "soon"}, None),
        ({"WATCHDOG_USEC": "2000000"}, None),
    ],
)
def test_notifier_watchdog_is_half_the_period_for_this_process_only(
    environment: dict[str, str], expected: float | None
) -> None:
    assert SystemdNotifier(environment, pid=7).watchdog_s == expected


def test_notifier_gone_manager_is_no_error(tmp_path: Path) -> None:
    SystemdNotifier({"NOTIFY_SOCKET": str(tmp_path / "nobody")}).ready("x")


def test_notifier_abstract_socket_hears_ready() -> None:
    import os
    import socket

    name = f"fuyaod-test-{os.getpid()}-{os.urandom(4).hex()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind("\0" + name)
        manager.settimeout(5)
        SystemdNotifier({"NOTIFY_SOCKET": "@" + name}).ready("all well")

        assert manager.recv(200) == b"READY=1\nSTATUS=all well"


def test_logger_below_its_level_is_silent() -> None:
    tail = LogTail()
    log = make_logger(Log(), tail)

    log.debug("hidden")
    log.info("shown", pod="a")

    assert len(tail.lines()) == 1
    assert "shown" in tail.lines()[0]


def test_log_tail_keeps_the_last_lines() -> None:
    tail = LogTail(most=2)
    assert isinstance(tail, io.TextIOBase)

    for number in range(5):
        tail.write(f"line {number}\n\n")

    assert tail.lines() == ["line 3", "line 4"]


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), BrokenPipeError(), ValueError("closed file")]
)
def test_logger_that_cannot_write_loses_the_line_and_nothing_else(error: Exception) -> None:
    class Broken(LogTail):
        def write(self, text: str) -> int:
            raise error

        def flush(self) -> None:
            raise error

    make_logger(Log(), Broken()).info("lost")
