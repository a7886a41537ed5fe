"""The target of the contract suite."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest_asyncio

from tests.apiserver import FakeApiServer
from tests.contract.cluster import Cluster, Credentials, read_kubeconfig


@pytest_asyncio.fixture
async def cluster() -> AsyncIterator[Cluster]:
    """A namespace of its own on the fake, or on the server that FUYAOD_TEST_KUBECONFIG names."""
    kubeconfig = os.environ.get("FUYAOD_TEST_KUBECONFIG")
    if kubeconfig:
        async for target in _opened(read_kubeconfig(Path(kubeconfig)), None):
            yield target
        return
    async with FakeApiServer() as fake:
        async for target in _opened(Credentials(url=fake.url, headers={}, tls=None), fake):
            yield target


async def _opened(credentials: Credentials, fake: FakeApiServer | None) -> AsyncIterator[Cluster]:
    async with aiohttp.ClientSession() as session:
        target = Cluster(credentials, session, fake)
        await target.open()
        try:
            yield target
        finally:
            await target.close()
