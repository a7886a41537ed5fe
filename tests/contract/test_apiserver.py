"""What an API server does, checked on the fake and on the real one that FUYAOD_TEST_KUBECONFIG names.

One long file on purpose: one path names the whole contract, whichever server it is run against.
"""

import asyncio
from typing import Any

import pytest

from tests.contract.cluster import NO_SCHEDULER, PAUSE_IMAGE, Cluster

JsonObject = dict[str, Any]

METADATA_ONLY = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
APPLY = "apply-patch+yaml"


def config_map(name: str, *, labels: dict[str, str] | None = None, **data: str) -> JsonObject:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "labels": labels or {}},
        "data": data,
    }


# Objects


async def test_object_created_is_read_listed_and_deleted(cluster: Cluster) -> None:
    created = await cluster.ok("POST", f"{cluster.ns}/configmaps", config_map("a", key="value"))

    read = await cluster.ok("GET", f"{cluster.ns}/configmaps/a")
    listed = await cluster.ok("GET", f"{cluster.ns}/configmaps", fieldSelector="metadata.name=a")
    await cluster.ok("DELETE", f"{cluster.ns}/configmaps/a")
    gone = await cluster.call("GET", f"{cluster.ns}/configmaps/a")

    assert read.body == created.body
    assert created.body["metadata"]["uid"]
    assert created.body["metadata"]["creationTimestamp"].endswith("Z")
    assert listed.body["kind"] == "ConfigMapList"
    assert [item["data"] for item in listed.body["items"]] == [{"key": "value"}]
    assert int(listed.version) >= int(created.version)
    assert gone.code == 404


async def test_missing_object_is_answered_with_a_status(cluster: Cluster) -> None:
    answer = await cluster.call("GET", f"{cluster.ns}/configmaps/none")

    assert answer.code == 404
    assert {key: answer.body[key] for key in ("kind", "apiVersion", "status", "reason", "code")} == {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "reason": "NotFound",
        "code": 404,
    }


@pytest.mark.parametrize("path", ["/api/v1/nothings", "/apis/none.example/v1/things", "/nothing"])
async def test_unknown_path_is_404(cluster: Cluster, path: str) -> None:
    assert (await cluster.call("GET", path)).code == 404


async def test_create_of_existing_name_is_409_already_exists(cluster: Cluster) -> None:
    await cluster.ok("POST", f"{cluster.ns}/configmaps", config_map("a"))

    again = await cluster.call("POST", f"{cluster.ns}/configmaps", config_map("a"))

    assert (again.code, again.body["reason"]) == (409, "AlreadyExists")


async def test_create_with_generate_name_gets_distinct_names(cluster: Cluster) -> None:
    body = {"metadata": {"generateName": "gen-"}}

    names = [(await cluster.ok("POST", f"{cluster.ns}/configmaps", body)).body["metadata"]["name"] for _ in range(3)]

    assert len(set(names)) == 3
    assert all(name.startswith("gen-") and len(name) == 9 for name in names)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"metadata": {"name": "Not_A_Name"}}, 422),
        ({"metadata": {}}, 422),
        ({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}, 400),
        ({"metadata": {"name": "a", "namespace": "elsewhere"}}, 400),
        (b"{", 400),
    ],
    ids=["bad-name", "no-name", "other-kind", "other-namespace", "truncated"],
)
async def test_create_with_bad_body_is_refused(cluster: Cluster, body: Any, code: int) -> None:
    assert (await cluster.call("POST", f"{cluster.ns}/configmaps", body)).code == code


async def test_create_in_unknown_namespace_is_404(cluster: Cluster) -> None:
    path = f"/api/v1/namespaces/{cluster.id}-none/configmaps"

    assert (await cluster.call("POST", path, config_map("a"))).code == 404


async def test_body_of_unknown_type_is_415_and_unknown_accept_is_406(cluster: Cluster) -> None:
    body = await cluster.call("POST", f"{cluster.ns}/configmaps", b"x", content_type="text/xml")
    accept = await cluster.call("GET", f"{cluster.ns}/configmaps", accept="text/xml")

    assert (body.code, accept.code) == (415, 406)


async def test_update_with_stale_version_is_409_conflict(cluster: Cluster) -> None:
    path = f"{cluster.ns}/configmaps/a"
    first = await cluster.ok("POST", f"{cluster.ns}/configmaps", config_map("a", n="1"))
    second = await cluster.ok("PUT", path, {**first.body, "data": {"n": "2"}})

    stale = await cluster.call("PUT", path, {**first.body, "data": {"n": "3"}})
    unconditional = await cluster.ok("PUT", path, config_map("a", n="4"))

    assert (stale.code, stale.body["reason"]) == (409, "Conflict")
    assert int(first.version) < int(second.version) < int(unconditional.version)
    assert unconditional.body["metadata"]["uid"] == first.body["metadata"]["uid"]


async def test_update_that_changes_nothing_keeps_the_version(cluster: Cluster) -> None:
    first = await cluster.ok("POST", f"{cluster.ns}/configmaps", config_map("a", n="1"))

    put = await cluster.ok("PUT", f"{cluster.ns}/configmaps/a", first.body)
    patched = await cluster.patch(f"{cluster.ns}/configmaps/a", {"data": {"n": "1"}})

    assert put.version == patched.version == first.version


async def test_update_of_missing_object_is_404_and_of_other_name_400(cluster: Cluster) -> None:
    missing = await cluster.call("PUT", f"{cluster.ns}/configmaps/a", config_map("a"))
    other = await cluster.call("PUT", f"{cluster.ns}/configmaps/a", config_map("b"))

    assert (missing.code, other.code) == (404, 400)


async def test_delete_with_wrong_uid_is_409_and_deletes_nothing(cluster: Cluster) -> None:
    await cluster.ok("POST", f"{cluster.ns}/configmaps", config_map("a"))

    answer = await cluster.call("DELETE", f"{cluster.ns}/configmaps/a", {"preconditions": {"uid": "other"}})

    assert answer.code == 409
    await cluster.ok("GET", f"{cluster.ns}/configmaps/a")


async def test_dry_run_changes_nothing(cluster: Cluster) -> None:
    path = f"{cluster.ns}/configmaps"
    kept = await cluster.ok("POST", path, config_map("kept", n="1"))

    created = await cluster.call("POST", path, config_map("a"), dryRun="All")
    patched = await cluster.patch(f"{path}/kept", {"data": {"n": "2"}}, dryRun="All")
    deleted = await cluster.call("DELETE", f"{path}/kept", dryRun="All")

    assert (created.code, patched.code, deleted.code) == (201, 200, 200)
    assert patched.body["data"] == {"n": "2"}
    assert (await cluster.call("GET", f"{path}/a")).code == 404
    assert (await cluster.ok("GET", f"{path}/kept")).body == kept.body


