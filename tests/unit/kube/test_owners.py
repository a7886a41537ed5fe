"""Labels of Deployments, Jobs and the like: chains, permissions, lifetime, bounds."""

from __future__ import annotations

from collections.abc import AsyncIterator
from random import Random
from typing import Any

import pytest
import pytest_asyncio

from fuyaod.kube import ApiAddress, KubeClient
from fuyaod.kube.client import Limits
from fuyaod.kube.observe import owners as owners_module
from fuyaod.kube.observe.owners import FORBIDDEN_RETRY_S, KEPT_S, MAX_OWNERS, OwnerLabels
from fuyaod.kube.observe.records import OwnerKey
from fuyaod.model.pods import OwnerRef
from tests.apiserver import FakeApiServer, Hang, Refuse
from tests.unit.kube.support import Follower, Sleeps, make_pod, until

HOSTILE_NAMES = [
    "..",
    "../../pods",
    "a/b",
    "a?watch=1",
    "a#b",
    "a%2fb",
    "",
    "A",
    "a b",
    "a\n",
    "é",
    "a..b",
    "-a",
    "a" * 254,
]


def make_owner(kind: str, name: str, owner: dict[str, Any] | None = None, **labels: str) -> dict[str, Any]:
    group_version = "batch/v1" if kind in ("Job", "CronJob") else "apps/v1"
    metadata: dict[str, Any] = {"name": name, "namespace": "default", "labels": labels}
    if owner is not None:
        metadata["ownerReferences"] = [reference(owner)]
    return {"apiVersion": group_version, "kind": kind, "metadata": metadata, "spec": {}}


