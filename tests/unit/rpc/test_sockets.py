from __future__ import annotations

import asyncio
import os
import socket
import sys
from pathlib import Path

import pytest

from fuyaod.errors import FuyaodError
from fuyaod.rpc.server import serve_rpc
from fuyaod.rpc.sockets import claim
from tests.unit.rpc.conftest import Latest

LISTENER = """
import socket, sys
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen(1)
print("listening", flush=True)
sys.stdin.read()
"""


async def refusal(path: str) -> str:
    with pytest.raises(FuyaodError) as caught:
        async with claim(path):
            pass
    return str(caught.value)


async def test_claim_living_server_is_refused_by_its_pid_and_stays(socket_path: str) -> None:
    other = await asyncio.create_subprocess_exec(
        sys.executable, "-c", LISTENER, socket_path, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert other.stdout
    await other.stdout.readline()

    text = await refusal(socket_path)

    with socket.socket(socket.AF_UNIX) as still:
        still.connect(socket_path)
    await other.communicate(b"")
    assert text.startswith(f"cannot listen on {socket_path}: process {other.pid} of user {os.getuid()} does already")
    assert "rpc.socket" in text


async def test_serve_rpc_twice_second_is_refused_and_first_goes_on(socket_path: str, latest: Latest) -> None:
    async with serve_rpc(socket_path, latest.get) as path:
        with pytest.raises(FuyaodError, match=f"process {os.getpid()} of user"):
            async with serve_rpc(socket_path, latest.get):
                pass
        with socket.socket(socket.AF_UNIX) as still:
            still.connect(path)


async def test_serve_rpc_many_at_once_one_wins(socket_path: str, latest: Latest) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(socket_path)
    decided = asyncio.Event()
    outcomes: list[str] = []

    async def try_to_serve() -> None:
        try:
            async with serve_rpc(socket_path, latest.get):
                outcomes.append("serves")
                await decided.wait()
        except FuyaodError:
            outcomes.append("refused")
        if outcomes.count("refused") == 3:
            decided.set()

    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        for _ in range(4):
            group.create_task(try_to_serve())

    assert sorted(outcomes) == ["refused", "refused", "refused", "serves"]


async def test_claim_regular_file_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "s"
    path.write_text("precious")

    text = await refusal(str(path))

    assert "a file that is no socket is in the way" in text
    assert path.read_text() == "precious"


async def test_claim_path_too_long_is_refused(tmp_path: Path) -> None:
    assert "longer than the 107 bytes" in await refusal(str(tmp_path / ("x" * 108)))


async def test_claim_folder_open_to_everyone_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)

    text = await refusal(str(folder / "s"))

    assert text.startswith(f"cannot use {folder} for the socket: everyone may write there")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
async def test_claim_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    os.chown(folder, 12345, -1)

    text = await refusal(str(folder / "s"))

    assert text.startswith(f"cannot use {folder} for the socket: it belongs to user 12345")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
async def test_claim_folder_without_permission_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)

    text = await refusal(str(folder / "s"))

    assert text.startswith(f"cannot use {folder} for the socket: user {os.geteuid()} may not write there")


async def test_claim_waits_until_the_other_claim_in_the_folder_ends(socket_path: str) -> None:
    async def claim_second() -> None:
        async with claim(socket_path + "2"):
            pass

    async with claim(socket_path):
        second = asyncio.create_task(claim_second())
        done, _ = await asyncio.wait({second}, timeout=0.1)
        assert not done

    async with asyncio.timeout(10):
        await second


async def test_claim_sticky_folder_is_taken(tmp_path: Path) -> None:
    folder = tmp_path / "sticky"
    folder.mkdir()
    folder.chmod(0o1777)

    async with claim(str(folder / "s")):
        pass


async def test_claim_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    assert (await refusal(str(tmp_path / "file" / "s"))).startswith(f"cannot use {tmp_path / 'file'} for")