async def test_finalizer_holds_a_deleted_object_until_it_is_removed(cluster: Cluster) -> None:
    path = f"{cluster.ns}/configmaps/a"
    body = config_map("a")
    body["metadata"]["finalizers"] = ["fuyaod.test/hold"]
    await cluster.ok("POST", f"{cluster.ns}/configmaps", body)

    await cluster.ok("DELETE", path)
    held = await cluster.ok("GET", path)
    released = await cluster.patch(path, {"metadata": {"finalizers": None}})

    assert held.body["metadata"]["deletionTimestamp"]
    assert released.code == 200
    assert (await cluster.call("GET", path)).code == 404


async def test_delete_collection_removes_what_the_selector_names(cluster: Cluster) -> None:
    path = f"{cluster.ns}/configmaps"
    for name, color in (("a", "red"), ("b", "red"), ("c", "blue")):
        await cluster.ok("POST", path, config_map(name, labels={"color": color}))

    await cluster.ok("DELETE", path, labelSelector="color=red")

    left = await cluster.ok("GET", path, labelSelector="color")
    assert [item["metadata"]["name"] for item in left.body["items"]] == ["c"]


# Lists


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("color=red", ["a"]),
        ("color==red", ["a"]),
        ("color!=red,suite", ["b", "c"]),
        ("color in (red, blue)", ["a", "b"]),
        ("color notin (red,blue),suite", ["c"]),
        ("color", ["a", "b"]),
        ("!color,suite", ["c"]),
        ("color=red,suite=x", ["a"]),
        ("color=", []),
    ],
)
async def test_label_selector_selects(cluster: Cluster, selector: str, expected: list[str]) -> None:
    for name, labels in (("a", {"color": "red"}), ("b", {"color": "blue"}), ("c", {})):
        await cluster.ok("POST", f"{cluster.ns}/configmaps", config_map(name, labels={"suite": "x", **labels}))

    listed = await cluster.ok("GET", f"{cluster.ns}/configmaps", labelSelector=selector)

    assert [item["metadata"]["name"] for item in listed.body["items"]] == expected


async def test_field_selector_selects_pods_by_node_across_namespaces(cluster: Cluster) -> None:
    node = await cluster.make_node()
    await cluster.make_pod("here", node=node)
    await cluster.make_pod("nowhere")

    by_node = await cluster.ok("GET", "/api/v1/pods", fieldSelector=f"spec.nodeName={node}")
    unbound = await cluster.ok("GET", f"{cluster.ns}/pods", fieldSelector="spec.nodeName=,status.phase!=Running")

    assert [item["metadata"]["name"] for item in by_node.body["items"]] == ["here"]
    assert [item["metadata"]["name"] for item in unbound.body["items"]] == ["nowhere"]


@pytest.mark.parametrize(
    "query",
    [{"labelSelector": "a b"}, {"fieldSelector": "spec.color=red"}, {"fieldSelector": "spec.nodeName"}],
    ids=["label", "field", "no-value"],
)
async def test_bad_selector_is_400(cluster: Cluster, query: dict[str, str]) -> None:
    assert (await cluster.call("GET", f"{cluster.ns}/pods", **query)).code == 400


async def test_pages_of_a_list_show_one_version(cluster: Cluster) -> None:
    path = f"{cluster.ns}/secrets"
    for name in ("a", "b", "c"):
        await cluster.ok("POST", path, {"metadata": {"name": name}})

    first = await cluster.ok("GET", path, limit="2")
    await cluster.ok("DELETE", f"{path}/c")
    second = await cluster.ok("GET", path, **{"limit": "2", "continue": first.body["metadata"]["continue"]})

    assert [item["metadata"]["name"] for item in first.body["items"]] == ["a", "b"]
    assert first.body["metadata"]["remainingItemCount"] == 1
    assert [item["metadata"]["name"] for item in second.body["items"]] == ["c"]
    assert second.version == first.version
    assert "continue" not in second.body["metadata"]


async def test_list_with_bad_continue_token_is_400(cluster: Cluster) -> None:
    assert (await cluster.call("GET", f"{cluster.ns}/secrets", **{"limit": "1", "continue": "x"})).code == 400


async def test_list_at_exact_version_shows_the_past(cluster: Cluster) -> None:
    path = f"{cluster.ns}/secrets"
    await cluster.ok("POST", path, {"metadata": {"name": "a"}})
    past = await cluster.ok("GET", path)
    await cluster.ok("DELETE", f"{path}/a")

    exact = await cluster.ok("GET", path, resourceVersion=past.version, resourceVersionMatch="Exact")

    assert [item["metadata"]["name"] for item in exact.body["items"]] == ["a"]


async def test_list_from_a_future_version_is_504(cluster: Cluster) -> None:
    listed = await cluster.ok("GET", f"{cluster.ns}/secrets")

    ahead = await cluster.call("GET", f"{cluster.ns}/secrets", resourceVersion=str(int(listed.version) + 10**9))

    assert ahead.code == 504


async def test_metadata_only_accept_leaves_the_rest_out(cluster: Cluster) -> None:
    path = f"{cluster.ns}/configmaps"
    await cluster.ok("POST", path, config_map("a", labels={"color": "red"}, secret="x"))

    one = await cluster.ok("GET", f"{path}/a", accept=METADATA_ONLY)
    many = await cluster.ok("GET", path, accept=f"{METADATA_LIST},application/json", labelSelector="color=red")

    assert (one.body["kind"], one.body["apiVersion"]) == ("PartialObjectMetadata", "meta.k8s.io/v1")
    assert one.body["metadata"]["labels"] == {"color": "red"}
    assert "data" not in one.body
    assert many.body["kind"] == "PartialObjectMetadataList"
    assert [set(item) & {"data", "metadata"} for item in many.body["items"]] == [{"metadata"}]


# Watches


