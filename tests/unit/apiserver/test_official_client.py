"""The official Kubernetes client works against the test API server."""

import asyncio
import importlib
from typing import Any

import pytest

from tests.apiserver import FakeApiServer

pytest.importorskip("kubernetes", reason="needs the `kubernetes` extra")


def work(url: str) -> dict[str, Any]:
    """What the cluster side does with the client, in a thread of its own."""
    kubernetes: Any = importlib.import_module("kubernetes")
    configuration = kubernetes.client.Configuration()
    configuration.host = url
    with kubernetes.client.ApiClient(configuration) as api:
        core = kubernetes.client.CoreV1Api(api)
        metadata = kubernetes.client.V1ObjectMeta(name="a")
        created = core.create_namespaced_config_map(
            "default", kubernetes.client.V1ConfigMap(metadata=metadata, data={"n": "1"})
        )
        patched = core.patch_namespaced_config_map("a", "default", {"data": {"n": "2"}})
        stream = kubernetes.watch.Watch().stream(
            core.list_namespaced_config_map,
            "default",
            resource_version=created.metadata.resource_version,
            timeout_seconds=1,
        )
        events = [(event["type"], event["object"].data["n"]) for event in stream]
        core.delete_namespaced_config_map("a", "default")
        names = [item.metadata.name for item in core.list_namespaced_config_map("default").items]
        return {"patched": patched.data, "events": events, "names": names}


async def test_official_client_creates_patches_watches_and_deletes(apiserver: FakeApiServer) -> None:
    result = await asyncio.to_thread(work, apiserver.url)

    assert result == {"patched": {"n": "2"}, "events": [("MODIFIED", "2")], "names": []}
