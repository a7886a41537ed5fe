"""The watch of a node's pods when the server sends what makes no sense."""

from __future__ import annotations

import msgspec
import pytest

from fuyaod.kube.client import Limits
from fuyaod.kube.observe.source import MAX_ITEM_BYTES
from fuyaod.kube.observe.table import MAX_PODS
from fuyaod.model.pods import SourceState
from tests.apiserver import FakeApiServer, Garbage, Refuse
from tests.unit.kube.support import Follower, make_pod, until


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"{", b"[]", b'{"items":[]}', b'{"metadata":{"resourceVersion":"5"},"items":{}}']
)
async def test_garbage_instead_of_a_list_is_reported_and_tried_again(
    apiserver: FakeApiServer, follower: Follower, body: bytes
) -> None:
    apiserver.create(make_pod("a"))
    garbage = apiserver.faults.add(Garbage(verb="list", body=body))

    follower.start()
    await until(lambda: "cannot use the pod list" in follower.health.details[0])
    apiserver.faults.remove(garbage)

    await follower.until_names("a")


async def test_bad_pod_in_a_list_costs_only_itself(apiserver: FakeApiServer, follower: Follower) -> None:
    apiserver.create(make_pod("good"))
    bad = apiserver.create(make_pod("bad"))
    apiserver.update({**bad, "metadata": {**bad["metadata"], "labels": {"x": 5}}})
    odd = apiserver.create(make_pod("odd"))
    container = {"name": "main", "resources": {"requests": {"cpu": "lots"}}}
    apiserver.update({**odd, "spec": {"nodeName": "n1", "containers": [container]}})

    await follower.synced()

    assert follower.names == {"good"}
    assert follower.health.dropped == 2


@pytest.mark.parametrize(
    "line",
    [
        b"not json\n",
        b'{"type":"ADDED"}\n',
        b'{"type":"ADDED","object":null}\n',
        b'{"type":"ADDED","object":{"metadata":{"name":"x"}}}\n',
        b'{"type":"MODIFIED","object":{"metadata":{"uid":"1"},"spec":{"containers":5}}}\n',
        b'{"type":7,"object":{}}\n',
        b"\xff\xfe\x00\n",
        b"[" * 50_000 + b"\n",
    ],
    ids=["text", "no-object", "null", "no-uid", "bad-spec", "bad-type", "binary", "deep"],
)
async def test_garbage_line_is_counted_survived_and_made_good_by_a_list(
    apiserver: FakeApiServer, follower: Follower, line: bytes
) -> None:
    await follower.synced()

    await apiserver.inject(line)
    apiserver.create(make_pod("after"))

    await follower.until_names("after")
    assert follower.health.dropped == 1
    assert follower.health.state is SourceState.OK
    apiserver.end_watches()
    await until(lambda: apiserver.count("list", "pods") == 2)


@pytest.mark.parametrize("end", ["cut", "error"])
async def test_garbage_line_is_made_good_by_a_list_however_the_watch_ends(
    apiserver: FakeApiServer, follower: Follower, end: str
) -> None:
    await follower.synced()
    await apiserver.inject(b"not json\n")
    await until(lambda: follower.health.dropped == 1)

    if end == "cut":
        apiserver.cut_watches()
    else:
        apiserver.faults.add(Refuse(verb="watch", code=503, times=2))
        apiserver.cut_watches()

    await until(lambda: apiserver.count("list", "pods") == 2)
    await follower.until_state(SourceState.OK)


async def test_oversized_pod_in_a_list_costs_only_itself(apiserver: FakeApiServer, follower: Follower) -> None:
    apiserver.create(make_pod("small"))
    apiserver.create(make_pod("huge", annotations={"x": "y" * MAX_ITEM_BYTES}))

    await follower.synced()

    assert follower.names == {"small"}
    assert follower.health.dropped == 1


async def test_pods_beyond_the_bound_of_a_list_are_counted_and_left_out(
    apiserver: FakeApiServer, follower: Follower
) -> None:
    pods = [{"metadata": {"uid": f"u{n}", "name": f"p{n}"}} for n in range(MAX_PODS + 3)]
    listed = {"metadata": {"resourceVersion": str(apiserver.store.rv)}, "items": pods}
    apiserver.faults.add(Garbage(verb="list", body=msgspec.json.encode(listed), times=1))

    await follower.synced()

    assert len(follower.pods) == MAX_PODS
    assert follower.health.dropped == 3


async def test_pods_beyond_the_bound_of_a_watch_are_counted_and_come_with_the_next_list(
    apiserver: FakeApiServer, follower: Follower
) -> None:
    pods = [{"metadata": {"uid": f"u{n}", "name": f"p{n}"}} for n in range(MAX_PODS)]
    listed = {"metadata": {"resourceVersion": str(apiserver.store.rv)}, "items": pods}
    apiserver.faults.add(Garbage(verb="list", body=msgspec.json.encode(listed), times=1))
    await follower.synced()

    apiserver.create(make_pod("one-more"))
    await until(lambda: follower.health.dropped == 1)

    assert len(follower.pods) == MAX_PODS
    assert "one-more" not in follower.names
    await apiserver.inject(b'{"type":"MODIFIED","object":{"metadata":{"uid":"u7","name":"renamed"}}}\n')
    await until(lambda: "renamed" in follower.names)
    assert follower.health.dropped == 1
    apiserver.end_watches()
    await follower.until_names("one-more")


async def test_unknown_event_type_is_counted_and_nothing_else(apiserver: FakeApiServer, follower: Follower) -> None:
    await follower.synced()

    await apiserver.inject(b'{"type":"RENAMED","object":{}}\n')

    await until(lambda: follower.health.dropped == 1)
    apiserver.end_watches()
    await until(lambda: apiserver.count("watch", "pods") == 2)
    assert apiserver.count("list", "pods") == 1


async def test_oversized_event_is_counted_and_survived(apiserver: FakeApiServer, follower: Follower) -> None:
    follower.limits = Limits(max_line_bytes=20_000)
    await follower.synced()

    apiserver.create(make_pod("huge", annotations={"x": "y" * 300_000}))
    apiserver.create(make_pod("small"))

    await follower.until_names("small")
    assert follower.health.dropped == 1


async def test_delete_of_a_pod_nobody_knew_is_ignored(apiserver: FakeApiServer, follower: Follower) -> None:
    await follower.synced()

    await apiserver.inject(b'{"type":"DELETED","object":{"metadata":{"uid":"never-seen","resourceVersion":"5"}}}\n')
    apiserver.create(make_pod("a"))

    await follower.until_names("a")
    assert follower.health.dropped == 0
