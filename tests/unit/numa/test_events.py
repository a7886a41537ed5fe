"""Wake-ups from the kernel of this machine."""

from __future__ import annotations

import asyncio
import errno
import os
import select
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from fuyaod.hostfs import HostRoot
from fuyaod.numa.observe import HotplugEvents, Topic
from fuyaod.numa.observe.events import MAX_PER_DRAIN, UDEV_CONTROL, event_sources

UEVENT = Path("/sys/devices/system/cpu/cpu0/uevent")

needs_uevents = pytest.mark.skipif(
    not os.access(UEVENT, os.W_OK), reason=f"cannot provoke device events: {UEVENT} is not writable"
)


class _Monitor:
    """A monitor with a script: devices, errors, then silence."""

    def __init__(self, *script: str | OSError) -> None:
        self._script = list(script)
        self._pipe = os.pipe()

    def fileno(self) -> int:
        return self._pipe[0]

    def poll(self, timeout: float | None = None) -> _Device | None:
        assert timeout == 0
        if not self._script:
            return None
        step = self._script.pop(0)
        if isinstance(step, OSError):
            raise step
        return _Device(step)

    def close(self) -> None:
        for fd in self._pipe:
            os.close(fd)


class _Device:
    def __init__(self, subsystem: str) -> None:
        self.subsystem = subsystem


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ([], set()),
        (["cpu", "memory", "memory"], {Topic.TOPOLOGY}),
        (["pci", "net"], {Topic.DEVICES, Topic.NICS}),
        (["usb"], set()),
        (["pci", OSError(errno.ENOBUFS, "no buffer")], set(Topic)),
    ],
    ids=["silence", "cpu_and_memory", "pci_and_net", "other", "dropped"],
)
def test_events_drain_names_what_to_read_again(script: list[str | OSError], expected: set[Topic]) -> None:
    monitor = _Monitor(*script)
    events = HotplugEvents((monitor,), None)

    assert events.drain() == expected
    events.close()
    monitor.close()


def test_events_storm_is_taken_in_portions() -> None:
    monitor = _Monitor(*["memory"] * MAX_PER_DRAIN, "pci")
    events = HotplugEvents((monitor,), None)

    assert events.drain() == {Topic.TOPOLOGY}
    assert events.drain() == {Topic.DEVICES}
    events.close()
    monitor.close()


def test_events_declared_root_has_none_and_no_finding(tmp_path: Path) -> None:
    seen = HotplugEvents.open(HostRoot(tmp_path))

    assert (seen.value, seen.findings) == (None, ())


def _open() -> HotplugEvents:
    seen = HotplugEvents.open(HostRoot())
    if seen.value is None or seen.findings:
        pytest.skip(f"cannot subscribe here: {'; '.join(f.summary for f in seen.findings)}")
    return seen.value


def _provoke() -> None:
    UEVENT.write_text("change")


def _readable(events: HotplugEvents, within_ms: int = 5000) -> bool:
    waiter = select.poll()
    waiter.register(events.fileno(), select.POLLIN)
    return bool(waiter.poll(within_ms))


@needs_uevents
def test_events_uevent_of_a_cpu_wakes_for_topology() -> None:
    events = _open()
    events.drain()

    _provoke()

    assert _readable(events)
    assert Topic.TOPOLOGY in events.drain()
    events.close()


@needs_uevents
async def test_events_descriptor_works_with_an_event_loop() -> None:
    events = _open()
    seen: asyncio.Queue[frozenset[Topic]] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    loop.add_reader(events.fileno(), lambda: seen.put_nowait(events.drain()))

    _provoke()

    async with asyncio.timeout(10):
        while Topic.TOPOLOGY not in await seen.get():
            pass
    loop.remove_reader(events.fileno())
    events.close()


