"""pytest fixtures. A folder that wants them imports them in its conftest.py."""

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.apiserver.server import FakeApiServer


@pytest_asyncio.fixture
async def apiserver() -> AsyncIterator[FakeApiServer]:
    """A fresh API server on a free port, in the event loop of the test, without a token check (set `apiserver.token`
    for one).
    """
    async with FakeApiServer() as server:
        yield server
