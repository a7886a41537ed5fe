from __future__ import annotations

import asyncio
import os
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


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can listen as another user")
async def test_snapshot_socket_where_another_user_listens_is_not_spoken_to(socket_path: str) -> None:
    with socket.socket(socket.AF_UNIX) as theirs:
        theirs.bind(socket_path)
        os.seteuid(12345)  # the kernel notes who calls listen()
        try:
            theirs.listen(8)
        finally:
            os.seteuid(0)
        theirs.setblocking(False)

        text = await refusal(socket_path)

        assert text.startswith(f"cannot trust {socket_path}: user 12345 listens there")
        knock, _ = theirs.accept()
        with knock:
            assert knock.recv(100) == b""
        with pytest.raises(BlockingIOError):
            theirs.accept()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
async def test_snapshot_socket_in_a_folder_of_another_user_is_not_connected_to(
    socket_path: str, tmp_path: Path
) -> None:
    folder = Path(socket_path).parent
    with socket.socket(socket.AF_UNIX) as theirs:
        theirs.bind(socket_path)
        theirs.listen(8)
        theirs.setblocking(False)
        os.chown(folder, 12345, -1)
        link = tmp_path / "link"
        link.symlink_to(folder)

        for path in (socket_path, str(link / "fuyaod.sock")):
            assert f"cannot trust {path}: {folder}: it belongs to user 12345" in await refusal(path)
        with pytest.raises(BlockingIOError):
            theirs.accept()


async def test_snapshot_socket_in_a_folder_open_to_everyone_is_not_connected_to(served: str) -> None:
    Path(served).parent.chmod(0o777)

    assert "everyone may write there" in await refusal(served)
