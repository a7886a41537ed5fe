"""A blocking client of the node API for command lines. gRPC is imported when a client is made, not before."""

from __future__ import annotations

import errno
import os
import socket
import struct
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, cast

from fuyaod.errors import FuyaodError
from fuyaod.model.snapshot import SNAPSHOT_SCHEMA, NodeSnapshot
from fuyaod.model.values import decode
from fuyaod.rpc.sockets import absolute_path, grpc_target, why_unsafe

if TYPE_CHECKING:
    import grpc

    from fuyao_api.node.v1 import node_pb2 as pb

MAX_ANSWER_BYTES: Final = 64 << 20
DEADLINE_S: Final = 5.0

_UCRED: Final = struct.Struct("3i")
"""pid, uid, gid. Source: unix(7), SO_PEERCRED."""


class NodeClient:
    """Calls of the node API over the agent's Unix socket.

    Args:
        socket_path: the agent's socket.
        deadline_s: how long each call may take, in seconds.

    Raises:
        FuyaodError: nobody listens there, somebody else than root or this user could, or no permission; the text says
            what to do. All methods raise it too, when
            the agent does not answer in time, answers with an error, or with something else.
    """

    def __init__(self, socket_path: str, deadline_s: float = DEADLINE_S) -> None:
        self._path = absolute_path(socket_path)
        self._deadline_s = deadline_s
        trusted = _trusted_path(self._path)
        _knock(self._path, trusted, deadline_s)
        import grpc

        self._channel = grpc.insecure_channel(
            grpc_target(trusted),
            options=(("grpc.max_receive_message_length", MAX_ANSWER_BYTES), ("grpc.enable_http_proxy", 0)),
        )

    def __enter__(self) -> NodeClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection."""
        self._channel.close()

    def get_node(self, *, include_snapshot_json: bool = False) -> pb.GetNodeResponse:
        """The agent's last snapshot as a message."""
        import grpc

        from fuyao_api.node.v1 import node_pb2 as pb
        from fuyao_api.node.v1.node_pb2_grpc import NodeServiceStub

        stub = NodeServiceStub(self._channel)  # type: ignore[no-untyped-call]
        request = pb.GetNodeRequest(include_snapshot_json=include_snapshot_json)
        try:
            answer: pb.GetNodeResponse = stub.GetNode(request, timeout=self._deadline_s)
        except grpc.RpcError as error:
            call = cast("grpc.Call", error)  # every error of a call is the call, too
            raise FuyaodError(self._explain(call.code(), call.details())) from error
        return answer

    def snapshot_json(self) -> bytes:
        """The agent's last snapshot as the JSON that the agent made, whatever its schema."""
        return self.get_node(include_snapshot_json=True).snapshot_json

    def snapshot(self) -> NodeSnapshot:
        """The agent's last snapshot. Raises FuyaodError too when the agent speaks another schema than this tool."""
        answer = self.get_node(include_snapshot_json=True)
        if answer.node.schema != SNAPSHOT_SCHEMA:
            raise FuyaodError(
                f"cannot read the snapshot of the agent at {self._path}: its schema is {answer.node.schema}, this tool "
                f"knows {SNAPSHOT_SCHEMA}; use the fuyaoctl of the agent's version"
            )
        try:
            return decode(answer.snapshot_json, NodeSnapshot)
        except ValueError as error:
            raise FuyaodError(f"cannot read the snapshot of the agent at {self._path}: {error}") from error

    def _explain(self, code: grpc.StatusCode, details: str | None) -> str:
        match code.name:
            case "DEADLINE_EXCEEDED":
                return (
                    f"cannot get an answer from the agent at {self._path} within {self._deadline_s:g} s: is it stopped?"
                )
            case "UNIMPLEMENTED":
                return f"cannot use the socket {self._path}: what listens there has no such call ({details})"
            case _:
                return f"cannot use the answer of the agent at {self._path}: {details} ({code.name})"


def _trusted_path(path: str) -> str:
    """The path without links, once its folder is known to be one where only root and this user can put a socket.

    The agent's folder may be `/tmp/fuyaod-<uid>`, which anybody can make before the agent does.
    """
    folder, name = os.path.split(path)
    real = os.path.realpath(folder)
    try:
        seen = Path(real).stat()
    except OSError as error:
        raise FuyaodError(f"cannot reach the agent at {path}: {_advice(error)}") from error
    if reason := why_unsafe(seen.st_mode, seen.st_uid, os.geteuid()):
        raise FuyaodError(f"cannot trust {path}: {real}: {reason}; take another path with --socket")
    return f"{real}/{name}"


def _knock(path: str, trusted: str, deadline_s: float) -> None:
    """Connects once: the kernel's errno says more than gRPC's text does, and it tells who listens."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(deadline_s)
        try:
            probe.connect(trusted)
            credentials = probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size)
        except OSError as error:
            raise FuyaodError(f"cannot reach the agent at {path}: {_advice(error)}") from error
    uid = _UCRED.unpack(credentials)[1]
    if uid not in (0, os.geteuid()):
        raise FuyaodError(f"cannot trust {path}: user {uid} listens there, neither root nor you; ask as that user")


def _advice(error: OSError) -> str:
    match error.errno:
        case errno.EACCES | errno.EPERM:
            return "permission denied; run as root or as a member of the socket's group"
        case errno.ENOENT | errno.ECONNREFUSED | errno.ENOTDIR | errno.ENOTSOCK:
            return (
                "is fuyaod running? Start it with `fuyaod run`, name its socket with --socket, or pass --root / to "
                "look at the host without it"
            )
        case _:
            return error.strerror or str(error)