def reference(owner: dict[str, Any]) -> dict[str, Any]:
    head = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "controller": True}
    return {**head, "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]}


def key_of(obj: dict[str, Any]) -> OwnerKey:
    metadata = obj["metadata"]
    return OwnerKey(obj["apiVersion"], obj["kind"], metadata["namespace"], metadata["name"], metadata["uid"])


class Reader:
    """An `OwnerLabels` with a clock of the test's own."""

    def __init__(self, server: FakeApiServer) -> None:
        self.server = server
        self.now_s = 1000.0
        self.sleeps = Sleeps()
        self.use(Limits())

    def use(self, limits: Limits) -> None:
        """Other limits of the client, before the first request."""
        self.client = KubeClient(ApiAddress(url=self.server.url), limits)
        self.labels = OwnerLabels(self.client, lambda: int(self.now_s * 1e9), Random(3), self.sleeps, enabled=True)

    def requests(self) -> int:
        return len(self.server.requests)

    async def read(self, *objects: dict[str, Any]) -> bool:
        self.labels.want({key_of(obj) for obj in objects})
        return await self.labels.refresh()


@pytest_asyncio.fixture
async def reader(apiserver: FakeApiServer) -> AsyncIterator[Reader]:
    reader = Reader(apiserver)
    yield reader
    await reader.client.close()


@pytest.mark.parametrize(("lower", "upper"), [("ReplicaSet", "Deployment"), ("Job", "CronJob")])
async def test_chain_is_followed_upwards_metadata_only(
    apiserver: FakeApiServer, reader: Reader, lower: str, upper: str
) -> None:
    top = apiserver.create(make_owner(upper, "top", qos="BE"))
    middle = apiserver.create(make_owner(lower, "middle", top, hash="1"))

    assert await reader.read(middle)

    assert reader.labels.chain(key_of(middle)) == (
        OwnerRef(kind=lower, name="middle", labels={"hash": "1"}, annotations={}),
        OwnerRef(kind=upper, name="top", labels={"qos": "BE"}, annotations={}),
    )
    assert all("as=PartialObjectMetadata" in seen.accept for seen in apiserver.requests)


@pytest.mark.parametrize("kind", ["StatefulSet", "DaemonSet", "Job"])
async def test_owner_that_stands_alone_is_read(apiserver: FakeApiServer, reader: Reader, kind: str) -> None:
    owner = apiserver.create(make_owner(kind, "o", qos="LS"))

    await reader.read(owner)

    assert reader.labels.chain(key_of(owner)) == (OwnerRef(kind=kind, name="o", labels={"qos": "LS"}, annotations={}),)


async def test_owner_of_unknown_kind_is_named_and_never_asked_for(reader: Reader) -> None:
    key = OwnerKey("ray.io/v1", "RayCluster", "default", "r", "1")
    reader.labels.want({key})

    assert not await reader.labels.refresh()

    assert reader.labels.chain(key) == (OwnerRef(kind="RayCluster", name="r"),)
    assert reader.requests() == 0


async def test_what_was_read_is_kept_for_its_time_and_then_read_again(apiserver: FakeApiServer, reader: Reader) -> None:
    owner = apiserver.create(make_owner("StatefulSet", "o", qos="LS"))
    await reader.read(owner)
    apiserver.update({**owner, "metadata": {**owner["metadata"], "labels": {"qos": "HLS"}}})

    reader.now_s += KEPT_S * 0.79
    assert not await reader.labels.refresh()
    assert reader.requests() == 1
    reader.now_s += KEPT_S * 0.42
    assert await reader.labels.refresh()

    assert reader.labels.chain(key_of(owner))[0].labels == {"qos": "HLS"}


async def test_owner_that_is_gone_or_replaced_has_no_labels(apiserver: FakeApiServer, reader: Reader) -> None:
    gone = apiserver.create(make_owner("Job", "gone"))
    apiserver.remove(gone)
    first = apiserver.create(make_owner("Job", "again", qos="BE"))
    apiserver.remove(first)
    apiserver.create(make_owner("Job", "again", qos="HLS"))

    await reader.read(gone, first)
    await reader.labels.refresh()

    assert reader.labels.chain(key_of(gone)) == (OwnerRef(kind="Job", name="gone"),)
    assert reader.labels.chain(key_of(first)) == (OwnerRef(kind="Job", name="again"),)
    assert reader.requests() == 2


async def test_forbidden_resource_is_remembered_told_and_asked_for_every_five_minutes(
    apiserver: FakeApiServer, reader: Reader
) -> None:
    owners = [apiserver.create(make_owner("Deployment", f"d{n}", qos="BE")) for n in range(3)]
    job = apiserver.create(make_owner("Job", "j", qos="BE"))
    refused = apiserver.faults.add(Refuse(resource="deployments", code=403))

    await reader.read(*owners, job)
    reader.now_s += FORBIDDEN_RETRY_S - 1
    await reader.labels.refresh()

    assert (apiserver.count("get", "deployments"), apiserver.count("get", "jobs")) == (1, 1)
    assert reader.labels.chain(key_of(owners[0]))[0].labels is None
    assert reader.labels.chain(key_of(job))[0].labels == {"qos": "BE"}
    assert reader.labels.details() == (
        "owner_labels: forbidden for deployments; classes set on these workloads themselves are not seen",
    )

    reader.now_s += 2
    await reader.labels.refresh()
    assert apiserver.count("get", "deployments") == 2
    apiserver.faults.remove(refused)
    reader.now_s += FORBIDDEN_RETRY_S + 1
    await reader.labels.refresh()
    assert reader.labels.details() == ()
    assert reader.labels.chain(key_of(owners[2]))[0].labels == {"qos": "BE"}


async def test_server_trouble_is_told_and_waited_out(apiserver: FakeApiServer, reader: Reader) -> None:
    owners = [apiserver.create(make_owner("Job", f"j{n}")) for n in range(5)]
    apiserver.faults.add(Refuse(code=429, retry_after_s=60, times=1))

    await reader.read(*owners)
    reader.now_s += 59
    await reader.labels.refresh()

    assert reader.requests() == 1
    assert "429" in reader.labels.details()[0]
    reader.now_s += 2
    await reader.labels.refresh()
    assert reader.labels.details() == ()
    assert reader.requests() == 6


@pytest.mark.parametrize("name", HOSTILE_NAMES)
@pytest.mark.parametrize("field", ["name", "namespace"])
async def test_owner_whose_name_no_object_can_have_is_never_asked_for(reader: Reader, field: str, name: str) -> None:
    key = OwnerKey("apps/v1", "ReplicaSet", "default", "r", "1")._replace(**{field: name})
    reader.labels.want({key})

    assert not await reader.labels.refresh()

    assert reader.requests() == 0
    assert reader.labels.chain(key) == (OwnerRef(kind="ReplicaSet", name=key.name),)


async def test_owner_with_dots_in_its_name_is_read(apiserver: FakeApiServer, reader: Reader) -> None:
    owner = apiserver.create(make_owner("Job", "a.b-1.c", qos="BE"))

    await reader.read(owner)

    assert reader.labels.chain(key_of(owner))[0].labels == {"qos": "BE"}


@pytest.mark.parametrize("code", [400, 500])
async def test_owner_that_always_fails_costs_only_itself(apiserver: FakeApiServer, reader: Reader, code: int) -> None:
    bad = apiserver.create(make_owner("CronJob", "a-bad"))
    good = [apiserver.create(make_owner("Job", f"j{n}", qos="BE")) for n in range(3)]
    apiserver.faults.add(Refuse(resource="cronjobs", code=code))

    await reader.read(bad, *good)

    assert [reader.labels.chain(key_of(owner))[0].labels for owner in good] == [{"qos": "BE"}] * 3
    assert str(code) in reader.labels.details()[0]
    assert apiserver.count("get", "cronjobs") == 1


async def test_owner_that_always_fails_is_asked_for_ever_more_seldom(apiserver: FakeApiServer, reader: Reader) -> None:
    bad = apiserver.create(make_owner("CronJob", "bad"))
    apiserver.faults.add(Refuse(resource="cronjobs", code=500))
    reader.labels.want({key_of(bad)})

    for _ in range(7200):
        await reader.labels.refresh()
        reader.now_s += 1

    assert 8 <= apiserver.count("get", "cronjobs") <= 25
    reader.now_s += KEPT_S * 1.2
    apiserver.faults.clear()
    await reader.labels.refresh()
    assert reader.labels.details() == ()


async def test_owner_whose_answer_never_comes_does_not_hold_up_the_others(
    apiserver: FakeApiServer, reader: Reader
) -> None:
    reader.use(Limits(connect_s=0.05, answer_s=0.05))
    bad = apiserver.create(make_owner("CronJob", "a-bad"))
    good = apiserver.create(make_owner("Job", "j", qos="BE"))
    apiserver.faults.add(Hang(resource="cronjobs"))

    await reader.read(bad, good)
    reader.now_s += 31
    await reader.labels.refresh()

    assert reader.labels.chain(key_of(good))[0].labels == {"qos": "BE"}


async def test_labels_stay_while_their_owner_cannot_be_read(apiserver: FakeApiServer, reader: Reader) -> None:
    owner = apiserver.create(make_owner("Job", "j", qos="BE"))
    await reader.read(owner)
    apiserver.faults.add(Refuse(code=500))

    reader.now_s += KEPT_S * 1.3
    await reader.labels.refresh()

    assert reader.labels.chain(key_of(owner))[0].labels == {"qos": "BE"}
    assert "500" in reader.labels.details()[0]


async def test_pod_that_names_a_path_as_its_owner_makes_the_source_ask_for_nothing(
    apiserver: FakeApiServer, follower: Follower
) -> None:
    path = "../../../../../../api/v1/namespaces/kube-system/configmaps/kubeadm-config?watch=1"
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "controller": True, "name": path, "uid": "1"}
    replicas = apiserver.create(make_owner("ReplicaSet", "r"))
    apiserver.create(make_pod("a", ownerReferences=[owner]))
    apiserver.create(make_pod("b", ownerReferences=[reference(replicas)]))

    await follower.synced(owner_labels=True)
    await until(lambda: apiserver.count("get", "replicasets") == 1)

    assert {seen.resource for seen in apiserver.requests} == {"pods", "replicasets"}
    assert follower.names == {"a", "b"}


