"""An API server and a pod source that follows it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.apiserver import FakeApiServer
from tests.apiserver.fixtures import apiserver
from tests.unit.kube.support import Follower

__all__ = ["apiserver"]


@pytest_asyncio.fixture
async def follower(apiserver: FakeApiServer) -> AsyncIterator[Follower]:
    """A source for node `n1`, to be started by the test."""
    follower = Follower(apiserver)
    yield follower
    await follower.stop()