async def test_watch_from_a_version_sends_changes_in_order(cluster: Cluster) -> None:
    path = f"{cluster.ns}/configmaps"
    before = await cluster.ok("POST", path, config_map("before"))

    async with cluster.watch(path, resourceVersion=before.version, fieldSelector="metadata.name=a") as watch:
        await cluster.ok("POST", path, config_map("a", n="1"))
        await cluster.patch(f"{path}/a", {"data": {"n": "2"}})
        await cluster.ok("DELETE", f"{path}/a")
        events = [await watch.next() for _ in range(3)]

    versions = [int(obj["metadata"]["resourceVersion"]) for _, obj in events]
    assert [kind for kind, _ in events] == ["ADDED", "MODIFIED", "DELETED"]
    assert [obj["data"]["n"] for _, obj in events] == ["1", "2", "2"]
    assert versions == sorted(set(versions))
    assert versions[0] > int(before.version)


async def test_watch_from_a_past_version_replays_what_came_after(cluster: Cluster) -> None:
    path = f"{cluster.ns}/secrets"
    first = await cluster.ok("POST", path, {"metadata": {"name": "a"}})
    await cluster.ok("POST", path, {"metadata": {"name": "b"}})
    await cluster.ok("DELETE", f"{path}/b")

    async with cluster.watch(path, resourceVersion=first.version) as watch:
        assert await watch.names(2) == [("ADDED", "b"), ("DELETED", "b")]


async def test_watch_without_a_version_begins_with_what_exists(cluster: Cluster) -> None:
    path = f"{cluster.ns}/secrets"
    await cluster.ok("POST", path, {"metadata": {"name": "a"}})

    async with cluster.watch(path) as watch:
        first = await watch.names(1)
        await cluster.ok("POST", path, {"metadata": {"name": "b"}})
        second = await watch.names(1)

    assert (first, second) == ([("ADDED", "a")], [("ADDED", "b")])


async def test_watch_with_label_selector_turns_transitions_into_added_and_deleted(cluster: Cluster) -> None:
    path = f"{cluster.ns}/configmaps"
    start = await cluster.ok("POST", path, config_map("a", labels={"color": "blue"}))

    async with cluster.watch(path, resourceVersion=start.version, labelSelector="color=red") as watch:
        await cluster.patch(f"{path}/a", {"metadata": {"labels": {"color": "red"}}})
        await cluster.patch(f"{path}/a", {"data": {"n": "1"}})
        left = await cluster.patch(f"{path}/a", {"metadata": {"labels": {"color": "green"}}})
        events = [await watch.next() for _ in range(3)]

    assert [kind for kind, _ in events] == ["ADDED", "MODIFIED", "DELETED"]
    assert events[2][1]["metadata"]["resourceVersion"] == left.version


async def test_watch_with_node_selector_sees_a_pod_when_it_is_bound(cluster: Cluster) -> None:
    node = await cluster.make_node()
    pod = await cluster.make_pod("a")
    binding = {"metadata": {"name": "a"}, "target": {"kind": "Node", "name": node}}

    async with cluster.watch(
        "/api/v1/pods", resourceVersion=pod.version, fieldSelector=f"spec.nodeName={node}"
    ) as watch:
        await cluster.ok("POST", f"{cluster.ns}/pods/a/binding", binding)
        kind, obj = await watch.next()

    assert (kind, obj["metadata"]["name"], obj["spec"]["nodeName"]) == ("ADDED", "a", node)


async def test_watch_ends_at_its_timeout_with_a_bookmark_before(cluster: Cluster) -> None:
    path = f"{cluster.ns}/secrets"
    start = await cluster.ok("POST", path, {"metadata": {"name": "a"}})
    # The real server sends bookmarks two seconds before the timeout.
    timeout_s = "1" if cluster.fake else "6"

    async with cluster.watch(
        path, resourceVersion=start.version, allowWatchBookmarks="true", timeoutSeconds=timeout_s
    ) as watch:
        events = await watch.rest()

    assert [kind for kind, _ in events][-1:] == ["BOOKMARK"]
    assert events[-1][1]["kind"] == "Secret"
    assert int(events[-1][1]["metadata"]["resourceVersion"]) >= int(start.version)


async def test_watch_without_bookmarks_ends_silently_at_its_timeout(cluster: Cluster) -> None:
    start = await cluster.ok("GET", f"{cluster.ns}/secrets")

    async with cluster.watch(f"{cluster.ns}/secrets", resourceVersion=start.version, timeoutSeconds="1") as watch:
        assert await watch.rest() == []


async def test_watch_from_a_compacted_version_is_an_error_410(cluster: Cluster) -> None:
    async with cluster.watch(f"{cluster.ns}/configmaps", resourceVersion="1") as watch:
        kind, status = await watch.next()

    assert (kind, status["kind"], status["code"]) == ("ERROR", "Status", 410)
    assert status["reason"] in ("Expired", "Gone")


async def test_watch_with_initial_events_ends_them_with_a_bookmark(cluster: Cluster) -> None:
    path = f"{cluster.ns}/secrets"
    await cluster.ok("POST", path, {"metadata": {"name": "a"}})
    query = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}

    async with cluster.watch(path, **query) as watch:
        kind, obj = await watch.next_of_any_type()
        if kind == "ERROR" and not cluster.fake:
            pytest.skip("this server's etcd cannot stream lists")
        end_kind, end = await watch.next_of_any_type()

    assert (kind, obj["metadata"]["name"]) == ("ADDED", "a")
    assert end_kind == "BOOKMARK"
    assert end["metadata"]["annotations"]["k8s.io/initial-events-end"] == "true"


async def test_watch_with_initial_events_but_no_match_rule_is_422(cluster: Cluster) -> None:
    answer = await cluster.call("GET", f"{cluster.ns}/secrets", watch="1", sendInitialEvents="true")

    assert answer.code == 422


async def test_watch_of_metadata_only(cluster: Cluster) -> None:
    path = f"{cluster.ns}/configmaps"
    start = await cluster.ok("GET", path)

    async with cluster.watch(path, accept=METADATA_ONLY, resourceVersion=start.version) as watch:
        await cluster.ok("POST", path, config_map("a", n="1"))
        kind, obj = await watch.next()

    assert (kind, obj["kind"], obj["metadata"]["name"]) == ("ADDED", "PartialObjectMetadata", "a")
    assert "data" not in obj


# Patches


