"""`KubernetesPodSource`: one list, then one watch of this node's pods, for ever."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from random import Random
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from fuyaod.errors import ApiExpired, ApiServerError, ApiSilent
from fuyaod.kube import wire
from fuyaod.kube.backoff import Backoff
from fuyaod.kube.client import KubeClient, api_error
from fuyaod.kube.observe.health import WatchHealth
from fuyaod.kube.observe.owners import OwnerLabels
from fuyaod.kube.observe.table import PodTable
from fuyaod.kube.wire import Decoders, decode_status, decoded
from fuyaod.model.cgroup import CgroupTree
from fuyaod.model.pods import SourceReport
from fuyaod.model.values import Value

PODS: Final = "/api/v1/pods"
MAX_ITEM_BYTES: Final = 2 * 1024 * 1024
SOUND_WATCH_S: Final = 5.0
"""A watch that lasted so long proves that the server is well: the back-off begins anew."""

_LIST_AGAIN_CODES: Final = frozenset({400, 404, 422})
"""The server does not accept our version: it is another server, or one restored from a backup."""

Seconds = Annotated[float, Meta(gt=0)]


class Timing(Value, frozen=True, kw_only=True):
    """How long things may take.

    `watch_s`: the server is asked to end a watch after a random time in this range, so that nodes do not come back
    together. `silent_after_s`: bookmarks come every minute, so two missed ones mean a hung server. `relist_jitter_s`:
    after 410 all nodes list again, spread over this time.
    Source: facts on API-server load of node agents; bookmark period: kube-apiserver's watch cache.
    """

    watch_s: tuple[int, int] = (300, 600)
    silent_after_s: Seconds = 130.0
    relist_jitter_s: Seconds = 30.0


class KubernetesPodSource:
    """The pods of one node. A `PodSource`; `run` must be running for it to learn anything.

    It never asks for pods of other nodes. While the server is away the last known pods stay, and the health says since
    when and why.

    Args:
        client: the API server.
        node_name: as the Node object is called.
        now_ns: monotonic clock, the one of the snapshots.
        owner_labels: read the labels of Deployments, Jobs and the like too.
        timing: see there.
        random: source of all jitter.
        sleep: waits between tries.
    """

    def __init__(
        self,
        client: KubeClient,
        node_name: str,
        now_ns: Callable[[], int],
        *,
        owner_labels: bool = True,
        timing: Timing | None = None,
        random: Random | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._client = client
        self._selector = {"fieldSelector": f"spec.nodeName={node_name}"}
        self._timing = timing or Timing()
        self._random = random or Random()  # noqa: S311 jitter, not a secret
        self._sleep = sleep
        self._backoff = Backoff(self._random)
        self._decoders = Decoders()
        self._now_ns = now_ns
        self._owners = OwnerLabels(client, now_ns, self._random, sleep, enabled=owner_labels)
        self._pods = PodTable(self._owners.chain)
        self._health = WatchHealth(now_ns)
        self._version: str | None = None
        self._floor: str | None = None
        self._doubtful = False

    def report(self, tree: CgroupTree, at_ns: int) -> SourceReport:
        """What the API server told last. The tree and the time are not needed: the watch runs by itself."""
        return SourceReport(health=self._health.now(self._owners.details()), pods=self._pods.records())

    async def run(self) -> None:
        """List and watch until cancelled. Trouble with the server is in the health and never raised."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._follow_forever(), name="kube-pods")
            group.create_task(self._owners.run(self._pods.refresh_owners), name="kube-owners")

    async def _follow_forever(self) -> None:
        while True:
            await self._sleep(self._wait_s(await self._follow_once()))

    async def _follow_once(self) -> ApiServerError | None:
        """List if need be, and watch until that ends; returns what it ended with."""
        try:
            if self._version is None:
                await self._list()
            await self._watch()
        except ApiServerError as error:
            if isinstance(error, ApiExpired):
                self._version = None
            elif error.code in _LIST_AGAIN_CODES:
                self._version = self._floor = None
            self._health.failed(error, silent=isinstance(error, ApiSilent))
            return error
        return None

    def _wait_s(self, error: ApiServerError | None) -> float:
        """Seconds until the next try. A watch that ended in peace waits too: a broken proxy may end each at once."""
        if isinstance(error, ApiExpired):
            return self._random.uniform(0, self._timing.relist_jitter_s)
        if error is not None and error.retry_after_s:
            return error.retry_after_s
        return self._backoff.next_s()

    async def _list(self) -> None:
        """Take the pods that exist. From the server's cache: any age at first, later at least as new as what we
        know.
        """
        query = {**self._selector, "resourceVersion": self._floor or "0"}
        if self._floor is not None:
            query["resourceVersionMatch"] = "NotOlderThan"
        try:
            body = await self._client.get(PODS, query)
        except ApiServerError as error:
            if isinstance(error, ApiExpired) or error.code == 504:
                # The server knows no such version: restored from a backup. Begin anew.
                self._floor = None
            raise
        listed = None if body is None else decoded(self._decoders.list, body)
        if listed is None or not listed.metadata.resource_version:
            raise ApiServerError(f"cannot use the pod list of {self._client.url}: it is no list")
        self._take_list(listed)

    def _take_list(self, listed: wire.ObjectList) -> None:
        items = listed.items or ()
        # Those that are gone make room first: the table is bounded.
        self._pods.keep_only([partial.metadata.uid for partial in map(self._partial, items) if partial is not None])
        self._pods.keep_only([uid for uid in map(self._take_pod, items) if uid is not None])
        self._owners.want(self._pods.controllers())
        self._version = self._floor = listed.metadata.resource_version
        self._doubtful = False
        self._health.answered()

    def _partial(self, raw: msgspec.Raw) -> wire.PartialObject | None:
        return decoded(self._decoders.partial, raw)

    def _take_pod(self, raw: msgspec.Raw) -> str | None:
        pod = decoded(self._decoders.pod, raw) if len(memoryview(raw)) <= MAX_ITEM_BYTES else None
        if pod is None:
            self._health.drop()
            return None
        try:
            self._pods.put(pod)
        except ValueError:
            self._health.drop()
            return None
        return pod.metadata.uid

    async def _watch(self) -> None:
        query = {
            **self._selector,
            "watch": "true",
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(self._random.randint(*self._timing.watch_s)),
            "resourceVersion": self._version or "",
        }
        try:
            async with self._client.watch(PODS, query, self._timing.silent_after_s) as lines:
                self._health.accepted()
                await self._take_lines(lines)
            self._health.answered()
        finally:
            if self._doubtful:
                self._version = None

    async def _take_lines(self, lines: AsyncIterator[bytes | None]) -> None:
        began_ns = self._now_ns()
        try:
            async for line in lines:
                self._health.answered()
                if line is None:
                    self._miss()
                else:
                    self._take_line(line)
        finally:
            if self._now_ns() - began_ns >= SOUND_WATCH_S * 1e9:
                self._backoff.reset()

    def _take_line(self, line: bytes) -> None:
        """Apply one event. Raises ApiServerError, or one of its kinds, for an ERROR event."""
        event = decoded(self._decoders.event, line)
        match event.type if event is not None else "":
            case "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" if event is not None:
                self._take_event(event)
            case "ERROR" if event is not None:
                status = decode_status(event.object) or wire.Status()
                self._version = None
                raise api_error(f"cannot watch {self._client.url}{PODS}: {status.code} {status.message}", status.code)
            case "":
                self._miss()
            case _:
                # A type of a later server: nothing that we know is lost.
                self._health.drop()

    def _take_event(self, event: wire.WatchEvent) -> None:
        partial = self._partial(event.object)
        if partial is None:
            self._miss()
            return
        if event.type == "DELETED":
            self._pods.remove(partial.metadata.uid)
        elif event.type != "BOOKMARK" and self._take_pod(event.object) is None:
            self._doubtful = True
        if partial.metadata.resource_version:
            self._version = self._floor = partial.metadata.resource_version
        if event.type != "BOOKMARK":
            self._owners.want(self._pods.controllers())

    def _miss(self) -> None:
        """Something was lost that may have been an event: list again when this watch ends."""
        self._health.drop()
        self._doubtful = True
