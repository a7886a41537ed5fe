from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import stat
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import msgspec
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuyao_api.node.v1 import node_pb2 as pb
from fuyao_api.node.v1.node_pb2_grpc import NodeServiceStub
from fuyaod import __version__
from fuyaod.model.snapshot import NodeSnapshot
from fuyaod.model.values import decode
from fuyaod.rpc.server import SERVICE, Limits, serve_rpc
from tests.unit.rpc.conftest import Latest, connected
from tests.unit.rpc.samples import snapshot

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
WAIT_S = 10


def node_stub(channel: grpc.aio.Channel) -> Any:
    return NodeServiceStub(channel)  # type: ignore[no-untyped-call]


def health_stub(channel: grpc.aio.Channel) -> Any:
    return health_pb2_grpc.HealthStub(channel)  # type: ignore[no-untyped-call]


def mode_of(path: str) -> int | None:
    try:
        return Path(path).stat().st_mode
    except FileNotFoundError:
        return None


async def get_node(path: str, *, with_json: bool = False) -> pb.GetNodeResponse:
    async with connected(path) as channel:
        request = pb.GetNodeRequest(include_snapshot_json=with_json)
        answer: pb.GetNodeResponse = await node_stub(channel).GetNode(request, timeout=WAIT_S)
        return answer


async def test_get_node_gives_the_last_snapshot(served: str, latest: Latest) -> None:
    latest.snapshot = msgspec.structs.replace(snapshot(full=True), seq=7)

    answer = await get_node(served)

    assert answer.node.seq == 7
    assert answer.node.pods[0].cgroup.path == "/pod"
    assert answer.snapshot_json == b""
    assert answer.agent_version == __version__


async def test_get_node_next_snapshot_is_not_the_kept_answer(served: str, latest: Latest) -> None:
    made = snapshot(full=True)
    latest.snapshot = msgspec.structs.replace(made, seq=1)
    await get_node(served, with_json=True)
    latest.snapshot = msgspec.structs.replace(made, seq=2)

    answer = await get_node(served, with_json=True)

    assert answer.node.seq == 2
    assert decode(answer.snapshot_json, NodeSnapshot) == latest.snapshot


async def test_get_node_before_the_first_snapshot_is_unavailable_and_says_so(served: str) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await get_node(served)

    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
    assert "first snapshot is not ready" in str(caught.value.details())


async def test_get_node_value_the_api_cannot_carry_is_internal_and_the_server_goes_on(
    served: str, latest: Latest
) -> None:
    made = snapshot(full=True)
    latest.snapshot = msgspec.structs.replace(made, host=msgspec.structs.replace(made.host, node_name="\ud800"))
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await get_node(served)
    latest.snapshot = snapshot(full=True)

    answer = await get_node(served)

    assert caught.value.code() is grpc.StatusCode.INTERNAL
    assert "cannot put the snapshot into a message" in str(caught.value.details())
    assert answer.node.pods


async def test_get_node_oversized_request_is_refused_and_the_server_goes_on(served: str, latest: Latest) -> None:
    latest.snapshot = snapshot(full=True)
    async with connected(served) as channel:
        raw: Any = channel.unary_unary(f"/{SERVICE}/GetNode")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await raw(b"\x0a" + bytes(Limits().request_bytes + 1), timeout=WAIT_S)

    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert (await get_node(served)).node.pods


async def test_get_node_request_that_is_no_message_is_refused_and_the_server_goes_on(
    served: str, latest: Latest
) -> None:
    latest.snapshot = snapshot(full=True)
    async with connected(served) as channel:
        raw: Any = channel.unary_unary(f"/{SERVICE}/GetNode")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await raw(b"\xff\xff\xff", timeout=WAIT_S)

    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert (await get_node(served)).node.pods


async def test_health_request_that_is_no_message_is_refused(served: str) -> None:
    async with connected(served) as channel:
        raw: Any = channel.unary_unary("/grpc.health.v1.Health/Check")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await raw(b"\xff\xff\xff", timeout=WAIT_S)

    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_call_that_does_not_exist_is_unimplemented(served: str) -> None:
    async with connected(served) as channel:
        raw: Any = channel.unary_unary(f"/{SERVICE}/Explode")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await raw(b"", timeout=WAIT_S)

    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_health_node_service_serves_once_there_is_a_snapshot(served: str, latest: Latest) -> None:
    async with connected(served) as channel:
        stub = health_stub(channel)
        request = health_pb2.HealthCheckRequest(service=SERVICE)
        before = await stub.Check(request, timeout=WAIT_S)
        overall = await stub.Check(health_pb2.HealthCheckRequest(), timeout=WAIT_S)
        latest.snapshot = snapshot(full=True)
        after = await stub.Check(request, timeout=WAIT_S)

    assert (before.status, overall.status, after.status) == (NOT_SERVING, SERVING, SERVING)


