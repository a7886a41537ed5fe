"""/metrics, /healthz, /readyz over a real socket."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import aiohttp
import msgspec
import pytest
from aiohttp import web
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuyaod.agent.http import MAX_CONNECTIONS, Liveness, make_app, serve_http
from fuyaod.errors import FuyaodError
from fuyaod.model.snapshot import NodeSnapshot
from tests.unit.rpc.samples import snapshot as make_snapshot

SECOND = 1_000_000_000


class Node:
    """What the pages are told."""

    def __init__(self) -> None:
        self.now_ns = 100 * SECOND
        self.tick_ns = 100 * SECOND
        self.snapshot: NodeSnapshot | None = None


@pytest.fixture
def node() -> Node:
    return Node()


@pytest.fixture
async def url(node: Node) -> AsyncIterator[str]:
    health = Liveness(
        last_tick_ns=lambda: node.tick_ns,
        latest=lambda: node.snapshot,
        now_ns=lambda: node.now_ns,
        dead_after_s=lambda: 30,
        stale_after_s=lambda: 15,
    )
    async with serve_http(make_app(lambda: b"up 1\n", health), "127.0.0.1:0") as where:
        yield where


async def get(url: str) -> tuple[int, dict[str, object]]:
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        return answer.status, msgspec.json.decode(await answer.read())


async def test_healthz_before_the_first_snapshot_is_ok(url: str) -> None:
    assert await get(url + "/healthz") == (200, {"status": "ok", "last_tick_s": 0.0})


async def test_healthz_of_a_stuck_loop_fails(url: str, node: Node) -> None:
    node.now_ns = node.tick_ns + 31 * SECOND

    assert await get(url + "/healthz") == (503, {"status": "stuck", "last_tick_s": 31.0})


async def test_readyz_before_the_first_snapshot_is_not_ready(url: str) -> None:
    assert await get(url + "/readyz") == (503, {"status": "starting", "snapshot_age_s": None})


async def test_readyz_says_how_old_the_snapshot_is(url: str, node: Node) -> None:
    node.snapshot = msgspec.structs.replace(make_snapshot(full=True), at_ns=98 * SECOND, seq=3)

    assert await get(url + "/readyz") == (200, {"status": "ok", "snapshot_age_s": 2.0, "seq": 3})


async def test_readyz_of_an_old_snapshot_fails_while_healthz_holds(url: str, node: Node) -> None:
    node.snapshot = msgspec.structs.replace(make_snapshot(full=True), at_ns=80 * SECOND, seq=3)

    assert (await get(url + "/readyz"))[0] == 503
    assert (await get(url + "/healthz"))[0] == 200


async def test_other_paths_and_methods_are_refused(url: str) -> None:
    async with aiohttp.ClientSession() as session:
        async with session.get(url + "/") as answer:
            assert answer.status == 404
        async with session.post(url + "/metrics") as answer:
            assert answer.status == 405


async def test_second_server_on_one_port_is_told_what_to_do(url: str, node: Node) -> None:
    listen = url.removeprefix("http://")
    app = make_app(
        lambda: b"up 1\n",
        Liveness(
            last_tick_ns=lambda: 0,
            latest=lambda: None,
            now_ns=lambda: 0,
            dead_after_s=lambda: 1,
            stale_after_s=lambda: 1,
        ),
    )

    with pytest.raises(FuyaodError, match=r"cannot listen on .*http\.listen"):
        async with serve_http(app, listen):
            pass


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    raw=st.binary(min_size=1, max_size=400)
    | st.just(b"GET /" + b"a" * 100_000)
    | st.just(b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 20_000)
)
async def test_garbage_on_the_port_does_not_end_the_server(url: str, raw: bytes) -> None:
    host, _, port = url.removeprefix("http://").rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(raw)
    writer.write_eof()
    async with asyncio.timeout(10):
        await reader.read()
    writer.close()

    assert (await get(url + "/healthz"))[0] == 200


async def test_more_connections_than_allowed_close_the_oldest_and_are_served(url: str) -> None:
    host, _, port = url.removeprefix("http://").rpartition(":")
    silent = [await asyncio.open_connection(host, int(port)) for _ in range(3 * MAX_CONNECTIONS)]

    status, _ = await get(url + "/healthz")

    assert status == 200
    async with asyncio.timeout(10):
        for reader, _ in silent[: 2 * MAX_CONNECTIONS]:
            with contextlib.suppress(ConnectionResetError):
                assert await reader.read() == b""
    for _, writer in silent:
        writer.close()


async def test_malformed_request_leaves_no_traceback(
    url: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    host, _, port = url.removeprefix("http://").rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"GET /metrics HTTP/1.1\r\nContent-Length: -1\r\n\r\n")

    assert b" 400 " in await reader.readline()

    writer.close()
    assert (capfd.readouterr().err, caplog.records) == ("", [])


async def test_page_that_fails_is_told_with_its_traceback(capfd: pytest.CaptureFixture[str]) -> None:
    health = Liveness(
        last_tick_ns=lambda: 0,
        latest=lambda: None,
        now_ns=lambda: 0,
        dead_after_s=lambda: 1,
        stale_after_s=lambda: 1,
    )

    def fail() -> bytes:
        raise RuntimeError("boom")

    async with (
        serve_http(make_app(fail, health), "127.0.0.1:0") as url,
        aiohttp.ClientSession() as session,
        session.get(url + "/metrics") as answer,
    ):
        assert answer.status == 500

    assert "RuntimeError: boom" in capfd.readouterr().err


async def test_listen_on_a_name_that_no_dns_carries_is_an_error_that_names_the_setting() -> None:
    with pytest.raises(FuyaodError, match=r"cannot listen on .*http\.listen"):
        async with serve_http(web.Application(), "a" * 70 + ":0"):
            pass
