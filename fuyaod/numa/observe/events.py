"""What says when to look again: kernel device events, and changes of network links."""

from __future__ import annotations

import contextlib
import enum
import errno
import os
import select
import socket
from typing import Any, Final, Protocol

from fuyaod.hostfs import HostRoot
from fuyaod.model.findings import Finding, FindingStatus
from fuyaod.numa.observe.reading import Observed

RTMGRP_LINK: Final = 1
"""Multicast group of link changes. Source: Linux include/uapi/linux/rtnetlink.h."""

MAX_PER_DRAIN: Final = 1024
"""Messages taken from one source in one go, about 9 ms, so that a storm (memory comes in thousands of blocks) cannot
hold the loop. The rest stays readable."""

UDEV_CONTROL: Final = "run/udev/control"
"""A socket of the udev daemon: without it libudev has nobody to hear from. Source: systemd, libudev-monitor."""


class Topic(enum.Enum):
    """What has to be read again."""

    TOPOLOGY = "topology"
    DEVICES = "devices"
    NICS = "nics"


SUBSYSTEM_TOPICS: Final = {
    "cpu": Topic.TOPOLOGY,
    "memory": Topic.TOPOLOGY,
    "node": Topic.TOPOLOGY,
    "dax": Topic.TOPOLOGY,
    "pci": Topic.DEVICES,
    "net": Topic.NICS,
}
"""Kernel subsystems worth waking up for. An NPU coming, going or changing its driver is an event of `pci`."""


class Monitor(Protocol):
    """What is used of `pyudev.Monitor`, which has no types."""

    def fileno(self) -> int:
        """Descriptor that is readable when a device event waits."""
        ...

    def poll(self, timeout: float | None = None) -> Any:
        """The next device, None when there is none. Raises OSError."""
        ...


class HotplugEvents:
    """Wake-ups only: no message is interpreted beyond its subsystem, the files are read again.

    `open` makes one. `fileno()` becomes readable on news, for `loop.add_reader`; then call `drain()`.
    """

    def __init__(self, monitors: tuple[Monitor, ...], links: socket.socket | None) -> None:
        self._monitors = monitors
        self._links = links
        self._poll = select.epoll()
        descriptors = [monitor.fileno() for monitor in monitors] + ([] if links is None else [links.fileno()])
        for descriptor in descriptors:
            self._poll.register(descriptor, select.EPOLLIN)

    @classmethod
    def open(cls, host: HostRoot) -> Observed[HotplugEvents | None]:
        """Subscribes to what this process may hear. A root that is not this machine has no events, and that is no
        finding; on this machine each source that is refused is one."""
        if not host.is_this_machine:
            return Observed(value=None)
        findings: list[Finding] = []
        monitors: tuple[Monitor, ...] = ()
        links = None
        try:
            monitors = _open_monitors(host)
        except (ImportError, OSError) as error:
            findings.append(_no_events("events.hotplug", "device events", error))
        try:
            links = _open_links()
        except OSError as error:
            findings.append(_no_events("events.link", "network link events", error))
        events = cls(monitors, links) if monitors or links is not None else None
        return Observed(value=events, findings=tuple(findings))

    def fileno(self) -> int:
        """Descriptor to watch; do not read from it."""
        return self._poll.fileno()

    def drain(self) -> frozenset[Topic]:
        """Takes all waiting messages and says what to read again. Never blocks. When the kernel had to drop messages,
        everything is to be read again."""
        topics: set[Topic] = set()
        for monitor in self._monitors:
            topics |= _drain_monitor(monitor)
        if self._links is not None:
            topics |= _drain_links(self._links)
        return frozenset(topics)

    def close(self) -> None:
        """Ends all subscriptions."""
        self._poll.close()
        self._monitors = ()
        if self._links is not None:
            self._links.close()
            self._links = None


def _open_monitors(host: HostRoot) -> tuple[Monitor, ...]:
    """Monitors of the kernel's own events, and of those that the udev daemon repeats once it has set up a device (an
    interface has its final name only then)."""
    import pyudev  # 2 MiB that a replay or a `--root` run never needs

    udev: Any = pyudev
    context = udev.Context()
    monitors = []
    for source in event_sources(host):
        monitor = udev.Monitor.from_netlink(context, source)
        for subsystem in SUBSYSTEM_TOPICS:
            monitor.filter_by(subsystem)
        monitor.start()
        monitors.append(monitor)
    return tuple(monitors)


def event_sources(host: HostRoot) -> tuple[str, ...]:
    """Who is listened to, by libudev's names: the kernel, and the udev daemon where it runs."""
    return ("kernel", "udev") if host.exists(UDEV_CONTROL) else ("kernel",)


def _open_links() -> socket.socket:
    links = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, socket.NETLINK_ROUTE)
    try:
        links.setblocking(False)
        links.bind((0, RTMGRP_LINK))
    except OSError:
        links.close()
        raise
    return links


def _drain_monitor(monitor: Monitor) -> set[Topic]:
    topics: set[Topic] = set()
    for _ in range(MAX_PER_DRAIN):
        try:
            device = monitor.poll(timeout=0)
        except OSError as error:
            if error.errno != errno.ENOBUFS:
                raise
            return set(Topic)
        if device is None:
            break
        topic = SUBSYSTEM_TOPICS.get(device.subsystem)
        if topic is not None:
            topics.add(topic)
    return topics


def _drain_links(links: socket.socket) -> set[Topic]:
    topics: set[Topic] = set()
    with contextlib.suppress(BlockingIOError):
        for _ in range(MAX_PER_DRAIN):
            try:
                links.recv(1)  # the rest of a datagram is dropped, and so it should be
            except OSError as error:
                if error.errno != errno.ENOBUFS:
                    raise
            topics.add(Topic.NICS)
    return topics


def _no_events(about: str, what: str, error: Exception) -> Finding:
    reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
    return Finding(
        id=about,
        status=FindingStatus.DEGRADED,
        summary=f"cannot subscribe to {what}: {reason}",
        cost="hotplug and link changes are seen only when the topology is read again at its interval",
        mend="install libudev" if isinstance(error, ImportError) else "allow AF_NETLINK sockets to this process",
    )
