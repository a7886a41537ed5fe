"""The clocks of the process, passed down so that tests can bring their own."""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec


class Clock(msgspec.Struct, frozen=True, kw_only=True):
    """`monotonic_ns` is the only one that decisions see; `wall_s` is for people, `cpu_ns` for the agent's own cost."""

    monotonic_ns: Callable[[], int] = time.monotonic_ns
    wall_s: Callable[[], float] = time.time
    cpu_ns: Callable[[], int] = time.process_time_ns
