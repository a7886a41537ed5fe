from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc.aio
import pytest

from fuyaod.model.snapshot import NodeSnapshot
from fuyaod.rpc.server import Limits, serve_rpc
from fuyaod.rpc.sockets import grpc_target


class Latest:
    """What the server's provider gives."""

    def __init__(self, snapshot: NodeSnapshot | None = None) -> None:
        self.snapshot = snapshot

    def get(self) -> NodeSnapshot | None:
        return self.snapshot


@pytest.fixture
def latest() -> Latest:
    return Latest()


@pytest.fixture
def socket_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    # pytest's own folders may be longer than the 107 bytes of a socket path once xdist and long names add up.
    return str(tmp_path_factory.mktemp("s") / "fuyaod.sock")


@pytest.fixture
async def served(latest: Latest, socket_path: str) -> AsyncIterator[str]:
    """A running server's socket."""
    async with serve_rpc(socket_path, latest.get, limits=Limits(grace_s=0.2)) as path:
        yield path


@asynccontextmanager
async def connected(path: str | Path) -> AsyncIterator[grpc.aio.Channel]:
    """A client of the socket with room for large answers."""
    options = (("grpc.max_receive_message_length", 64 << 20),)
    async with grpc.aio.insecure_channel(grpc_target(str(path)), options=options) as channel:
        yield channel