async def test_expired_token_is_trouble_and_no_missing_role(apiserver: FakeApiServer, reader: Reader) -> None:
    owner = apiserver.create(make_owner("Job", "j", qos="BE"))
    apiserver.faults.add(Refuse(code=401, times=2))

    await reader.read(owner)
    reader.now_s += 31
    await reader.labels.refresh()

    assert reader.labels.chain(key_of(owner))[0].labels == {"qos": "BE"}


async def test_requests_are_spread_after_a_burst(apiserver: FakeApiServer, reader: Reader) -> None:
    owners = [apiserver.create(make_owner("Job", f"j{n}")) for n in range(15)]

    await reader.read(*owners)

    assert reader.requests() == 15
    assert reader.sleeps.asked_s == [owners_module.PAUSE_S] * 5


async def test_cache_holds_what_is_wanted_and_no_more_than_its_bound(apiserver: FakeApiServer, reader: Reader) -> None:
    first = apiserver.create(make_owner("Job", "first"))
    await reader.read(first)
    many = {OwnerKey("x/v1", "X", "default", f"x{n}", str(n)) for n in range(MAX_OWNERS + 7)}

    reader.labels.want(many)
    await reader.labels.refresh()

    assert reader.labels.chain(key_of(first))[0].labels is None
    assert reader.labels.details() == (f"owner_labels: 7 owners beyond {MAX_OWNERS} are not read",)