async def test_health_follows_the_ready_function(socket_path: str, latest: Latest) -> None:
    latest.snapshot = snapshot(full=True)
    stale = asyncio.Event()
    request = health_pb2.HealthCheckRequest(service=SERVICE)
    async with (
        serve_rpc(socket_path, latest.get, ready=lambda: not stale.is_set()) as path,
        connected(path) as channel,
    ):
        fresh = await health_stub(channel).Check(request, timeout=WAIT_S)
        stale.set()
        old = await health_stub(channel).Check(request, timeout=WAIT_S)

    assert (fresh.status, old.status) == (SERVING, NOT_SERVING)


async def test_health_unknown_service_is_not_found(served: str) -> None:
    async with connected(served) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await health_stub(channel).Check(health_pb2.HealthCheckRequest(service="other"), timeout=WAIT_S)

    assert caught.value.code() is grpc.StatusCode.NOT_FOUND


async def test_health_watcher_hears_of_changes_and_of_the_end(socket_path: str, latest: Latest) -> None:
    heard: asyncio.Queue[int] = asyncio.Queue()

    async def listen(channel: grpc.aio.Channel) -> None:
        with contextlib.suppress(grpc.aio.AioRpcError):
            async for answer in health_stub(channel).Watch(health_pb2.HealthCheckRequest(service=SERVICE)):
                heard.put_nowait(answer.status)

    async with asyncio.timeout(WAIT_S), contextlib.AsyncExitStack() as stack:
        path = await stack.enter_async_context(serve_rpc(socket_path, latest.get))
        async with connected(path) as channel, asyncio.TaskGroup() as group:
            group.create_task(listen(channel))
            first = await heard.get()
            latest.snapshot = snapshot(full=True)
            second = await heard.get()
            await stack.aclose()
            third = await heard.get()

    assert (first, second, third) == (NOT_SERVING, SERVING, NOT_SERVING)