async def test_json_patch_operations(cluster: Cluster) -> None:
    path = f"{cluster.ns}/configmaps/a"
    await cluster.ok("POST", f"{cluster.ns}/configmaps", config_map("a", n="1", old="x"))
    patch: list[JsonObject] = [
        {"op": "test", "path": "/data/n", "value": "1"},
        {"op": "replace", "path": "/data/n", "value": "2"},
        {"op": "move", "from": "/data/old", "path": "/data/new"},
        {"op": "copy", "from": "/data/n", "path": "/data/twin"},
        {"op": "add", "path": "/metadata/labels", "value": {"a_b": "x"}},
        {"op": "add", "path": "/metadata/annotations", "value": {"a/b": "x"}},
        {"op": "remove", "path": "/metadata/annotations/a~1b"},
    ]

    answer = await cluster.patch(path, patch, "json-patch+json")

    assert answer.code == 200
    assert answer.body["data"] == {"n": "2", "new": "x", "twin": "2"}
    assert answer.body["metadata"]["labels"] == {"a_b": "x"}
    assert not answer.body["metadata"].get("annotations")


@pytest.mark.parametrize(
    ("patch", "code"),
    [
        ([{"op": "test", "path": "/data/n", "value": "9"}, {"op": "remove", "path": "/data/n"}], 422),
        ([{"op": "remove", "path": "/data/none"}], 422),
        ([{"op": "replace", "path": "/data/none", "value": "1"}], 422),
        ({"op": "remove"}, 400),
        (b"[{", 400),
    ],
    ids=["test-fails", "missing", "replace-missing", "no-list", "truncated"],
)
async def test_json_patch_that_does_not_apply_is_refused_whole(cluster: Cluster, patch: Any, code: int) -> None:
    path = f"{cluster.ns}/configmaps/a"
    before = await cluster.ok("POST", f"{cluster.ns}/configmaps", config_map("a", n="1"))

    answer = await cluster.patch(path, patch, "json-patch+json")

    assert answer.code == code
    assert (await cluster.ok("GET", path)).version == before.version


async def test_merge_patch_sets_removes_and_replaces_lists(cluster: Cluster) -> None:
    path = f"{cluster.ns}/configmaps/a"
    body = config_map("a", n="1", old="x")
    body["metadata"]["finalizers"] = ["fuyaod.test/one"]
    await cluster.ok("POST", f"{cluster.ns}/configmaps", body)

    answer = await cluster.patch(
        path, {"data": {"n": "2", "old": None}, "metadata": {"finalizers": ["fuyaod.test/two"]}}
    )

    assert answer.body["data"] == {"n": "2"}
    assert answer.body["metadata"]["finalizers"] == ["fuyaod.test/two"]


async def test_patch_with_stale_version_is_409(cluster: Cluster) -> None:
    path = f"{cluster.ns}/configmaps/a"
    first = await cluster.ok("POST", f"{cluster.ns}/configmaps", config_map("a", n="1"))
    await cluster.patch(path, {"data": {"n": "2"}})

    stale = await cluster.patch(path, {"metadata": {"resourceVersion": first.version}, "data": {"n": "3"}})

    assert stale.code == 409


async def test_patch_of_unknown_type_is_415_and_of_missing_object_404(cluster: Cluster) -> None:
    await cluster.ok("POST", f"{cluster.ns}/configmaps", config_map("a"))

    unknown = await cluster.patch(f"{cluster.ns}/configmaps/a", {}, "json")
    missing = await cluster.patch(f"{cluster.ns}/configmaps/none", {})

    assert (unknown.code, missing.code) == (415, 404)


def deployment(name: str, containers: list[JsonObject]) -> JsonObject:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": containers, "schedulerName": NO_SCHEDULER}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"replicas": 0, "selector": {"matchLabels": labels}, "template": template},
    }


async def test_strategic_patch_merges_lists_by_their_key(cluster: Cluster) -> None:
    path = f"{cluster.group('apps/v1')}/deployments"
    env = [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]
    containers: list[JsonObject] = [
        {"name": "one", "image": PAUSE_IMAGE, "env": env},
        {"name": "two", "image": PAUSE_IMAGE},
    ]
    await cluster.ok("POST", path, deployment("d", containers))
    changes = [
        {"name": "one", "env": [{"name": "A", "value": "9"}, {"name": "B", "$patch": "delete"}]},
        {"name": "three", "image": PAUSE_IMAGE},
        {"name": "two", "$patch": "delete"},
    ]

    answer = await cluster.patch(
        f"{path}/d", {"spec": {"template": {"spec": {"containers": changes}}}}, "strategic-merge-patch+json"
    )

    result = {item["name"]: item.get("env") for item in answer.body["spec"]["template"]["spec"]["containers"]}
    assert result == {"one": [{"name": "A", "value": "9"}], "three": None}


async def test_strategic_patch_with_replace_directive_replaces_the_map(cluster: Cluster) -> None:
    path = f"{cluster.ns}/configmaps/a"
    await cluster.ok("POST", f"{cluster.ns}/configmaps", config_map("a", n="1", old="x"))

    answer = await cluster.patch(path, {"data": {"$patch": "replace", "new": "2"}}, "strategic-merge-patch+json")

    assert answer.body["data"] == {"new": "2"}


async def test_strategic_patch_merges_finalizers_as_a_set(cluster: Cluster) -> None:
    path = f"{cluster.ns}/configmaps/a"
    body = config_map("a")
    body["metadata"]["finalizers"] = ["fuyaod.test/one", "fuyaod.test/two"]
    await cluster.ok("POST", f"{cluster.ns}/configmaps", body)
    metadata = {"$deleteFromPrimitiveList/finalizers": ["fuyaod.test/one"], "finalizers": ["fuyaod.test/three"]}

    answer = await cluster.patch(path, {"metadata": metadata}, "strategic-merge-patch+json")

    assert sorted(answer.body["metadata"]["finalizers"]) == ["fuyaod.test/three", "fuyaod.test/two"]


# Server-side apply


async def test_apply_creates_then_changes_and_removes_what_it_no_longer_names(cluster: Cluster) -> None:
    path = f"{cluster.ns}/configmaps/a"

    created = await cluster.patch(path, config_map("a", n="1", old="x"), APPLY, fieldManager="one")
    changed = await cluster.patch(path, config_map("a", n="2"), APPLY, fieldManager="one")

    assert (created.code, changed.code) == (201, 200)
    assert changed.body["data"] == {"n": "2"}
    managers = [(entry["manager"], entry["operation"]) for entry in changed.body["metadata"]["managedFields"]]
    assert managers == [("one", "Apply")]