async def test_garbage_about_an_owner_is_as_if_it_were_gone(apiserver: FakeApiServer, reader: Reader) -> None:
    owner = {"apiVersion": "v1", "kind": "X", "metadata": {"namespace": "default", "name": "x", "uid": "1"}}
    owner |= {"apiVersion": "apps/v1", "kind": "Deployment"}

    await reader.read(owner)

    assert reader.labels.chain(key_of(owner)) == (OwnerRef(kind="Deployment", name="x"),)


async def test_source_shows_owners_once_they_are_read(apiserver: FakeApiServer, follower: Follower) -> None:
    deployment = apiserver.create(make_owner("Deployment", "d", qos="BE"))
    replicas = apiserver.create(make_owner("ReplicaSet", "d-1", deployment))
    apiserver.create(make_pod("a", ownerReferences=[reference(replicas)]))
    await follower.synced(owner_labels=True)

    await until(lambda: len(follower.pods[0].owners) == 2 and follower.pods[0].owners[1].labels == {"qos": "BE"})
    apiserver.create(make_pod("b", ownerReferences=[reference(replicas)]))
    await follower.until_names("a", "b")

    assert follower.pods[0].owners == follower.pods[1].owners
    assert apiserver.count("get", "replicasets") == 1


async def test_source_stays_ok_when_owners_are_forbidden(apiserver: FakeApiServer, follower: Follower) -> None:
    deployment = apiserver.create(make_owner("Deployment", "d"))
    apiserver.create(make_pod("a", ownerReferences=[reference(deployment)]))
    apiserver.faults.add(Refuse(verb="get", code=403))

    await follower.synced(owner_labels=True)

    await until(lambda: follower.health.details != ())
    assert follower.health.state.value == "ok"
    assert follower.health.details[0].startswith("owner_labels: forbidden for deployments")
    assert follower.pods[0].owners == (OwnerRef(kind="Deployment", name="d"),)


async def test_source_without_owner_labels_asks_for_none(apiserver: FakeApiServer, follower: Follower) -> None:
    deployment = apiserver.create(make_owner("Deployment", "d"))
    apiserver.create(make_pod("a", ownerReferences=[reference(deployment)]))

    await follower.synced(owner_labels=False)

    assert follower.pods[0].owners == (OwnerRef(kind="Deployment", name="d"),)
    assert apiserver.count("get", "deployments") == 0
