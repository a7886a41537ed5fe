"""Requests from their bytes. Left to gRPC, every malformed one would put a traceback into the log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

import grpc
import grpc.aio
from google.protobuf.message import DecodeError, Message

M = TypeVar("M", bound=Message)


def reader(kind: type[M]) -> Callable[[bytes], M | None]:
    """A deserialiser that gives None for bytes that are no such message."""

    def read(raw: bytes) -> M | None:
        try:
            return kind.FromString(raw)
        except DecodeError:
            return None

    return read


async def refuse_malformed(context: grpc.aio.ServicerContext[Any, Any]) -> NoReturn:
    """Ends the call with INVALID_ARGUMENT."""
    await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "cannot read the request: its bytes are no such message")