async def test_apply_of_a_field_another_manager_owns_is_409_unless_forced(cluster: Cluster) -> None:
    path = f"{cluster.ns}/configmaps/a"
    await cluster.patch(path, config_map("a", n="1"), APPLY, fieldManager="one")

    refused = await cluster.patch(path, config_map("a", n="2"), APPLY, fieldManager="two")
    shared = await cluster.patch(path, config_map("a", n="1"), APPLY, fieldManager="two")
    forced = await cluster.patch(path, config_map("a", n="3"), APPLY, fieldManager="two", force="true")

    assert (refused.code, shared.code, forced.code) == (409, 200, 200)
    assert refused.body["details"]["causes"][0]["reason"] == "FieldManagerConflict"
    assert refused.body["details"]["causes"][0]["field"] == ".data.n"
    assert forced.body["data"] == {"n": "3"}


async def test_apply_keeps_what_other_managers_wrote(cluster: Cluster) -> None:
    path = f"{cluster.ns}/configmaps/a"
    await cluster.patch(path, config_map("a", n="1"), APPLY, fieldManager="one")
    await cluster.patch(path, {"data": {"other": "x"}}, fieldManager="two")

    answer = await cluster.patch(path, config_map("a"), APPLY, fieldManager="one")

    assert answer.body["data"] == {"other": "x"}


async def test_apply_of_the_same_again_keeps_the_version(cluster: Cluster) -> None:
    path = f"{cluster.ns}/configmaps/a"
    first = await cluster.patch(path, config_map("a", n="1"), APPLY, fieldManager="one")

    again = await cluster.patch(path, config_map("a", n="1"), APPLY, fieldManager="one")

    assert again.version == first.version


async def test_apply_without_a_manager_is_refused(cluster: Cluster) -> None:
    answer = await cluster.patch(f"{cluster.ns}/configmaps/a", config_map("a"), APPLY)

    assert answer.code in (400, 422)


async def test_apply_merges_node_conditions_by_type(cluster: Cluster) -> None:
    node = await cluster.make_node()
    path = f"/api/v1/nodes/{node}/status"
    ready = {"type": "Ready", "status": "True", "reason": "Test"}
    npu = {"type": "NpuHealthy", "status": "False", "reason": "Test"}
    head = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node}}
    await cluster.patch(path, {"status": {"conditions": [ready]}}, "strategic-merge-patch+json")

    added = await cluster.patch(path, {**head, "status": {"conditions": [npu]}}, APPLY, fieldManager="npu")
    removed = await cluster.patch(path, {**head, "status": {}}, APPLY, fieldManager="npu")

    assert {item["type"] for item in added.body["status"]["conditions"]} >= {"Ready", "NpuHealthy"}
    assert "NpuHealthy" not in {item["type"] for item in removed.body["status"]["conditions"]}


# Nodes and status


async def test_node_condition_patch_keeps_the_other_conditions(cluster: Cluster) -> None:
    path = f"/api/v1/nodes/{await cluster.make_node()}/status"

    for kind, status in (("NpuHealthy", "True"), ("KvHealthy", "True"), ("NpuHealthy", "False")):
        condition = {"type": kind, "status": status, "reason": "Test", "message": ""}
        answer = await cluster.patch(path, {"status": {"conditions": [condition]}}, "strategic-merge-patch+json")

    result = {item["type"]: item["status"] for item in answer.body["status"]["conditions"]}
    assert (result["NpuHealthy"], result["KvHealthy"]) == ("False", "True")


async def test_extended_resource_is_added_by_json_patch_on_status(cluster: Cluster) -> None:
    node = await cluster.make_node()
    patch = [{"op": "add", "path": "/status/capacity/kubernetes.io~1be-cpu", "value": "4000"}]

    answer = await cluster.patch(f"/api/v1/nodes/{node}/status", patch, "json-patch+json")

    # The server writes quantities in their shortest form.
    assert answer.code == 200
    assert answer.body["status"]["capacity"]["kubernetes.io/be-cpu"] in ("4000", "4k")


async def test_node_taints_are_one_list(cluster: Cluster) -> None:
    path = f"/api/v1/nodes/{await cluster.make_node()}"
    one = {"key": "fuyaod.test/one", "effect": "PreferNoSchedule"}
    two = {"key": "fuyaod.test/two", "effect": "PreferNoSchedule"}

    await cluster.patch(path, {"spec": {"taints": [one]}}, "strategic-merge-patch+json")
    answer = await cluster.patch(path, {"spec": {"taints": [two]}}, "strategic-merge-patch+json")

    keys = {taint["key"] for taint in answer.body["spec"]["taints"]}
    assert "fuyaod.test/two" in keys
    assert "fuyaod.test/one" not in keys


async def test_pod_status_and_spec_are_isolated(cluster: Cluster) -> None:
    await cluster.make_pod("a")
    path = f"{cluster.ns}/pods/a"

    main = await cluster.patch(path, {"status": {"phase": "Running"}, "metadata": {"labels": {"x": "1"}}})
    status = await cluster.patch(
        f"{path}/status", {"status": {"phase": "Running"}, "spec": {"terminationGracePeriodSeconds": 1}}
    )

    assert (main.body["status"]["phase"], main.body["metadata"]["labels"]) == ("Pending", {"x": "1"})
    assert status.body["status"]["phase"] == "Running"
    assert status.body["spec"]["terminationGracePeriodSeconds"] == 30


async def test_generation_counts_changes_of_spec_only(cluster: Cluster) -> None:
    path = f"{cluster.group('apps/v1')}/deployments"
    await cluster.ok("POST", path, deployment("d", [{"name": "one", "image": PAUSE_IMAGE}]))

    labelled = await cluster.patch(f"{path}/d", {"metadata": {"labels": {"x": "1"}}})
    changed = await cluster.patch(f"{path}/d", {"spec": {"minReadySeconds": 5}})

    assert labelled.body["metadata"]["generation"] == 1
    assert changed.body["metadata"]["generation"] == 2


# Pods


@pytest.mark.parametrize(
    ("resources", "qos"),
    [
        ({}, "BestEffort"),
        ({"requests": {"cpu": "100m"}}, "Burstable"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}}, "Guaranteed"),
        ({"requests": {"cpu": "1000m", "memory": "1Gi"}, "limits": {"cpu": "1", "memory": "1Gi"}}, "Guaranteed"),
        ({"requests": {"memory": "1Gi"}, "limits": {"cpu": "1", "memory": "2Gi"}}, "Burstable"),
    ],
    ids=["none", "request", "limits", "equal", "differing"],
)
async def test_new_pod_is_pending_with_its_qos_class(cluster: Cluster, resources: JsonObject, qos: str) -> None:
    pod = await cluster.make_pod("a", **resources)

    assert (pod.body["status"]["phase"], pod.body["status"]["qosClass"]) == ("Pending", qos)
    assert pod.body["spec"]["restartPolicy"] == "Always"


