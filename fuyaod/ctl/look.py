"""Snapshots straight from host files, and from the agent."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from fuyaod.hostfs import HostRoot
from fuyaod.model.settings import Settings
from fuyaod.model.snapshot import NodeSnapshot
from fuyaod.node.observe import NodeObserver

T = TypeVar("T")


def observe_now(observer: NodeObserver) -> NodeSnapshot:
    """One look, now."""
    return observer.observe(time.monotonic_ns(), time.time())


def observe_host(host: HostRoot, settings: Settings, over_s: float = 0.0) -> tuple[NodeSnapshot | None, NodeSnapshot]:
    """The snapshot, and one taken `over_s` seconds before it where rates are wanted (0: None).

    Another machine's files stand still: they are read once whatever `over_s` says.
    """
    observer = NodeObserver(host, settings, processes=host.is_this_machine)
    try:
        return twice(lambda: observe_now(observer), over_s if host.is_this_machine else 0.0)
    finally:
        observer.close()


def twice(look: Callable[[], T], over_s: float) -> tuple[T | None, T]:
    """What `look` gives now and `over_s` seconds later; with 0 only the latter."""
    if over_s <= 0:
        return None, look()
    before = look()
    time.sleep(over_s)
    return before, look()
