"""`/metrics`, `/healthz` and `/readyz`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

import msgspec
from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from fuyaod.agent.metrics.exposition import CONTENT_TYPE
from fuyaod.errors import FuyaodError
from fuyaod.model.snapshot import NodeSnapshot
from fuyaod.settings_load import parse_listen

MAX_HEADER_BYTES: Final = 8190
SHUTDOWN_S: Final = 2.0
MAX_CONNECTIONS: Final = 32
"""Open at once. A new one takes the place of the oldest: silent, slow and never-reading clients can then neither keep
Prometheus out nor take the agent's descriptors and memory."""


class Liveness(msgspec.Struct, frozen=True, kw_only=True):
    """What `/healthz` and `/readyz` answer from.

    `last_tick_ns` is when the observing loop last came round, with or without success.
    """

    last_tick_ns: Callable[[], int]
    latest: Callable[[], NodeSnapshot | None]
    now_ns: Callable[[], int]
    dead_after_s: Callable[[], float]
    stale_after_s: Callable[[], float]


def make_app(render: Callable[[], bytes], health: Liveness) -> web.Application:
    """The three pages, `render` giving `/metrics`; anything else is 404, any method but GET and HEAD is 405."""

    async def metrics(_: web.Request) -> web.Response:
        return web.Response(body=render(), headers={"Content-Type": CONTENT_TYPE})

    async def healthz(_: web.Request) -> web.Response:
        idle_s = (health.now_ns() - health.last_tick_ns()) / 1e9
        alive = idle_s <= health.dead_after_s()
        return _answer({"status": "ok" if alive else "stuck", "last_tick_s": round(idle_s, 3)}, alive)

    async def readyz(_: web.Request) -> web.Response:
        snapshot = health.latest()
        if snapshot is None:
            return _answer({"status": "starting", "snapshot_age_s": None}, ok=False)
        age_s = (health.now_ns() - snapshot.at_ns) / 1e9
        fresh = age_s <= health.stale_after_s()
        return _answer(
            {"status": "ok" if fresh else "stale", "snapshot_age_s": round(age_s, 3), "seq": snapshot.seq}, fresh
        )

    app = web.Application(client_max_size=4096)
    app.add_routes([web.get("/metrics", metrics), web.get("/healthz", healthz), web.get("/readyz", readyz)])
    return app


@asynccontextmanager
async def serve_http(app: web.Application, listen: str) -> AsyncIterator[str]:
    """Serves `app` on `address:port` while the context lasts; yields the URL really bound (port 0 takes a free one).

    Raises:
        FuyaodError: the address cannot be bound; the text names it and the setting to change.
    """
    host, port = parse_listen(listen)
    runner = web.AppRunner(
        app,
        access_log=None,
        logger=_quiet_logger(),
        max_line_size=MAX_HEADER_BYTES,
        max_field_size=MAX_HEADER_BYTES,
        keepalive_timeout=75,
        shutdown_timeout=SHUTDOWN_S,
    )
    await runner.setup()
    try:
        listener = await _listen(runner, host, port, listen)
        try:
            bound = listener.sockets[0].getsockname()
            shown = f"[{bound[0]}]" if ":" in bound[0] else bound[0]
            yield f"http://{shown}:{bound[1]}"
        finally:
            listener.close()
    finally:
        async with asyncio.timeout(SHUTDOWN_S + 1):
            await runner.cleanup()


async def _listen(runner: web.AppRunner, host: str, port: int, listen: str) -> asyncio.Server:
    serve = runner.server
    if serve is None:
        raise RuntimeError("the runner was not set up")

    def accept() -> asyncio.Protocol:
        known = serve.connections  # oldest first
        for connection in known[: max(0, len(known) + 1 - MAX_CONNECTIONS)]:
            if connection.transport is not None:
                connection.transport.abort()
        return serve()

    try:
        return await asyncio.get_running_loop().create_server(accept, host, port, backlog=64)
    except (OSError, UnicodeError) as error:  # UnicodeError: a host name that the DNS cannot carry
        reason = getattr(error, "strerror", None) or error
        raise FuyaodError(
            f"cannot listen on {listen}: {reason}; is another fuyaod running? "
            'Set http.listen (or FUYAOD_HTTP__LISTEN) to another address, or to "" for none'
        ) from error


def _quiet_logger() -> logging.Logger:
    """aiohttp's logger without what peers can cause: each malformed request would be a traceback."""
    logger = logging.Logger("fuyaod.http")
    logger.addFilter(lambda record: not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError)))
    return logger


def _answer(body: dict[str, object], ok: bool) -> web.Response:
    return web.Response(
        body=msgspec.json.encode(body) + b"\n", status=200 if ok else 503, content_type="application/json"
    )