async def test_pod_without_containers_is_422(cluster: Cluster) -> None:
    answer = await cluster.call("POST", f"{cluster.ns}/pods", {"metadata": {"name": "a"}, "spec": {"containers": []}})

    assert answer.code == 422


async def test_pod_spec_change_is_422_but_image_may_change(cluster: Cluster) -> None:
    await cluster.make_pod("a")
    path = f"{cluster.ns}/pods/a"

    host = await cluster.patch(path, {"spec": {"hostNetwork": True}}, "strategic-merge-patch+json")
    image = await cluster.patch(
        path,
        {"spec": {"containers": [{"name": "main", "image": "registry.invalid/pause:2"}]}},
        "strategic-merge-patch+json",
    )

    assert (host.code, image.code) == (422, 200)


async def test_binding_assigns_a_pod_once(cluster: Cluster) -> None:
    node = await cluster.make_node()
    await cluster.make_pod("a")
    path = f"{cluster.ns}/pods/a/binding"
    binding = {"metadata": {"name": "a"}, "target": {"kind": "Node", "name": node}}

    first = await cluster.call("POST", path, binding)
    again = await cluster.call("POST", path, binding)

    pod = await cluster.ok("GET", f"{cluster.ns}/pods/a")
    assert (first.code, again.code, again.body["reason"]) == (201, 409, "Conflict")
    assert pod.body["spec"]["nodeName"] == node
    assert {"PodScheduled"} <= {item["type"] for item in pod.body["status"]["conditions"]}


async def test_delete_of_bound_pod_waits_for_its_kubelet(cluster: Cluster) -> None:
    node = await cluster.make_node()
    pod = await cluster.make_pod("a", node=node)
    path = f"{cluster.ns}/pods"

    async with cluster.watch(path, resourceVersion=pod.version, fieldSelector="metadata.name=a") as watch:
        await cluster.ok("DELETE", f"{path}/a")
        waiting = await cluster.ok("GET", f"{path}/a")
        await cluster.ok("DELETE", f"{path}/a", {"gracePeriodSeconds": 0})
        kinds = [(await watch.next())[0]]
        while kinds[-1] != "DELETED":
            kinds.append((await watch.next())[0])

    assert waiting.body["metadata"]["deletionGracePeriodSeconds"] == 30
    assert waiting.body["metadata"]["deletionTimestamp"]
    assert kinds == ["MODIFIED", "MODIFIED", "DELETED"]


async def test_delete_of_bound_pod_at_once_sends_modified_before_deleted(cluster: Cluster) -> None:
    node = await cluster.make_node()
    pod = await cluster.make_pod("a", node=node)
    path = f"{cluster.ns}/pods"

    async with cluster.watch(path, resourceVersion=pod.version, fieldSelector="metadata.name=a") as watch:
        await cluster.ok("DELETE", f"{path}/a", {"gracePeriodSeconds": 0})
        assert await watch.names(2) == [("MODIFIED", "a"), ("DELETED", "a")]


async def test_delete_of_unbound_pod_is_immediate(cluster: Cluster) -> None:
    await cluster.make_pod("a")

    await cluster.ok("DELETE", f"{cluster.ns}/pods/a")

    assert (await cluster.call("GET", f"{cluster.ns}/pods/a")).code == 404


async def resize(cluster: Cluster, **resources: Any) -> Any:
    containers = [{"name": "main", "resources": resources}]
    return await cluster.patch(
        f"{cluster.ns}/pods/a/resize", {"spec": {"containers": containers}}, "strategic-merge-patch+json"
    )


