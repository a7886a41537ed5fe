"""Labels that stand on a workload instead of its pods: read metadata-only, through an optional role, seldom.

A Deployment's ReplicaSet and a CronJob's Job are followed upwards. What is read is kept for a quarter of an hour,
since a watch on every workload of the cluster from every node would cost the API server more than all the nodes' pods.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from random import Random
from typing import Final

import msgspec

from fuyaod.errors import ApiServerError
from fuyaod.kube.backoff import Backoff
from fuyaod.kube.client import KubeClient
from fuyaod.kube.observe.records import OwnerKey, controller_of, kept
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
FAILED_RETRY_S: Final = 10.0
"""After the first failure of one owner; doubles with every further one, up to `KEPT_S`."""
POLL_S: Final = 5.0
BURST: Final = 10
PAUSE_S: Final = 0.2
"""5 requests a second after a burst of 10. Source: load rules for node agents (client-go's QPS 5, burst 10)."""

_WHOLE_SERVER: Final = frozenset({None, 401, 429, 503})
"""No answer, our token, or a server that asks to be left alone: the same would happen to every other owner."""

_NAME: Final = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")
_MAX_NAME: Final = 253
"""DNS subdomain. Source: Kubernetes documentation, "Object Names and IDs"; workloads and namespaces need one."""


class Known(Value, frozen=True, kw_only=True):
    """What is known of one owner, and when it is to be read again.

    `labels` is None for one that is gone or was never read. `failures` counts those since the last success, `trouble`
    says how the last one failed; `forbidden` when it was for lack of a role.
    """

    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    parent: OwnerKey | None = None
    due_ns: int = 0
    failures: int = 0
    trouble: str = ""
    forbidden: bool = False


NOTHING: Final = Known()


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
        self._pause_until_ns = 0
        self._left_out = 0
        self._backoff = Backoff(random)
        self._decoders = Decoders()
        self._woken = asyncio.Event()

    def chain(self, key: OwnerKey) -> tuple[OwnerRef, ...]:
        """A controller and the controllers above it, nearest first, with what has been read of them so far."""
        refs: list[OwnerRef] = []
        at: OwnerKey | None = key
        while at is not None and len(refs) < MAX_DEPTH:
            known = self._known.get(at, NOTHING)
            refs.append(OwnerRef(kind=at.kind, name=at.name, labels=known.labels, annotations=known.annotations))
            at = known.parent
        return tuple(refs)

    def want(self, keys: set[OwnerKey]) -> None:
        """These controllers of pods matter now; all others may be forgotten."""
        if keys != self._wanted:
            self._wanted = keys
            self._woken.set()

    def details(self) -> tuple[str, ...]:
        """What is wrong, as sentences for people."""
        found = []
        if names := sorted({_resource(key) for key, known in self._known.items() if known.forbidden}):
            listed = ", ".join(names)
            found.append(
                f"owner_labels: forbidden for {listed}; classes set on these workloads themselves are not seen"
            )
        if troubles := [known.trouble for known in self._known.values() if known.trouble and not known.forbidden]:
            more = f" (and {len(troubles) - 1} more)" if len(troubles) > 1 else ""
            found.append(f"owner_labels: {troubles[0]}{more}")
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
        """Read every owner that is due, and those above them; returns whether anything changed."""
        before = dict(self._known)
        requests = 0
        while self._now_ns() >= self._pause_until_ns and (due := self._due()):
            forbidden = set[str]()
            for key in due:
                if self._now_ns() < self._pause_until_ns or _resource(key) in forbidden:
                    continue
                if requests >= BURST:
                    await self._sleep(PAUSE_S)
                requests += 1
                self._known[key] = known = await self._read(key, self._known.get(key, NOTHING))
                if known.forbidden:
                    forbidden.add(_resource(key))
        return before != self._known

    def _due(self) -> list[OwnerKey]:
        """What is to be read now, longest due first: no owner that fails comes before one that was never asked for."""
        reachable = self._reachable()
        self._known = {key: known for key, known in self._known.items() if key in reachable}
        now_ns = self._now_ns()
        waiting = {key for key, known in self._known.items() if known.due_ns > now_ns}
        forbidden = {_resource(key) for key in waiting if self._known[key].forbidden}
        due = [
            key
            for key in reachable
            if key not in waiting and _can_be_asked_for(key) and _resource(key) not in forbidden
        ]
        return sorted(due, key=lambda key: self._known.get(key, NOTHING).due_ns)

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

    async def _read(self, key: OwnerKey, before: Known) -> Known:
        path = f"/apis/{key.api_version}/namespaces/{key.namespace}/{_resource(key)}/{key.name}"
        try:
            body = await self._client.get(path, metadata_only=True)
        except ApiServerError as error:
            return self._failed(before, error)
        self._backoff.reset()
        return self._understood(key, body)

    def _failed(self, before: Known, error: ApiServerError) -> Known:
        """What was known, with the time of the next try: the owner's own, unless the whole server is in trouble."""
        failures, asked_s = before.failures, error.retry_after_s or 0.0
        forbidden = error.code == 403
        if error.code in _WHOLE_SERVER:
            wait_s = max(asked_s, self._backoff.next_s())
            self._pause_until_ns = self._now_ns() + int(wait_s * 1e9)
        elif forbidden:
            wait_s = FORBIDDEN_RETRY_S
        else:
            failures = min(failures + 1, 16)
            longest_s = min(KEPT_S, FAILED_RETRY_S * 2 ** (failures - 1))
            wait_s = max(asked_s, self._random.uniform(0.5, 1.0) * longest_s)
        return msgspec.structs.replace(
            before,
            due_ns=self._now_ns() + int(wait_s * 1e9),
            failures=failures,
            trouble=str(error),
            forbidden=forbidden,
        )

    def _understood(self, key: OwnerKey, body: bytearray | None) -> Known:
        due_ns = self._now_ns() + int(self._random.uniform(0.8, 1.2) * KEPT_S * 1e9)
        found = None if body is None else decoded(self._decoders.partial, body)
        # Another uid under the same name is another object: ours is gone.
        if found is None or found.metadata.uid != key.uid:
            return Known(due_ns=due_ns)
        metadata = found.metadata
        return Known(
            labels=kept(metadata.labels),
            annotations=kept(metadata.annotations),
            parent=controller_of(metadata),
            due_ns=due_ns,
        )


def _resource(key: OwnerKey) -> str:
    return READABLE.get((key.api_version, key.kind), "")


def _can_be_asked_for(key: OwnerKey) -> bool:
    """Whether it is of a kind that is read, under names that an object can have.

    Whoever may create a pod writes its owner references: anything but a name would be another path on the server, asked
    for with our token.
    """
    return bool(_resource(key)) and all(len(n) <= _MAX_NAME and _NAME.fullmatch(n) for n in (key.namespace, key.name))
