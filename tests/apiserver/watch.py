"""One watch: initial events, changes in order, selector transitions, bookmarks, expiry."""

import asyncio
import random
from collections.abc import Mapping

import msgspec
from aiohttp import web

from tests.apiserver import selectors
from tests.apiserver.errors import ApiError, JsonObject, invalid
from tests.apiserver.faults import Cut, Fault, Garbage, Hang
from tests.apiserver.reads import check_not_ahead, parse_rv
from tests.apiserver.store import Event, Store
from tests.apiserver.target import Target, is_true
from tests.apiserver.views import shown

_DEFAULT_TIMEOUT_S = 1800.0
"""Source: kube-apiserver --min-request-timeout (a watch without timeoutSeconds lasts 1 to 2 times this)."""


class WatchSettings:
    """What a test can turn on all watches of a server."""

    def __init__(self) -> None:
        self.bookmark_every_s = 60.0
        self.refuses_initial_events = False
        self.paused = False
        self.closing = False


class WatchStream:
    """Serves one watch request."""

    def __init__(
        self, store: Store, target: Target, query: Mapping[str, str], settings: WatchSettings, metadata_only: bool
    ):
        self._store = store
        self._target = target
        self._settings = settings
        self._metadata_only = metadata_only
        self._wanted = selectors.parse(query.get("labelSelector", ""), query.get("fieldSelector", ""), target.resource)
        self._bookmarks = is_true(query, "allowWatchBookmarks")
        self._initial = is_true(query, "sendInitialEvents")
        self._from_rv = parse_rv(query.get("resourceVersion", ""))
        self._timeout_s = float(query.get("timeoutSeconds") or _DEFAULT_TIMEOUT_S * random.uniform(1, 2))
        self._fault: Fault | None = None
        self._events_left = 0
        self._ended = False
        self._request: web.Request | None = None
        self._response = web.StreamResponse(headers={"Content-Type": "application/json"})
        _check_initial(query, self._initial)
        if self._initial:
            check_not_ahead(store, self._from_rv)

    async def serve(self, request: web.Request, fault: Fault | None) -> web.StreamResponse:
        """Stream until the timeout, the end of the client, or of the server."""
        self._request, self._fault = request, fault
        self._events_left = fault.after_events if isinstance(fault, Cut) else 0
        waker = self._store.subscribe()
        try:
            await self._response.prepare(request)
            if isinstance(fault, Garbage):
                await self._response.write(fault.body)
            await self._run(waker)
        except (ConnectionResetError, ConnectionAbortedError):
            return self._response
        finally:
            self._store.unsubscribe(waker)
        return self._response

    async def inject(self, line: bytes) -> None:
        """Write raw bytes into the stream, as a broken proxy would."""
        await self._response.write(line)

    def end(self) -> None:
        """End the stream politely, as at its timeout."""
        self._ended = True
        self._store.wake()

    def abort(self) -> None:
        """Cut the connection."""
        if self._request is not None and self._request.transport is not None:
            self._request.transport.abort()

    async def _run(self, waker: asyncio.Event) -> None:
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + self._timeout_s
        next_bookmark_at = loop.time() + self._settings.bookmark_every_s
        try:
            cursor = await self._start()
            while not self._settings.closing and not self._ended:
                waker.clear()
                if not self._is_silent():
                    cursor = await self._catch_up(cursor)
                wait_until = min(ends_at, next_bookmark_at)
                if await _woken(waker, wait_until - loop.time()):
                    continue
                if self._bookmarks and not self._is_silent():
                    await self._send("BOOKMARK", self._bookmark(cursor))
                if loop.time() >= ends_at:
                    return
                next_bookmark_at = loop.time() + self._settings.bookmark_every_s
        except ApiError as error:
            await self._send("ERROR", error.status())

    def _is_silent(self) -> bool:
        return self._settings.paused or isinstance(self._fault, Hang)

    async def _start(self) -> int:
        if self._initial and self._settings.refuses_initial_events:
            message = "required storage feature RequestWatchProgress is disabled"
            raise ApiError(500, message)
        if self._from_rv and not self._initial:
            return self._from_rv
        cursor = self._store.rv
        for obj in self._store.items(self._target.resource.key, self._target.namespace):
            if self._wanted(obj):
                await self._send("ADDED", self._shown(obj))
        if self._initial and self._bookmarks:
            bookmark = self._bookmark(cursor)
            bookmark["metadata"]["annotations"] = {"k8s.io/initial-events-end": "true"}
            await self._send("BOOKMARK", bookmark)
        return cursor

    async def _catch_up(self, cursor: int) -> int:
        events, upto = self._store.since(self._target.resource.key, cursor), max(cursor, self._store.rv)
        for event in events:
            if not self._target.namespace or event.obj["metadata"].get("namespace") == self._target.namespace:
                await self._send_change(event)
        return upto

    async def _send_change(self, event: Event) -> None:
        was = event.previous is not None and self._wanted(event.previous)
        is_now = event.type != "DELETED" and self._wanted(event.obj)
        if is_now:
            await self._send("MODIFIED" if was else "ADDED", self._shown(event.obj))
        elif was and event.previous is not None:
            # The last state that matched, under the version of this change: this is what the real watch cache sends.
            metadata = {**event.previous["metadata"], "resourceVersion": str(event.rv)}
            await self._send("DELETED", self._shown({**event.previous, "metadata": metadata}))

    def _shown(self, obj: JsonObject) -> JsonObject:
        return shown(obj, self._target.resource, self._metadata_only)

    def _bookmark(self, rv: int) -> JsonObject:
        resource = self._target.resource
        kind, version = resource.kind, resource.api_version
        if self._metadata_only:
            kind, version = "PartialObjectMetadata", "meta.k8s.io/v1"
        return {
            "kind": kind,
            "apiVersion": version,
            "metadata": {"resourceVersion": str(rv), "creationTimestamp": None},
        }

    async def _send(self, kind: str, obj: JsonObject) -> None:
        line = msgspec.json.encode({"type": kind, "object": obj}) + b"\n"
        if isinstance(self._fault, Cut):
            if self._events_left == 0:
                await self._response.write(line[: len(line) // 2])
                await asyncio.sleep(0)
                self.abort()
                raise ConnectionAbortedError
            self._events_left -= 1
        await self._response.write(line)


def _check_initial(query: Mapping[str, str], initial: bool) -> None:
    match = query.get("resourceVersionMatch", "")
    if initial and match != "NotOlderThan":
        cause = (
            "FieldValueForbidden",
            "resourceVersionMatch",
            "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        )
        raise invalid("ListOptions.meta.k8s.io", "", [cause])
    if match and not initial:
        cause = (
            "FieldValueForbidden",
            "resourceVersionMatch",
            "Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
        )
        raise invalid("ListOptions.meta.k8s.io", "", [cause])


async def _woken(waker: asyncio.Event, for_s: float) -> bool:
    try:
        async with asyncio.timeout(max(for_s, 0)):
            await waker.wait()
    except TimeoutError:
        return False
    return True