def test_events_link_overflow_is_survived_and_reported() -> None:
    """A socket too small for its messages: the kernel drops some and says ENOBUFS once."""
    links = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
    links.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    links.setblocking(False)
    links.bind((0, 0))
    dump = bytes.fromhex("14000000 1200 0103 00000000 00000000 00000000".replace(" ", ""))
    for _ in range(50):
        links.send(dump)
    events = HotplugEvents((), links)

    assert events.drain() == {Topic.NICS}
    assert events.drain() == frozenset()
    events.close()


PEER = """
import select, subprocess, sys
from fuyaod.hostfs import HostRoot
from fuyaod.numa.observe import HotplugEvents, Topic

def woken(command):
    subprocess.run(command, check=True)
    waiter = select.poll()
    waiter.register(events.fileno(), select.POLLIN)
    return bool(waiter.poll(5000)) and Topic.NICS in events.drain()

seen = HotplugEvents.open(HostRoot())
events = seen.value
assert events is not None and not seen.findings, seen.findings
assert not events.drain()
assert woken(["ip", "link", "set", "lo", "up"]), "lo up"
assert woken(["ip", "link", "add", "pair0", "type", "veth", "peer", "name", "pair1"]), "veth added"
events.drain()
assert woken(["ip", "link", "set", "pair0", "mtu", "1400"]), "mtu changed"
assert woken(["ip", "link", "del", "pair0"]), "veth deleted"
assert not events.drain()
"""


def _can_make_network_namespaces() -> bool:
    tried = subprocess.run(
        ["unshare", "-n", "ip", "link", "add", "p0", "type", "veth", "peer", "name", "p1"], capture_output=True
    )
    return tried.returncode == 0


def test_events_links_of_an_own_network_namespace_wake_for_nics() -> None:
    if not _can_make_network_namespaces():
        pytest.skip("cannot make a network namespace with a veth pair (needs root, unshare and ip)")

    done = subprocess.run(["unshare", "-n", sys.executable, "-c", PEER], capture_output=True, text=True, timeout=60)

    assert done.returncode == 0, done.stderr


REFUSED = """
import resource, sys
from fuyaod.hostfs import HostRoot
from fuyaod.numa.observe import HotplugEvents

if sys.argv[1] == "no_library":
    sys.modules["pyudev"] = None
else:
    import pyudev
    pyudev.Context()
    # Where no compiler is installed the search for the library ends otherwise: its helpers need descriptors too.
    pyudev._ctypeslib.utils.find_library = {"udev": "libudev.so.1"}.get
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
seen = HotplugEvents.open(HostRoot())
print(seen.value is None, *(f"{f.id}:{f.status.value}:{bool(f.cost)}:{f.mend}" for f in seen.findings), sep="|")
"""


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("no_library", "False|events.hotplug:degraded:True:install libudev"),
        (
            "no_sockets",
            "True|events.hotplug:degraded:True:allow AF_NETLINK sockets to this process"
            "|events.link:degraded:True:allow AF_NETLINK sockets to this process",
        ),
    ],
)
def test_events_refused_source_is_a_finding_and_the_other_one_still_works(how: str, expected: str) -> None:
    """No descriptor left stands for every refusal of a socket: a seccomp filter takes the same path."""
    done = subprocess.run([sys.executable, "-c", REFUSED, how], capture_output=True, text=True, timeout=60)

    assert done.stdout.strip() == expected, done.stderr


def test_events_module_does_not_load_pyudev_until_it_is_opened() -> None:
    code = "import sys, fuyaod.numa.observe; sys.exit('pyudev' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


@pytest.mark.parametrize(
    ("runs", "expected"), [(True, ("kernel", "udev")), (False, ("kernel",))], ids=["udev_runs", "no_udev"]
)
def test_events_udev_daemon_is_asked_only_when_it_runs(tmp_path: Path, runs: bool, expected: tuple[str, ...]) -> None:
    (tmp_path / "run/udev").mkdir(parents=True)
    if runs:
        (tmp_path / UDEV_CONTROL).touch()

    assert event_sources(HostRoot(tmp_path)) == expected
