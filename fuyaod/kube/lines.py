"""Lines of a stream in bounded memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Protocol


class ByteStream(Protocol):
    """The part of `aiohttp.StreamReader` that is used."""

    async def readany(self) -> bytes:
        """The next bytes, as many as are there; b"" at the end."""
        ...


async def bounded_lines(stream: ByteStream, max_bytes: int, silent_after_s: float) -> AsyncIterator[bytes | None]:
    """Lines without their newline; None in place of one longer than `max_bytes`, which is never held whole.

    Blank lines are left out, and so is a last line without a newline: it was cut.

    Raises:
        TimeoutError: no byte came for `silent_after_s` seconds.
    """
    pending = bytearray()
    skipping = False
    while True:
        async with asyncio.timeout(silent_after_s):
            chunk = await stream.readany()
        if not chunk:
            return
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            pending += piece
            if skipping or len(pending) > max_bytes:
                yield None
            elif pending.strip():
                yield bytes(pending)
            pending.clear()
            skipping = False
        pending += rest
        if skipping or len(pending) > max_bytes:
            pending.clear()
            skipping = True
