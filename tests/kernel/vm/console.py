"""Following the console of a guest until it ends or its time is over."""

import enum
import math
import os
import select
import time
from collections.abc import Callable
from typing import IO

import msgspec

_READ_BYTES = 1 << 16


class GuestEnd(enum.Enum):
    """How a boot ended."""

    FINISHED = "finished"
    NO_BOOT = "no_boot"
    TIMED_OUT = "timed_out"
    DIED = "died"


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Hard limits of one boot, each from the start of the emulator."""

    boot_s: float = 300
    total_s: float = 900


class Followed(msgspec.Struct, frozen=True, kw_only=True):
    """What was seen of a boot.

    Args:
        boot_s: until the first output; None when there was none.
        gave_up: NO_BOOT or TIMED_OUT when a limit was over, None when the console closed.
    """

    boot_s: float | None
    gave_up: GuestEnd | None


def follow(console: IO[bytes], limits: Limits, on_line: Callable[[str], None]) -> Followed:
    """Pass the lines of a console on until it closes or a limit is over.

    Args:
        console: a pipe from the emulator.
        limits: counted from now.
        on_line: called with each line, without its end.
    """
    start = time.monotonic()
    boot_s: float | None = None
    rest = b""
    while True:
        limit_s = min(limits.total_s, limits.boot_s if boot_s is None else limits.total_s)
        data = _read_before(console, start + limit_s)
        if data is None:
            return Followed(boot_s=boot_s, gave_up=GuestEnd.NO_BOOT if boot_s is None else GuestEnd.TIMED_OUT)
        if not data:
            break
        boot_s = boot_s or time.monotonic() - start
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            on_line(_text(line))
    if rest:
        on_line(_text(rest))
    return Followed(boot_s=boot_s, gave_up=None)


def _read_before(console: IO[bytes], deadline: float) -> bytes | None:
    """What there is to read, empty at the end; None when nothing came before the deadline."""
    poll = select.poll()
    poll.register(console, select.POLLIN)
    wait_ms = max(0, math.ceil((deadline - time.monotonic()) * 1000))
    return os.read(console.fileno(), _READ_BYTES) if poll.poll(wait_ms) else None


def _text(line: bytes) -> str:
    """As a terminal shows it in the end: what stands behind a carriage return overwrites what stands before."""
    return line.decode(errors="replace").rstrip("\r").rpartition("\r")[2].rstrip()