async def test_resize_changes_resources_and_nothing_else_can(cluster: Cluster) -> None:
    node = await cluster.make_node(cpu="4")
    pod = await cluster.make_pod("a", node=node, requests={"cpu": "1"}, limits={"cpu": "2"})
    await cluster.set_running("a")

    direct = await cluster.patch(
        f"{cluster.ns}/pods/a",
        {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "2"}}}]}},
        "strategic-merge-patch+json",
    )
    resized = await resize(cluster, requests={"cpu": "2"})

    assert direct.code == 422
    assert resized.body["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "2"}
    assert resized.body["metadata"]["uid"] == pod.body["metadata"]["uid"]


async def test_resize_beyond_the_node_is_403(cluster: Cluster) -> None:
    node = await cluster.make_node(cpu="4")
    await cluster.make_pod("a", node=node, requests={"cpu": "1"}, limits={"cpu": "2"})
    await cluster.set_running("a")

    answer = await resize(cluster, requests={"cpu": "8"}, limits={"cpu": "8"})

    assert (answer.code, answer.body["reason"]) == (403, "Forbidden")


async def test_resize_that_changes_the_qos_class_is_422(cluster: Cluster) -> None:
    node = await cluster.make_node(cpu="4")
    same = {"cpu": "1", "memory": "1Gi"}
    await cluster.make_pod("a", node=node, requests=same, limits=same)
    await cluster.set_running("a")

    assert (await resize(cluster, requests={"cpu": "500m"}, limits=same)).code == 422


# Eviction and budgets


def eviction(name: str, **options: Any) -> JsonObject:
    head = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    return {**head, "deleteOptions": options} if options else head


def budget(name: str, rule: JsonObject) -> JsonObject:
    return {"metadata": {"name": name}, "spec": {**rule, "selector": {"matchLabels": {"app": "a"}}}}


async def make_running_pod(cluster: Cluster, name: str = "a") -> None:
    await cluster.make_pod(name, node=await cluster.make_node(), labels={"app": "a"})
    await cluster.set_running(name)


async def test_eviction_without_budget_deletes_gracefully(cluster: Cluster) -> None:
    await make_running_pod(cluster)

    answer = await cluster.call("POST", f"{cluster.ns}/pods/a/eviction", eviction("a", gracePeriodSeconds=7))

    pod = await cluster.ok("GET", f"{cluster.ns}/pods/a")
    assert (answer.code, answer.body["status"]) == (201, "Success")
    assert pod.body["metadata"]["deletionGracePeriodSeconds"] == 7


async def test_eviction_that_a_budget_forbids_is_429(cluster: Cluster) -> None:
    await make_running_pod(cluster)
    await cluster.ok("POST", f"{cluster.group('policy/v1')}/poddisruptionbudgets", budget("b", {"maxUnavailable": 0}))

    answer = await cluster.call("POST", f"{cluster.ns}/pods/a/eviction", eviction("a"))

    assert (answer.code, answer.body["reason"]) == (429, "TooManyRequests")
    assert answer.body["details"]["causes"][0]["reason"] == "DisruptionBudget"
    assert "deletionTimestamp" not in (await cluster.ok("GET", f"{cluster.ns}/pods/a")).body["metadata"]


async def test_eviction_that_a_budget_allows_uses_it_up(cluster: Cluster) -> None:
    await make_running_pod(cluster)
    path = f"{cluster.group('policy/v1')}/poddisruptionbudgets"
    await cluster.ok("POST", path, budget("b", {"minAvailable": 0}))
    counts = {"currentHealthy": 1, "desiredHealthy": 0, "expectedPods": 1}
    await cluster.patch(f"{path}/b/status", {"status": {"disruptionsAllowed": 1, "observedGeneration": 1, **counts}})

    await cluster.until("POST", f"{cluster.ns}/pods/a/eviction", 201, eviction("a"))

    after = await cluster.ok("GET", f"{path}/b")
    assert after.body["status"]["disruptionsAllowed"] == 0
    assert "deletionTimestamp" in (await cluster.ok("GET", f"{cluster.ns}/pods/a")).body["metadata"]


async def test_eviction_under_two_budgets_is_500(cluster: Cluster) -> None:
    await make_running_pod(cluster)
    for name in ("b", "c"):
        path = f"{cluster.group('policy/v1')}/poddisruptionbudgets"
        await cluster.ok("POST", path, budget(name, {"maxUnavailable": 0}))

    assert (await cluster.call("POST", f"{cluster.ns}/pods/a/eviction", eviction("a"))).code == 500


async def test_eviction_of_pending_pod_ignores_budgets(cluster: Cluster) -> None:
    await cluster.make_pod("a", labels={"app": "a"})
    await cluster.ok("POST", f"{cluster.group('policy/v1')}/poddisruptionbudgets", budget("b", {"maxUnavailable": 0}))

    assert (await cluster.call("POST", f"{cluster.ns}/pods/a/eviction", eviction("a"))).code == 201


async def test_eviction_as_dry_run_keeps_the_pod(cluster: Cluster) -> None:
    await make_running_pod(cluster)

    answer = await cluster.call("POST", f"{cluster.ns}/pods/a/eviction", eviction("a", dryRun=["All"]))

    assert answer.code == 201
    assert "deletionTimestamp" not in (await cluster.ok("GET", f"{cluster.ns}/pods/a")).body["metadata"]


async def test_eviction_with_wrong_uid_is_409_and_of_missing_pod_404(cluster: Cluster) -> None:
    await make_running_pod(cluster)

    other = await cluster.call("POST", f"{cluster.ns}/pods/a/eviction", eviction("a", preconditions={"uid": "x"}))
    missing = await cluster.call("POST", f"{cluster.ns}/pods/none/eviction", eviction("none"))

    assert (other.code, missing.code) == (409, 404)


# Leases and events


async def test_lease_is_taken_by_one_of_two_that_read_the_same_version(cluster: Cluster) -> None:
    path = f"{cluster.group('coordination.k8s.io/v1')}/leases"
    body = {"metadata": {"name": "l"}, "spec": {"holderIdentity": "", "leaseDurationSeconds": 15}}
    lease = await cluster.ok("POST", path, body)

    answers = await asyncio.gather(
        *(
            cluster.call("PUT", f"{path}/l", {**lease.body, "spec": {**lease.body["spec"], "holderIdentity": holder}})
            for holder in ("one", "two")
        )
    )

    assert sorted(answer.code for answer in answers) == [200, 409]


async def test_event_is_found_by_the_object_it_is_about(cluster: Cluster) -> None:
    body = {
        "metadata": {"generateName": "a."},
        "involvedObject": {"kind": "Pod", "name": "a", "namespace": cluster.id},
        "reason": "Suppressed",
        "message": "psi_some 34.1% > 20%",
        "type": "Warning",
    }
    await cluster.ok("POST", f"{cluster.ns}/events", body)

    selector = "involvedObject.name=a,involvedObject.kind=Pod,reason=Suppressed"
    found = await cluster.ok("GET", f"{cluster.ns}/events", fieldSelector=selector)

    assert [item["message"] for item in found.body["items"]] == [body["message"]]


async def test_event_about_another_namespace_is_422(cluster: Cluster) -> None:
    body = {"metadata": {"name": "e"}, "involvedObject": {"kind": "Pod", "name": "a", "namespace": "default"}}

    assert (await cluster.call("POST", f"{cluster.ns}/events", body)).code == 422


# Custom resources

SCHEMA: JsonObject = {
    "type": "object",
    "required": ["spec"],
    "properties": {
        "spec": {
            "type": "object",
            "required": ["mode"],
            "properties": {
                "mode": {"type": "string", "enum": ["on", "off"]},
                "replicas": {"type": "integer", "minimum": 1, "maximum": 5, "default": 2},
                "port": {"x-kubernetes-int-or-string": True},
                "tags": {"type": "object", "additionalProperties": {"type": "string"}},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "zones": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {"name": {"type": "string", "minLength": 1}, "weight": {"type": "integer"}},
                    },
                },
            },
        },
        "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
    },
}


class Things:
    """A custom resource of the test's own group."""

    def __init__(self, cluster: Cluster) -> None:
        self.group = f"{cluster.id}.example.com"
        self.crd = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.{self.group}"
        self.path = f"/apis/{self.group}/v1/namespaces/{cluster.id}/things"
        self._cluster = cluster

    def definition(self) -> JsonObject:
        version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": SCHEMA}}
        names = {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"}
        return {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"things.{self.group}"},
            "spec": {
                "group": self.group,
                "scope": "Namespaced",
                "names": names,
                "versions": [{**version, "subresources": {"status": {}}}],
            },
        }

    def thing(self, name: str, **spec: Any) -> JsonObject:
        head = {"apiVersion": f"{self.group}/v1", "kind": "Thing", "metadata": {"name": name}}
        return {**head, "spec": {"mode": "on", **spec}}

    async def serve(self) -> None:
        await self._cluster.ok("POST", self.crd.rpartition("/")[0], self.definition())
        await self._cluster.until("GET", self.path, 200)


@pytest.fixture
async def things(cluster: Cluster) -> Things:
    things = Things(cluster)
    await things.serve()
    return things


