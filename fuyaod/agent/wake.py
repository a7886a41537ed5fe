"""Hotplug events as a reason to look now and not at the next grid point."""

from __future__ import annotations

import asyncio

from fuyaod.numa.observe import HotplugEvents, Topic


class HotplugWake:
    """Drains the events as they come, so that no socket overflows between two looks, and wakes the observing loop.

    Args:
        events: what udev and rtnetlink tell, None where nothing can be heard.
        wake: set on news.
    """

    def __init__(self, events: HotplugEvents | None, wake: asyncio.Event) -> None:
        self._events = events
        self._wake = wake
        self._topics: frozenset[Topic] = frozenset()

    def start(self) -> None:
        """Listens on the running event loop."""
        if self._events is not None:
            asyncio.get_running_loop().add_reader(self._events.fileno(), self._hear)

    def take(self) -> frozenset[Topic]:
        """What has to be read again since the last call."""
        topics, self._topics = self._topics, frozenset()
        return topics

    def close(self) -> None:
        """Ends listening."""
        if self._events is not None:
            asyncio.get_running_loop().remove_reader(self._events.fileno())
            self._events.close()
            self._events = None

    def _hear(self) -> None:
        if self._events is not None and (topics := self._events.drain()):
            self._topics |= topics
            self._wake.set()
