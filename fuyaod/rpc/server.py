"""The node API on a Unix socket: `fuyao.node.v1.NodeService`, health and reflection."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

import grpc
import grpc.aio
from grpc_reflection.v1alpha import reflection

from fuyao_api.node.v1 import node_pb2 as pb
from fuyaod.errors import FuyaodError
from fuyaod.model.snapshot import NodeSnapshot
from fuyaod.model.values import Value
from fuyaod.rpc.answers import NodeAnswers
from fuyaod.rpc.health import SERVICE as HEALTH_SERVICE
from fuyaod.rpc.health import Health
from fuyaod.rpc.requests import reader, refuse_malformed
from fuyaod.rpc.sockets import absolute_path, claim, grpc_target, identity, spare

SERVICE: Final = pb.DESCRIPTOR.services_by_name["NodeService"].full_name

SOCKET_MODE: Final = 0o660


class Limits(Value, frozen=True, kw_only=True):
    """What a peer may take of the agent.

    `request_bytes`: requests name pods; the largest to come holds one pod's specification (etcd's own limit is 1.5
    MiB). `answer_bytes`: 200 pods with their JSON have about 2 MiB. `streams`: open calls per connection. `calls`:
    open calls in all; more are answered RESOURCE_EXHAUSTED. `handshake_ms`: a connection that has not spoken HTTP/2
    by then is closed. `idle_ms`: so is one without an open call for so long. `grace_s`: how long open calls may take
    to end at shutdown.
    """

    request_bytes: int = 1 << 20
    answer_bytes: int = 64 << 20
    connections: int = 128
    streams: int = 64
    calls: int = 256
    handshake_ms: int = 5000
    idle_ms: int = 30_000
    grace_s: float = 1.0


@asynccontextmanager
async def serve_rpc(
    socket_path: str,
    latest: Callable[[], NodeSnapshot | None],
    ready: Callable[[], bool] | None = None,
    limits: Limits | None = None,
) -> AsyncIterator[str]:
    """Serves the node API while the context lasts; yields the socket's absolute path. The socket is gone afterwards.

    Args:
        socket_path: where to listen; its folder is made when missing, the file gets mode 0660.
        latest: gives the last snapshot, None before the first.
        ready: whether NodeService counts as SERVING for health checks (default: once there is a snapshot). The server
            as a whole serves as long as it answers.
        limits: what a peer may take (default: `Limits()`).

    Raises:
        FuyaodError: the socket cannot be claimed (another agent listens there, no permission, ...).
    """
    limits = limits or Limits()
    answers = NodeAnswers(latest)
    health = Health({"": lambda: True, SERVICE: ready or (lambda: answers.has_snapshot)})
    server = _make_server(answers, health, limits)
    path = absolute_path(socket_path)
    async with claim(path):
        _bind(server, path)
        await server.start()
        ours = identity(path)
    try:
        yield path
    finally:
        health.close()
        with spare(path, ours):
            await server.stop(limits.grace_s)  # unlinks the socket first: nobody new comes in


def _make_server(answers: NodeAnswers, health: Health, limits: Limits) -> grpc.aio.Server:
    server = grpc.aio.server(
        handlers=(_node_handler(answers), health.handler()),
        options=(
            ("grpc.so_reuseport", 0),
            ("grpc.max_receive_message_length", limits.request_bytes),
            ("grpc.max_send_message_length", limits.answer_bytes),
            ("grpc.max_allowed_incoming_connections", limits.connections),
            ("grpc.max_concurrent_streams", limits.streams),
            ("grpc.server_handshake_timeout_ms", limits.handshake_ms),
            ("grpc.max_connection_idle_ms", limits.idle_ms),
        ),
        maximum_concurrent_rpcs=limits.calls,
    )
    reflection.enable_server_reflection((SERVICE, HEALTH_SERVICE, reflection.SERVICE_NAME), server)  # type: ignore[no-untyped-call]
    return server


def _bind(server: grpc.aio.Server, path: str) -> None:
    # The mask of the whole process, for one call that makes one file: there is no moment with a wider mode.
    before = os.umask(0o777 & ~SOCKET_MODE)
    try:
        server.add_insecure_port(grpc_target(path))
    except RuntimeError as error:
        raise FuyaodError(f"cannot listen on {path}: {error}") from error
    finally:
        os.umask(before)


def _node_handler(answers: NodeAnswers) -> grpc.GenericRpcHandler:
    async def get_node(request: pb.GetNodeRequest | None, context: grpc.aio.ServicerContext[Any, Any]) -> bytes:
        if request is None:
            await refuse_malformed(context)
        try:
            answer = answers.get_node(include_snapshot_json=request.include_snapshot_json)
        except ValueError as error:
            await context.abort(grpc.StatusCode.INTERNAL, f"cannot put the snapshot into a message: {error}")
        if answer is None:
            await context.abort(
                grpc.StatusCode.UNAVAILABLE,
                "cannot answer yet: the first snapshot is not ready, which takes a second or two after the start",
            )
        return answer

    handler: grpc.RpcMethodHandler[pb.GetNodeRequest | None, bytes] = grpc.unary_unary_rpc_method_handler(
        get_node, request_deserializer=reader(pb.GetNodeRequest), response_serializer=None
    )
    return grpc.method_handlers_generic_handler(SERVICE, {"GetNode": handler})