async def test_reflection_lists_the_services_and_their_files(served: str) -> None:
    async with connected(served) as channel:
        stub: Any = reflection_pb2_grpc.ServerReflectionStub(channel)  # type: ignore[no-untyped-call]
        requests = [
            reflection_pb2.ServerReflectionRequest(list_services=""),
            reflection_pb2.ServerReflectionRequest(file_containing_symbol=SERVICE),
        ]
        listed, described = [one async for one in stub.ServerReflectionInfo(iter(requests), timeout=WAIT_S)]

    names = {one.name for one in listed.list_services_response.service}
    assert {SERVICE, "grpc.health.v1.Health"} <= names
    assert pb.DESCRIPTOR.serialized_pb in described.file_descriptor_response.file_descriptor_proto


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.binary(min_size=1, max_size=400), max_size=4), st.booleans())
def test_garbage_on_the_socket_does_not_end_the_server(
    tmp_path_factory: pytest.TempPathFactory, chunks: list[bytes], speaks_http2: bool
) -> None:
    async def throw() -> int:
        latest = Latest(snapshot=snapshot(full=True))
        path = str(tmp_path_factory.mktemp("g") / "s")
        async with asyncio.timeout(WAIT_S), serve_rpc(path, latest.get, limits=Limits(grace_s=0.1)):
            reader, writer = await asyncio.open_unix_connection(path)
            with contextlib.suppress(ConnectionError):
                for chunk in ([b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"] if speaks_http2 else []) + chunks:
                    writer.write(chunk)
                    await writer.drain()
                await reader.read(100)
            writer.close()
            return len((await get_node(path)).node.pods)

    assert asyncio.run(throw()) == 1


async def test_connection_that_says_nothing_is_closed(socket_path: str, latest: Latest) -> None:
    async with serve_rpc(socket_path, latest.get, limits=Limits(handshake_ms=200)) as path:
        reader, writer = await asyncio.open_unix_connection(path)
        async with asyncio.timeout(WAIT_S):
            await reader.read()  # what the server says first, and the end
        writer.close()

    assert reader.at_eof()


async def test_connections_beyond_the_limit_are_closed(socket_path: str, latest: Latest) -> None:
    async with serve_rpc(socket_path, latest.get, limits=Limits(connections=1)) as path, connected(path) as channel:
        await health_stub(channel).Check(health_pb2.HealthCheckRequest(), timeout=WAIT_S)
        reader, writer = await asyncio.open_unix_connection(path)
        async with asyncio.timeout(WAIT_S):
            said = await reader.read()
        writer.close()
        still = await health_stub(channel).Check(health_pb2.HealthCheckRequest(), timeout=WAIT_S)

    assert said == b""
    assert still.status == SERVING


async def watching(channel: grpc.aio.Channel) -> Any:
    """An open call that stays open; returns once the server has answered it."""
    call = health_stub(channel).Watch(health_pb2.HealthCheckRequest())
    await call.read()
    return call


async def test_calls_beyond_the_limit_are_refused_and_room_is_made_again(socket_path: str, latest: Latest) -> None:
    latest.snapshot = snapshot(full=True)
    async with (
        asyncio.timeout(WAIT_S),
        serve_rpc(socket_path, latest.get, limits=Limits(calls=2, grace_s=0.1)) as path,
        connected(path) as channel,
    ):
        open_calls = [await watching(channel) for _ in range(2)]
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await node_stub(channel).GetNode(pb.GetNodeRequest(), timeout=WAIT_S)
        for call in open_calls:
            call.cancel()
        while True:
            with contextlib.suppress(grpc.aio.AioRpcError):
                answer = await node_stub(channel).GetNode(pb.GetNodeRequest(), timeout=WAIT_S)
                break

    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert answer.node.pods


async def test_calls_beyond_the_limit_of_a_connection_wait_for_room(socket_path: str, latest: Latest) -> None:
    latest.snapshot = snapshot(full=True)
    async with (
        asyncio.timeout(WAIT_S),
        serve_rpc(socket_path, latest.get, limits=Limits(streams=1, grace_s=0.1)) as path,
        connected(path) as channel,
    ):
        held = await watching(channel)
        waiting = asyncio.ensure_future(node_stub(channel).GetNode(pb.GetNodeRequest(), timeout=WAIT_S))
        done, _ = await asyncio.wait({waiting}, timeout=0.3)
        held.cancel()
        answer = await waiting

    assert done == set()
    assert answer.node.pods


async def test_socket_is_for_owner_and_group_only_and_gone_afterwards(socket_path: str, latest: Latest) -> None:
    before = os.umask(0)
    try:
        async with serve_rpc(socket_path, latest.get) as path:
            mode = mode_of(path)
    finally:
        os.umask(before)

    assert mode == stat.S_IFSOCK | 0o660
    assert mode_of(socket_path) is None


async def test_socket_folder_is_made(tmp_path: Path, latest: Latest) -> None:
    async with serve_rpc(str(tmp_path / "a" / "b" / "s"), latest.get) as path:
        assert mode_of(path) == stat.S_IFSOCK | 0o660


async def test_socket_of_a_dead_process_is_replaced(socket_path: str, latest: Latest) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(socket_path)
    latest.snapshot = snapshot(full=True)

    async with serve_rpc(socket_path, latest.get) as path:
        assert (await get_node(path)).node.pods


async def test_path_with_blanks_and_percent_signs_is_taken_as_it_is(tmp_path: Path, latest: Latest) -> None:
    latest.snapshot = snapshot(full=True)

    async with serve_rpc(str(tmp_path / "a %20?#b"), latest.get) as path:
        assert mode_of(path) == stat.S_IFSOCK | 0o660
        assert (await get_node(path)).node.pods


async def test_connection_without_calls_is_closed(socket_path: str, latest: Latest) -> None:
    """Else 128 of them, which cost their owner nothing, would keep everybody else out for good."""
    async with serve_rpc(socket_path, latest.get, limits=Limits(idle_ms=200)) as path:
        reader, writer = await asyncio.open_unix_connection(path)
        writer.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]))  # and empty settings
        async with asyncio.timeout(WAIT_S):
            await reader.read()
        writer.close()

    assert reader.at_eof()


async def test_end_of_a_server_leaves_the_socket_that_took_its_place(socket_path: str, latest: Latest) -> None:
    latest.snapshot = snapshot(full=True)
    async with contextlib.AsyncExitStack() as second:
        async with serve_rpc(socket_path, latest.get):
            os.unlink(socket_path)
            await second.enter_async_context(serve_rpc(socket_path, latest.get))

        assert (await get_node(socket_path)).node.pods
        assert os.listdir(os.path.dirname(socket_path)) == [os.path.basename(socket_path)]

    assert mode_of(socket_path) is None
