"""A source under test, without waiting times of its own."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from random import Random
from typing import Any

from fuyaod.kube import ApiAddress, KubeClient, KubernetesPodSource
from fuyaod.kube.client import Limits
from fuyaod.kube.observe import Timing
from fuyaod.model.cgroup import CgroupMode, CgroupTree
from fuyaod.model.pods import PodRecord, SourceHealth, SourceReport, SourceState
from tests.apiserver import FakeApiServer

DEADLINE_S = 20.0
TREE = CgroupTree(mode=CgroupMode.NONE, mount=None, controllers=(), samples=(), kept_descriptors=0)


def make_pod(name: str, *, node: str = "n1", namespace: str = "default", **metadata: Any) -> dict[str, Any]:
    """A pod bound to a node, as a manifest."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, **metadata},
        "spec": {"nodeName": node, "containers": [{"name": "main", "image": "registry.invalid/pause:1"}]},
    }


async def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition; fails after 20 s."""
    async with asyncio.timeout(DEADLINE_S):
        while not condition():  # noqa: ASYNC110 the condition is about another task's or server's state
            await asyncio.sleep(0.002)


class Sleeps:
    """Stands in for `asyncio.sleep`: notes how long was asked for and waits a moment."""

    def __init__(self) -> None:
        self.asked_s: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.asked_s.append(seconds)
        await asyncio.sleep(0.001)


class Follower:
    """A `KubernetesPodSource` that runs against the fake server."""

    def __init__(self, server: FakeApiServer) -> None:
        self.server = server
        self.sleeps = Sleeps()
        self.timing = Timing()
        self.limits = Limits()
        self.token_file = ""
        self.now_ns: Callable[[], int] = time.monotonic_ns
        self.source: KubernetesPodSource
        self._client: KubeClient | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self, *, owner_labels: bool = False) -> None:
        """Begin to list and watch."""
        self._client = KubeClient(ApiAddress(url=self.server.url, token_file=self.token_file), self.limits)
        self.source = KubernetesPodSource(
            self._client,
            "n1",
            self.now_ns,
            owner_labels=owner_labels,
            timing=self.timing,
            random=Random(7),
            sleep=self.sleeps,
        )
        self._task = asyncio.create_task(self.source.run())

    async def synced(self, *, owner_labels: bool = False) -> None:
        """Start, and wait until the source watches."""
        self.start(owner_labels=owner_labels)
        await until(lambda: self.health.state is SourceState.OK and self.server.open_watches == 1)

    async def stop(self) -> None:
        """Stop; raises what the source failed with."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        if self._client is not None:
            await self._client.close()

    @property
    def report(self) -> SourceReport:
        return self.source.report(TREE, self.now_ns())

    @property
    def health(self) -> SourceHealth:
        return self.report.health

    @property
    def pods(self) -> tuple[PodRecord, ...]:
        return self.report.pods

    @property
    def names(self) -> set[str]:
        """Names of the pods it knows."""
        return {pod.name or "" for pod in self.pods}

    async def until_names(self, *names: str) -> None:
        """Wait until exactly these pods are known."""
        await until(lambda: self.names == set(names))

    async def until_state(self, state: SourceState) -> None:
        """Wait for a state of health."""
        await until(lambda: self.health.state is state)
