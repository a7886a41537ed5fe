"""`python -m tests.apiserver [KUBECONFIG]` serves until it is interrupted; the file named gets a kubeconfig for it."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from tests.apiserver.server import FakeApiServer


def kubeconfig(server: FakeApiServer) -> bytes:
    """A kubeconfig for a running server (JSON, which is YAML)."""
    user = {"token": server.token} if server.token else {}
    return msgspec.json.encode(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "fake", "cluster": {"server": server.url}}],
            "users": [{"name": "admin", "user": user}],
            "contexts": [{"name": "fake", "context": {"cluster": "fake", "user": "admin"}}],
            "current-context": "fake",
        }
    )


async def serve(announce: Callable[[FakeApiServer], object]) -> None:
    """Serve for ever; `announce` is called once the server listens."""
    async with FakeApiServer(token="test") as server:
        announce(server)
        print(server.url, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    try:
        asyncio.run(serve(lambda server: [Path(path).write_bytes(kubeconfig(server)) for path in sys.argv[1:2]]))
    except KeyboardInterrupt:
        sys.exit(0)
