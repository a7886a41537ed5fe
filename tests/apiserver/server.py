"""The server: sockets, authentication, faults, and the handles a test steers it with."""

import asyncio
import contextlib
import ssl
from collections import deque
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from aiohttp import web

from tests.apiserver.errors import ApiError, JsonObject, not_found
from tests.apiserver.faults import Cut, Fault, Faults, Garbage, Hang, Latency, Refuse, Stall
from tests.apiserver.kinds import Registry, Resource
from tests.apiserver.routes import Routes, error_response
from tests.apiserver.store import Store, clone
from tests.apiserver.target import Target, parse_target
from tests.apiserver.views import wants_metadata_only
from tests.apiserver.watch import WatchSettings, WatchStream
from tests.apiserver.writes import DeleteOptions, WriteOptions, Writer

_MAX_BODY_BYTES = 3 * 1024 * 1024
"""Source: MaxRequestBodyBytes of kube-apiserver."""
_REMEMBERED_REQUESTS = 100_000


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One request the server got. `resource` is '' for discovery and health."""

    verb: str
    resource: str
    namespace: str
    name: str
    subresource: str
    query: dict[str, str]
    accept: str
    agent: str


class FakeApiServer:
    """An API server on a free port of 127.0.0.1, in the running event loop.

    `token`: bearer token that every request must carry, None for no check. `tls`: server context for https.
    Use as an async context manager, or call `start` and `stop`.
    """

    def __init__(self, *, token: str | None = None, tls: ssl.SSLContext | None = None) -> None:
        self.token = token
        self.store = Store()
        self.registry = Registry()
        self.writer = Writer(self.store, self.registry)
        self.faults = Faults()
        self.watch_settings = WatchSettings()
        self.requests: deque[Seen] = deque(maxlen=_REMEMBERED_REQUESTS)
        self.port = 0
        self._tls = tls
        self._routes = Routes(self.store, self.registry, self.writer)
        self._runner: web.AppRunner | None = None
        self._watches: set[WatchStream] = set()
        self._connections: set[asyncio.Transport] = set()
        for name in ("default", "kube-system"):
            self.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})

    @property
    def url(self) -> str:
        """Base address, without a trailing slash."""
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        """Listen; on the same port again after `stop`."""
        self.watch_settings.closing = False
        app = web.Application(client_max_size=_MAX_BODY_BYTES)
        app.router.add_route("*", "/{path:.*}", self._serve)
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.05)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port, ssl_context=self._tls, reuse_address=True)
        await site.start()
        self.port = int(self._runner.addresses[0][1])

    async def stop(self) -> None:
        """Abort every connection and stop listening. The objects stay."""
        self.watch_settings.closing = True
        self.store.wake()
        for transport in tuple(self._connections):
            # A TLS transport whose connection is lost already raises AttributeError on Python 3.11.2.
            with contextlib.suppress(AttributeError):
                transport.abort()
        if self._runner is not None:
            await self._runner.cleanup()
        self._runner = None

    async def restart(self, jump: int = 1000) -> None:
        """Stop and start; afterwards the history is gone and the version has advanced by `jump`."""
        await self.stop()
        self.store.jump(jump)
        self.store.compact()
        await self.start()

    # What a test does to the objects, without HTTP.

    def create(self, obj: JsonObject) -> JsonObject:
        """Create an object as a client would, but keep the status it is given with."""
        resource = self._resource_of(obj)
        namespace = obj["metadata"].get("namespace", "default") if resource.namespaced else ""
        created = self.writer.create(resource, namespace, clone(obj), WriteOptions(manager="test"))
        if not obj.get("status") or created.get("status") == obj["status"]:
            return created
        status = {**created.get("status", {}), **obj["status"]}
        return self.store.put(resource.key, {**created, "status": status})

    def update(self, obj: JsonObject) -> JsonObject:
        """Overwrite a stored object as it is given, status and all, without any rule."""
        return self.store.put(self._resource_of(obj).key, clone(obj))

    def remove(self, obj: JsonObject) -> None:
        """Remove an object at once, as its kubelet or controller would finish a deletion."""
        resource = self._resource_of(obj)
        namespace = obj["metadata"].get("namespace", "default") if resource.namespaced else ""
        if resource.kind == "Pod":
            self.store.drop(resource.key, self.writer.existing(resource, namespace, obj["metadata"]["name"]))
            return
        self.writer.delete(resource, namespace, obj["metadata"]["name"], DeleteOptions(grace_s=0))

    def get(self, plural: str, name: str, namespace: str = "") -> JsonObject:
        """A stored object by the plural of its resource. Raises ApiError 404."""
        for resource in self.registry.all():
            if resource.plural == plural and (obj := self.store.get(resource.key, namespace, name)):
                return obj
        raise not_found(plural, name)

    def _resource_of(self, obj: JsonObject) -> Resource:
        for resource in self.registry.all():
            if resource.api_version == obj["apiVersion"] and resource.kind == obj["kind"]:
                return resource
        raise ApiError(404, f"no resource of kind {obj['kind']} in {obj['apiVersion']}")

    # What a test does to the connections.

    def compact(self) -> None:
        """Forget the history: a watch from an older version is answered 410."""
        self.store.compact()

    def cut_watches(self) -> None:
        """Abort the connections of all watches."""
        for watch in tuple(self._watches):
            watch.abort()

    def end_watches(self) -> None:
        """End all watches politely, as at their timeout."""
        for watch in tuple(self._watches):
            watch.end()

    async def inject(self, line: bytes) -> None:
        """Write raw bytes into every open watch."""
        for watch in tuple(self._watches):
            await watch.inject(line)

    def pause_watches(self) -> None:
        """Open watches fall silent, without bookmarks, and keep their connections."""
        self.watch_settings.paused = True

    def resume_watches(self) -> None:
        """Watches send again, beginning with what they missed."""
        self.watch_settings.paused = False
        self.store.wake()

    @property
    def open_watches(self) -> int:
        """Number of watches being served."""
        return len(self._watches)

    def count(self, verb: str, resource: str) -> int:
        """How many requests of a verb came for a plural resource."""
        return sum(seen.verb == verb and seen.resource == resource for seen in self.requests)

    # Serving.

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        transport = request.transport
        if isinstance(transport, asyncio.Transport):
            self._connections.add(transport)
        try:
            return await self._answer(request)
        except ApiError as error:
            return error_response(error)
        except web.HTTPRequestEntityTooLarge as error:
            return error_response(ApiError(413, str(error)))
        finally:
            self._connections = {known for known in self._connections if not known.is_closing()}

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        if self.token is not None and request.headers.get("Authorization") != f"Bearer {self.token}":
            raise ApiError(401, "Unauthorized")
        target = parse_target(request.method, request.path, request.query, self.registry)
        self.requests.append(_seen(request, target))
        verb, plural = (target.verb, target.resource.plural) if target else (request.method.lower(), "")
        fault = self.faults.take(verb, plural)
        if isinstance(fault, Latency):
            await asyncio.sleep(fault.delay_s)
        if isinstance(fault, Refuse):
            raise ApiError(fault.code, fault.message, retry_after_s=fault.retry_after_s)
        if target is None:
            return self._routes.plain(request)
        if target.verb == "watch":
            return await self._watch(request, target, fault)
        return await self._with_fault(request, fault, target)

    async def _with_fault(self, request: web.Request, fault: Fault | None, target: Target) -> web.StreamResponse:
        match fault:
            case Hang():
                # Cancelled when the client goes away or the server stops.
                await asyncio.Event().wait()
            case Garbage():
                return web.Response(body=fault.body, content_type="application/json")
            case Stall():
                await _answer_half(request, await self._routes.answer(request, target))
                await asyncio.Event().wait()
            case Cut():
                await _answer_half(request, await self._routes.answer(request, target))
                if request.transport is not None:
                    request.transport.abort()
                raise ConnectionAbortedError
        return await self._routes.answer(request, target)

    async def _watch(self, request: web.Request, target: Target, fault: Fault | None) -> web.StreamResponse:
        metadata_only = wants_metadata_only(request.headers.get("Accept", ""))
        stream = WatchStream(self.store, target, request.query, self.watch_settings, metadata_only)
        self._watches.add(stream)
        try:
            return await stream.serve(request, fault)
        finally:
            self._watches.discard(stream)


async def _answer_half(request: web.Request, whole: web.Response) -> None:
    body = whole.body if isinstance(whole.body, bytes) else b""
    partial = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(len(body))})
    await partial.prepare(request)
    await partial.write(body[: len(body) // 2])


def _seen(request: web.Request, target: Target | None) -> Seen:
    return Seen(
        verb=target.verb if target else request.method.lower(),
        resource=target.resource.plural if target else "",
        namespace=target.namespace if target else "",
        name=target.name if target else "",
        subresource=target.subresource if target else "",
        query=dict(request.query),
        accept=request.headers.get("Accept", ""),
        agent=request.headers.get("User-Agent", ""),
    )
