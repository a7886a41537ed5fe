"""`python -m tests.apiserver [KUBECONFIG]` serves until it is interrupted; the file named gets a kubeconfig for it."""

import argparse
import asyncio
import contextlib
import sys
from collections.abc import Callable, Sequence
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of the command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.apiserver", description="Serve until interrupted (Ctrl-C).")
    parser.add_argument("kubeconfig", nargs="?", type=Path, help="gets a kubeconfig for the server")
    path: Path | None = parser.parse_args(arguments).kubeconfig
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(lambda server: path and path.write_bytes(kubeconfig(server))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
