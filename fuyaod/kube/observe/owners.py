"""Labels that stand on a workload instead of its pods: read metadata-only, through an optional role, seldom.

A Deployment's ReplicaSet and a CronJob's Job are followed upwards. What is read is kept for a quarter of an hour,
since a watch on every workload of the cluster from every node would cost the API server more than all the nodes' pods.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import Final

from fuyaod.errors import ApiDenied, ApiServerError
from fuyaod.kube.backoff import Backoff
from fuyaod.kube.client import KubeClient
from fuyaod.kube.observe.records import OwnerKey, controller_of, kept_annotations, kept_labels
from fuyaod.kube.wire import Decoders, decoded
from fuyaod.model.pods import OwnerRef
from fuyaod.model.values import Value

READABLE: Final = {
    ("apps/v1", "DaemonSet"): "daemonsets",
    ("apps/v1", "Deployment"): "deployments",
    ("apps/v1", "ReplicaSet"): "replicasets",
    ("apps/v1", "StatefulSet"): "statefulsets",
    ("batch/v1", "CronJob"): "cronjobs",
    ("batch/v1", "Job"): "jobs",
}
MAX_OWNERS: Final = 1000
MAX_DEPTH: Final = 3
KEPT_S: Final = 900.0
FORBIDDEN_RETRY_S: Final = 300.0
POLL_S: Final = 5.0
BURST: Final = 10
PAUSE_S: Final = 0.2
"""5 requests a second after a burst of 10. Source: load rules for node agents (client-go's QPS 5, burst 10)."""


class Known(Value, frozen=True, kw_only=True):
    """What was read of one owner, and when it is to be read again; `labels` is None for one that is gone."""

    labels: dict[str, str] | None
    annotations: dict[str, str] | None
    parent: OwnerKey | None
    due_ns: int


class OwnerLabels:
    """A bounded cache of owners' labels, filled in the background.

    Args:
        client: the API server.
        now_ns: monotonic clock.
        random: source of the jitter.
        sleep: waits between requests.
        enabled: False answers with the names of owners only.
    """

    def __init__(
        self,
        client: KubeClient,
        now_ns: Callable[[], int],
        random: Random,
        sleep: Callable[[float], Awaitable[None]],
        *,
        enabled: bool,
    ) -> None:
        self._client = client
        self._now_ns = now_ns
        self._random = random
        self._sleep = sleep
        self._enabled = enabled
        self._known: dict[OwnerKey, Known] = {}
        self._wanted: set[OwnerKey] = set()
        self._forbidden: dict[str, int] = {}
        self._trouble = ""
        self._retry_ns = 0
        self._left_out = 0
        self._backoff = Backoff(random)
        self._decoders = Decoders()
        self._woken = asyncio.Event()

    def chain(self, key: OwnerKey) -> tuple[OwnerRef, ...]:
        """A controller and the controllers above it, nearest first, with what has been read of them so far."""
        refs: list[OwnerRef] = []
        at: OwnerKey | None = key
        while at is not None and len(refs) < MAX_DEPTH:
            known = self._known.get(at)
            labels, annotations = (known.labels, known.annotations) if known is not None else (None, None)
            refs.append(OwnerRef(kind=at.kind, name=at.name, labels=labels, annotations=annotations))
            at = known.parent if known is not None else None
        return tuple(refs)

    def want(self, keys: set[OwnerKey]) -> None:
        """These controllers of pods matter now; all others may be forgotten."""
        if keys != self._wanted:
            self._wanted = keys
            self._woken.set()

    def details(self) -> tuple[str, ...]:
        """What is wrong, as sentences for people."""
        found = []
        if self._forbidden:
            names = ", ".join(sorted(self._forbidden))
            found.append(f"owner_labels: forbidden for {names}; classes set on these workloads themselves are not seen")
        if self._trouble:
            found.append(f"owner_labels: {self._trouble}")
        if self._left_out:
            found.append(f"owner_labels: {self._left_out} owners beyond {MAX_OWNERS} are not read")
        return tuple(found)

    async def run(self, changed: Callable[[], None]) -> None:
        """Keep reading what is due; `changed` is called after each round that learned something."""
        while self._enabled:
            if await self.refresh():
                changed()
            self._woken.clear()
            try:
                async with asyncio.timeout(POLL_S):
                    await self._woken.wait()
            except TimeoutError:
                continue

    async def refresh(self) -> bool:
        """Read every owner that is due; returns whether anything changed."""
        before = dict(self._known)
        requests = 0
        while self._now_ns() >= self._retry_ns and (key := self._next_due()) is not None:
            if requests >= BURST:
                await self._sleep(PAUSE_S)
            requests += 1
            await self._read(key)
        return before != self._known

    def _next_due(self) -> OwnerKey | None:
        reachable = self._reachable()
        self._known = {key: known for key, known in self._known.items() if key in reachable}
        now_ns = self._now_ns()
        for key in reachable:
            known = self._known.get(key)
            resource = READABLE.get((key.api_version, key.kind))
            if resource is None or self._forbidden.get(resource, 0) > now_ns:
                continue
            if known is None or known.due_ns <= now_ns:
                return key
        return None

    def _reachable(self) -> dict[OwnerKey, None]:
        """Wanted owners and what is known above them, in a stable order."""
        found: dict[OwnerKey, None] = {}
        for key in sorted(self._wanted):
            at: OwnerKey | None = key
            for _ in range(MAX_DEPTH):
                if at is None:
                    break
                found[at] = None
                known = self._known.get(at)
                at = known.parent if known is not None else None
        self._left_out = max(0, len(found) - MAX_OWNERS)
        return dict(list(found.items())[:MAX_OWNERS]) if self._left_out else found

    async def _read(self, key: OwnerKey) -> None:
        resource = READABLE[(key.api_version, key.kind)]
        path = f"/apis/{key.api_version}/namespaces/{key.namespace}/{resource}/{key.name}"
        try:
            body = await self._client.get(path, metadata_only=True)
        except ApiDenied as error:
            if error.code == 403:
                self._forbidden[resource] = self._now_ns() + int(FORBIDDEN_RETRY_S * 1e9)
                return
            self._postpone(error)
            return
        except ApiServerError as error:
            self._postpone(error)
            return
        self._backoff.reset()
        self._trouble = ""
        self._forbidden.pop(resource, None)
        self._known[key] = self._understood(key, body)

    def _postpone(self, error: ApiServerError) -> None:
        wait_s = error.retry_after_s if error.retry_after_s is not None else self._backoff.next_s()
        self._retry_ns = self._now_ns() + int(wait_s * 1e9)
        self._trouble = str(error)

    def _understood(self, key: OwnerKey, body: bytearray | None) -> Known:
        due_ns = self._now_ns() + int(self._random.uniform(0.8, 1.2) * KEPT_S * 1e9)
        found = None if body is None else decoded(self._decoders.partial, body)
        # Another uid under the same name is another object: ours is gone.
        if found is None or found.metadata.uid != key.uid:
            return Known(labels=None, annotations=None, parent=None, due_ns=due_ns)
        metadata = found.metadata
        return Known(
            labels=kept_labels(metadata.labels),
            annotations=kept_annotations(metadata.annotations),
            parent=controller_of(metadata),
            due_ns=due_ns,
        )
