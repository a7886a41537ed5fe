"""The watch of a node's pods under every fault of the server."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from fuyaod.kube.backoff import LAST_S
from fuyaod.kube.client import Limits
from fuyaod.kube.observe import Timing
from fuyaod.model.pods import SourceState
from tests.apiserver import Cut, FakeApiServer, Hang, Refuse
from tests.unit.kube.support import Follower, make_pod, until


async def test_history_lost_while_disconnected_leads_to_a_new_list_after_jitter(
    apiserver: FakeApiServer, follower: Follower
) -> None:
    follower.timing = Timing(relist_jitter_s=1e6)  # no back-off is as long
    gone = apiserver.create(make_pod("gone"))
    await follower.synced()
    away = apiserver.faults.add(Refuse(verb="watch", code=503))
    apiserver.cut_watches()
    await follower.until_state(SourceState.STALE)
    apiserver.remove(gone)
    apiserver.create(make_pod("new"))
    apiserver.compact()
    known = follower.names

    apiserver.faults.remove(away)

    await follower.until_names("new")
    await follower.until_state(SourceState.OK)
    relist = [seen for seen in apiserver.requests if seen.verb == "list"][-1]
    assert known == {"gone"}
    assert relist.query["resourceVersionMatch"] == "NotOlderThan"
    assert follower.sleeps.asked_s[-1] > LAST_S
    assert max(follower.sleeps.asked_s[:-1]) <= LAST_S


async def test_server_away_leaves_the_last_known_pods_with_since_and_why(
    apiserver: FakeApiServer, follower: Follower
) -> None:
    apiserver.create(make_pod("a"))
    await follower.synced()
    ok_since_ns = follower.health.since_ns

    await apiserver.stop()
    await follower.until_state(SourceState.STALE)
    stale = follower.health
    await until(lambda: len(follower.sleeps.asked_s) > 5)

    assert follower.names == {"a"}
    assert stale.since_ns > ok_since_ns
    assert follower.health.since_ns == stale.since_ns
    assert "cannot reach http://127.0.0.1" in follower.health.details[0]

    apiserver.create(make_pod("b"))
    await apiserver.start()
    await follower.until_names("a", "b")
    assert follower.health.state is SourceState.OK
    assert follower.health.details == ()


async def test_restart_with_a_version_jump_is_recovered_from(apiserver: FakeApiServer, follower: Follower) -> None:
    gone = apiserver.create(make_pod("gone"))
    await follower.synced()
    apiserver.pause_watches()
    apiserver.remove(gone)

    await apiserver.restart(jump=5000)
    apiserver.resume_watches()
    apiserver.create(make_pod("new"))

    await follower.until_names("new")


async def test_server_restored_from_a_backup_with_older_versions_is_recovered_from(
    apiserver: FakeApiServer, follower: Follower
) -> None:
    gone = apiserver.create(make_pod("gone"))
    await follower.synced()
    await apiserver.stop()
    apiserver.remove(gone)
    apiserver.store.jump(-500)
    apiserver.faults.add(Refuse(verb="watch", code=410, times=1))

    await apiserver.start()

    await follower.until_names()
    await follower.until_state(SourceState.OK)
    asked_for = [seen.query["resourceVersion"] for seen in apiserver.requests if seen.verb == "list"]
    assert asked_for[:3] == ["0", gone["metadata"]["resourceVersion"], "0"]


async def test_first_list_that_fails_is_tried_again_with_back_off(apiserver: FakeApiServer, follower: Follower) -> None:
    apiserver.create(make_pod("a"))
    apiserver.faults.add(Refuse(verb="list", code=500, times=4, message="etcdserver: leader changed"))

    follower.start()
    await until(lambda: "500 etcdserver: leader changed" in follower.health.details[0])
    starting = follower.health.state
    await follower.until_names("a")

    assert starting is SourceState.STARTING
    assert follower.health.state is SourceState.OK
    ceilings_s = [0.8, 1.6, 3.2, 6.4]
    assert all(asked <= ceiling for asked, ceiling in zip(follower.sleeps.asked_s, ceilings_s, strict=False))


async def test_retry_after_is_honoured(apiserver: FakeApiServer, follower: Follower) -> None:
    apiserver.faults.add(Refuse(verb="list", code=429, retry_after_s=17, times=2))

    await follower.synced()

    assert follower.sleeps.asked_s[:2] == [17.0, 17.0]


async def test_watch_cut_in_the_middle_of_a_line_goes_on_without_loss(
    apiserver: FakeApiServer, follower: Follower
) -> None:
    apiserver.faults.add(Cut(verb="watch", after_events=1, times=1))
    await follower.synced()

    for name in ("a", "b", "c"):
        apiserver.create(make_pod(name))

    await follower.until_names("a", "b", "c")
    assert (apiserver.count("list", "pods"), apiserver.count("watch", "pods")) == (1, 2)
    assert follower.health.dropped == 0


async def test_hung_watch_is_noticed_and_not_believed_until_a_byte_comes(
    apiserver: FakeApiServer, follower: Follower
) -> None:
    follower.timing = Timing(silent_after_s=0.05)
    apiserver.create(make_pod("a"))
    hang = apiserver.faults.add(Hang(verb="watch"))

    follower.start()
    await follower.until_state(SourceState.STALE)
    states = set()
    while apiserver.count("watch", "pods") < 4:
        states.add(follower.health.state)
        await asyncio.sleep(0.005)

    assert states == {SourceState.STALE}
    assert "no byte for 0.05 s" in follower.health.details[0]
    assert follower.names == {"a"}
    assert apiserver.count("list", "pods") == 1

    apiserver.faults.remove(hang)
    apiserver.watch_settings.bookmark_every_s = 0.01
    await follower.until_state(SourceState.OK)


async def test_hung_list_is_given_up_and_tried_again(apiserver: FakeApiServer, follower: Follower) -> None:
    follower.limits = Limits(connect_s=0.05, answer_s=0.05)
    hang = apiserver.faults.add(Hang(verb="list"))
    apiserver.create(make_pod("a"))

    follower.start()
    await until(lambda: "no answer in time" in follower.health.details[0])
    apiserver.faults.remove(hang)

    await follower.until_names("a")


async def test_expired_token_makes_it_stale_until_the_file_has_the_new_one(
    apiserver: FakeApiServer, follower: Follower, tmp_path: Path
) -> None:
    token_file = tmp_path / "token"
    token_file.write_text("old-token")
    apiserver.token = "old-token"
    follower.token_file = str(token_file)
    await follower.synced()

    apiserver.token = "new-token"
    apiserver.cut_watches()
    await until(lambda: any("401" in detail for detail in follower.health.details))
    stale = follower.health
    apiserver.create(make_pod("a"))
    token_file.write_text("new-token")
    await follower.until_names("a")

    assert stale.state is SourceState.STALE
    assert "old-token" not in " ".join(stale.details)
    assert follower.health.state is SourceState.OK


async def test_role_that_is_missing_is_named(apiserver: FakeApiServer, follower: Follower) -> None:
    apiserver.faults.add(Refuse(code=403, message='pods is forbidden: User "fuyaod" cannot list resource "pods"'))

    follower.start()

    await until(lambda: "403 pods is forbidden" in follower.health.details[0])
    assert follower.health.state is SourceState.STARTING


async def test_error_event_of_the_server_leads_to_a_new_list(apiserver: FakeApiServer, follower: Follower) -> None:
    await follower.synced()

    await apiserver.inject(b'{"type":"ERROR","object":{"kind":"Status","code":500,"message":"lost"}}\n')

    await until(lambda: apiserver.count("list", "pods") == 2)
    await follower.until_state(SourceState.OK)


async def test_watches_that_end_at_once_are_asked_for_ever_more_slowly(
    apiserver: FakeApiServer, follower: Follower
) -> None:
    follower.timing = Timing(watch_s=(0, 0))

    follower.start()
    await until(lambda: apiserver.count("watch", "pods") >= 12)

    assert max(follower.sleeps.asked_s) > 5
    assert apiserver.count("list", "pods") == 1


async def test_back_off_begins_anew_after_a_watch_that_lasted(apiserver: FakeApiServer, follower: Follower) -> None:
    now_s = [100]
    follower.now_ns = lambda: now_s[0] * 10**9
    apiserver.faults.add(Refuse(verb="list", code=500, times=12))
    await follower.synced()
    before = len(follower.sleeps.asked_s)

    now_s[0] += 10
    apiserver.faults.add(Refuse(verb="watch", code=503, times=3))
    apiserver.cut_watches()
    await until(lambda: len(follower.sleeps.asked_s) >= before + 3)

    assert max(follower.sleeps.asked_s[:before]) > 3
    for asked_s, ceiling_s in zip(follower.sleeps.asked_s[before:], (0.8, 1.6, 3.2), strict=False):
        assert asked_s <= ceiling_s


@pytest.mark.parametrize("code", [400, 404, 422])
async def test_server_that_does_not_accept_our_version_is_listed_from_scratch(
    apiserver: FakeApiServer, follower: Follower, code: int
) -> None:
    apiserver.faults.add(Refuse(verb="watch", code=code, times=1))

    await follower.synced()

    listed = [seen.query for seen in apiserver.requests if seen.verb == "list"]
    assert [query["resourceVersion"] for query in listed] == ["0", "0"]
    assert "resourceVersionMatch" not in listed[1]
