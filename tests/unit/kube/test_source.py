"""The watch of a node's pods while the server is well; its faults are in the files beside this one."""

from __future__ import annotations

from fuyaod.model.pods import SourceState
from tests.apiserver import FakeApiServer
from tests.unit.kube.support import Follower, make_pod, until


async def test_source_lists_its_node_from_the_cache_then_watches_with_bookmarks(
    apiserver: FakeApiServer, follower: Follower
) -> None:
    apiserver.create(make_pod("mine"))
    apiserver.create(make_pod("other", node="n2"))

    await follower.synced()

    listed, watched = apiserver.requests
    assert follower.names == {"mine"}
    assert (listed.verb, listed.query) == ("list", {"fieldSelector": "spec.nodeName=n1", "resourceVersion": "0"})
    assert watched.verb == "watch"
    assert watched.query["fieldSelector"] == "spec.nodeName=n1"
    assert watched.query["allowWatchBookmarks"] == "true"
    assert watched.query["resourceVersion"] == str(apiserver.store.rv)
    assert 300 <= int(watched.query["timeoutSeconds"]) <= 600
    assert watched.agent == "fuyaod"


async def test_source_before_the_first_answer_is_starting(follower: Follower) -> None:
    follower.start()

    assert follower.health.state is SourceState.STARTING
    assert follower.pods == ()
    assert follower.health.details == ("waiting for the API server's first answer",)


async def test_source_follows_pods_that_come_change_and_go(apiserver: FakeApiServer, follower: Follower) -> None:
    await follower.synced()

    apiserver.create(make_pod("a", labels={"openfuyao.com/qos": "BE"}))
    await follower.until_names("a")
    pod = apiserver.get("pods", "a", "default")
    apiserver.update({**pod, "metadata": {**pod["metadata"], "labels": {"openfuyao.com/qos": "HLS"}}})
    await until(lambda: follower.pods[0].labels == {"openfuyao.com/qos": "HLS"})
    apiserver.remove(pod)
    await follower.until_names()

    assert follower.health.state is SourceState.OK
    assert follower.health.dropped == 0


async def test_source_takes_a_pod_when_it_is_bound_to_the_node(apiserver: FakeApiServer, follower: Follower) -> None:
    unbound = make_pod("a")
    del unbound["spec"]["nodeName"]
    pod = apiserver.create(unbound)
    await follower.synced()

    apiserver.update({**pod, "spec": {**pod["spec"], "nodeName": "n1"}})

    await follower.until_names("a")


async def test_pod_that_appears_and_dies_between_two_events_leaves_nothing(
    apiserver: FakeApiServer, follower: Follower
) -> None:
    apiserver.create(make_pod("stays"))
    await follower.synced()
    apiserver.pause_watches()
    short = apiserver.create(make_pod("short"))
    apiserver.remove(short)
    apiserver.create(make_pod("after"))

    apiserver.resume_watches()

    await follower.until_names("stays", "after")
    assert follower.health.dropped == 0


async def test_pod_that_was_replaced_under_its_name_is_another_pod(
    apiserver: FakeApiServer, follower: Follower
) -> None:
    first = apiserver.create(make_pod("a"))
    await follower.synced()

    apiserver.remove(first)
    second = apiserver.create(make_pod("a"))

    await until(lambda: {pod.uid for pod in follower.pods} == {second["metadata"]["uid"]})


async def test_records_keep_their_identity_while_nothing_changes(apiserver: FakeApiServer, follower: Follower) -> None:
    apiserver.create(make_pod("a"))
    await follower.synced()
    before = follower.pods
    again = follower.pods

    apiserver.create(make_pod("b"))
    await follower.until_names("a", "b")

    assert again is before
    assert before[0] in follower.pods
    assert any(pod is before[0] for pod in follower.pods)


async def test_bookmarks_save_a_quiet_node_from_listing_again(apiserver: FakeApiServer, follower: Follower) -> None:
    apiserver.watch_settings.bookmark_every_s = 0.01
    await follower.synced()
    apiserver.create(make_pod("elsewhere", node="n2"))
    bookmark = str(apiserver.store.rv)
    await until(lambda: follower.source._version == bookmark)
    apiserver.compact()

    apiserver.cut_watches()

    await until(lambda: apiserver.count("watch", "pods") == 2)
    await follower.until_state(SourceState.OK)
    assert apiserver.count("list", "pods") == 1


async def test_load_of_a_quiet_hour_is_one_list_and_one_watch(apiserver: FakeApiServer, follower: Follower) -> None:
    for n in range(50):
        apiserver.create(make_pod(f"p{n}"))

    await follower.synced()

    assert len(follower.pods) == 50
    assert [seen.verb for seen in apiserver.requests] == ["list", "watch"]
