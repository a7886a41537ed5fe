from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import grpc
import grpc.aio
import msgspec
import pytest

from fuyaod.errors import FuyaodError
from fuyaod.rpc.client import NodeClient
from fuyaod.rpc.sockets import grpc_target
from tests.unit.rpc.conftest import Latest
from tests.unit.rpc.samples import snapshot

T = TypeVar("T")


async def ask(path: str, question: Callable[[NodeClient], T], deadline_s: float = 10.0) -> T:
    """Asks in a thread: client and server share this process."""

    def run() -> T:
        with NodeClient(path, deadline_s) as client:
            return question(client)

    return await asyncio.to_thread(run)


async def refusal(path: str, deadline_s: float = 10.0) -> str:
    with pytest.raises(FuyaodError) as caught:
        await ask(path, NodeClient.snapshot, deadline_s)
    return str(caught.value)


async def test_snapshot_is_what_the_agent_has(served: str, latest: Latest) -> None:
    latest.snapshot = msgspec.structs.replace(snapshot(full=True), schema=1)

    assert await ask(served, NodeClient.snapshot) == latest.snapshot


async def test_snapshot_nobody_there_says_how_to_start(tmp_path: Path) -> None:
    text = await refusal(str(tmp_path / "s"))

    assert text.startswith(f"cannot reach the agent at {tmp_path / 's'}: is fuyaod running?")
    assert "`fuyaod run`" in text
    assert "--root /" in text


async def test_snapshot_socket_of_a_dead_agent_says_how_to_start(socket_path: str) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(socket_path)

    assert "is fuyaod running?" in await refusal(socket_path)


async def test_snapshot_before_the_first_says_to_wait(served: str) -> None:
    assert "the first snapshot is not ready" in await refusal(served)


async def test_snapshot_of_another_schema_names_both(served: str, latest: Latest) -> None:
    latest.snapshot = msgspec.structs.replace(snapshot(full=True), schema=2)

    assert "its schema is 2, this tool knows 1" in await refusal(served)


async def test_snapshot_json_of_another_schema_is_given_as_it_is(served: str, latest: Latest) -> None:
    latest.snapshot = msgspec.structs.replace(snapshot(full=True), schema=2)

    assert msgspec.json.decode(await ask(served, NodeClient.snapshot_json))["schema"] == 2


async def test_snapshot_agent_that_hangs_is_given_up(socket_path: str) -> None:
    with socket.socket(socket.AF_UNIX) as hung:
        hung.bind(socket_path)
        hung.listen(8)

        text = await refusal(socket_path, deadline_s=0.3)

    assert "within 0.3 s" in text


async def test_snapshot_other_grpc_server_is_named_as_such(socket_path: str) -> None:
    other = grpc.aio.server()
    other.add_insecure_port(grpc_target(socket_path))
    await other.start()
    try:
        assert "has no such call" in await refusal(socket_path)
    finally:
        await other.stop(None)