async def test_crd_is_established_and_discovered(cluster: Cluster, things: Things) -> None:
    crd = await cluster.ok("GET", things.crd)
    listed = await cluster.ok("GET", things.path)
    discovered = await cluster.until("GET", f"/apis/{things.group}/v1", 200)

    conditions = {item["type"]: item["status"] for item in crd.body["status"]["conditions"]}
    assert (conditions["Established"], conditions["NamesAccepted"]) == ("True", "True")
    assert listed.body["kind"] == "ThingList"
    assert {item["name"] for item in discovered.body["resources"]} == {"things", "things/status"}


async def test_custom_object_is_pruned_defaulted_and_loses_its_status(cluster: Cluster, things: Things) -> None:
    body = things.thing("a", unknown=1, tags={"x": "1"}, free={"any": {"thing": 1}})

    created = await cluster.ok("POST", things.path, {**body, "status": {"phase": "x"}, "extra": 1})

    assert created.body["spec"] == {"mode": "on", "replicas": 2, "tags": {"x": "1"}, "free": {"any": {"thing": 1}}}
    assert "status" not in created.body
    assert "extra" not in created.body
    assert created.body["metadata"]["generation"] == 1


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"mode": "maybe"}, "spec.mode"),
        ({"replicas": 0}, "spec.replicas"),
        ({"replicas": 6}, "spec.replicas"),
        ({"replicas": "2"}, "spec.replicas"),
        ({"port": {}}, "spec.port"),
        ({"tags": {"x": 1}}, "spec.tags.x"),
        ({"zones": [{"weight": 1}]}, "spec.zones[0].name"),
        ({"zones": [{"name": "a"}, {"name": "a"}]}, "spec.zones[1]"),
    ],
    ids=["enum", "minimum", "maximum", "type", "int-or-string", "map-value", "required", "duplicate"],
)
async def test_custom_object_that_breaks_its_schema_is_422(
    cluster: Cluster, things: Things, spec: JsonObject, field: str
) -> None:
    answer = await cluster.call("POST", things.path, things.thing("a", **spec))

    assert (answer.code, answer.body["reason"]) == (422, "Invalid")
    assert field in {cause["field"] for cause in answer.body["details"]["causes"]}


async def test_custom_object_without_required_field_is_422(cluster: Cluster, things: Things) -> None:
    body = things.thing("a")
    del body["spec"]

    assert (await cluster.call("POST", things.path, body)).code == 422


async def test_custom_object_with_unknown_field_under_strict_validation_is_400(
    cluster: Cluster, things: Things
) -> None:
    answer = await cluster.call("POST", things.path, things.thing("a", unknown=1), fieldValidation="Strict")

    assert answer.code == 400
    assert "unknown" in answer.body["message"]


async def test_custom_status_is_written_through_its_subresource_only(cluster: Cluster, things: Things) -> None:
    await cluster.ok("POST", things.path, things.thing("a"))

    main = await cluster.patch(f"{things.path}/a", {"status": {"phase": "x"}, "spec": {"mode": "off"}})
    status = await cluster.patch(f"{things.path}/a/status", {"status": {"phase": "y"}, "spec": {"mode": "on"}})

    assert "status" not in main.body
    assert main.body["metadata"]["generation"] == 2
    assert (status.body["status"], status.body["spec"]["mode"]) == ({"phase": "y"}, "off")
    assert status.body["metadata"]["generation"] == 2


async def test_custom_object_takes_no_strategic_patch(cluster: Cluster, things: Things) -> None:
    await cluster.ok("POST", things.path, things.thing("a"))

    answer = await cluster.patch(f"{things.path}/a", {"spec": {"mode": "off"}}, "strategic-merge-patch+json")

    assert answer.code == 415


async def test_custom_object_update_needs_a_version(cluster: Cluster, things: Things) -> None:
    created = await cluster.ok("POST", things.path, things.thing("a"))

    without = await cluster.call("PUT", f"{things.path}/a", things.thing("a", mode="off"))
    with_version = await cluster.call("PUT", f"{things.path}/a", {**created.body, "spec": {"mode": "off"}})

    assert (without.code, with_version.code) == (422, 200)


async def test_custom_list_map_is_merged_by_key_in_apply(cluster: Cluster, things: Things) -> None:
    path = f"{things.path}/a"
    one, two = {"name": "one", "weight": 1}, {"name": "two", "weight": 2}
    await cluster.patch(path, things.thing("a", zones=[one]), APPLY, fieldManager="one")

    both = await cluster.patch(path, things.thing("a", zones=[two]), APPLY, fieldManager="two")
    left = await cluster.patch(path, things.thing("a"), APPLY, fieldManager="one")

    assert both.body["spec"]["zones"] == [one, two]
    assert left.body["spec"]["zones"] == [two]


async def test_custom_objects_vanish_with_their_definition(cluster: Cluster, things: Things) -> None:
    await cluster.ok("POST", things.path, things.thing("a"))

    await cluster.ok("DELETE", things.crd)

    await cluster.until("GET", things.path, 404)


@pytest.mark.parametrize(
    "change",
    [
        lambda crd: crd["metadata"].update(name="other.example.com"),
        lambda crd: crd["spec"]["versions"][0].update(storage=False),
        lambda crd: crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"].update(x={}),
        lambda crd: crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"].update(x={"type": "integr"}),
    ],
    ids=["name", "no-storage", "untyped", "unknown-type"],
)
async def test_crd_that_is_not_structural_is_422(cluster: Cluster, change: Any) -> None:
    crd = Things(cluster).definition()
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = {**schema, "properties": dict(schema["properties"])}
    change(crd)

    answer = await cluster.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd)

    assert answer.code == 422


# Discovery


async def test_version_and_health(cluster: Cluster) -> None:
    version = await cluster.ok("GET", "/version")
    health = await cluster.call("GET", "/readyz", accept="*/*")

    assert {"major", "minor", "gitVersion"} <= version.body.keys()
    assert health.code == 200


async def test_discovery_names_resources_and_subresources(cluster: Cluster) -> None:
    core = await cluster.ok("GET", "/api/v1")
    groups = await cluster.ok("GET", "/apis")

    resources = {item["name"]: item for item in core.body["resources"]}
    names = {"pods", "pods/status", "pods/eviction", "pods/binding", "pods/resize", "nodes", "nodes/status"}
    assert names <= resources.keys()
    assert resources["pods"]["namespaced"] is True
    assert resources["nodes"]["namespaced"] is False
    assert {"watch", "list", "patch"} <= set(resources["pods"]["verbs"])
    assert {"apps", "coordination.k8s.io", "policy"} <= {group["name"] for group in groups.body["groups"]}
