"""The standard health service (`grpc.health.v1`), answered from functions.

The library's own servicer is told a state and keeps it: a loop that hangs would stay SERVING. Here every question
looks.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from typing import Any, Final

import grpc
import grpc.aio
from grpc_health.v1 import health_pb2

from fuyaod.rpc.requests import reader, refuse_malformed

SERVICE: Final = "grpc.health.v1.Health"
WATCH_EVERY_S: Final = 1.0
"""How soon a watcher hears of a change."""


class Health:
    """Health of services by name; "" is the server as a whole.

    Args:
        serving: for each name a function that says whether it serves now.
    """

    def __init__(self, serving: Mapping[str, Callable[[], bool]]) -> None:
        self._serving = dict(serving)
        self._closing = asyncio.Event()

    def close(self) -> None:
        """From now on nothing serves; watchers hear it and their streams end."""
        self._closing.set()

    def handler(self) -> grpc.GenericRpcHandler:
        """The service as gRPC wants it."""
        methods: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
            "Check": grpc.unary_unary_rpc_method_handler(
                self.check,
                request_deserializer=reader(health_pb2.HealthCheckRequest),
                response_serializer=health_pb2.HealthCheckResponse.SerializeToString,
            ),
            "Watch": grpc.unary_stream_rpc_method_handler(
                self.watch,
                request_deserializer=reader(health_pb2.HealthCheckRequest),
                response_serializer=health_pb2.HealthCheckResponse.SerializeToString,
            ),
        }
        return grpc.method_handlers_generic_handler(SERVICE, methods)

    async def check(
        self, request: health_pb2.HealthCheckRequest | None, context: grpc.aio.ServicerContext[Any, Any]
    ) -> health_pb2.HealthCheckResponse:
        """State of one service. NOT_FOUND for a name that is none."""
        if request is None:
            await refuse_malformed(context)
        if request.service not in self._serving:
            await context.abort(grpc.StatusCode.NOT_FOUND, f"cannot find service {request.service[:80]!r}")
        return self._answer(request.service)

    async def watch(
        self, request: health_pb2.HealthCheckRequest | None, context: grpc.aio.ServicerContext[Any, Any]
    ) -> AsyncIterator[health_pb2.HealthCheckResponse]:
        """State of one service now and after every change; SERVICE_UNKNOWN for a name that is none."""
        if request is None:
            await refuse_malformed(context)
        said = None
        while True:
            closing = self._closing.is_set()
            answer = self._answer(request.service)
            if answer != said:
                yield answer
                said = answer
            if closing:
                return
            with suppress(TimeoutError):
                async with asyncio.timeout(WATCH_EVERY_S):
                    await self._closing.wait()

    def _answer(self, service: str) -> health_pb2.HealthCheckResponse:
        serves = self._serving.get(service)
        if serves is None:
            return health_pb2.HealthCheckResponse(status="SERVICE_UNKNOWN")
        healthy = not self._closing.is_set() and serves()
        return health_pb2.HealthCheckResponse(status="SERVING" if healthy else "NOT_SERVING")
