"""API pods to records: ids, static pods, resources, devices, hostile input."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuyaod.kube import wire
from fuyaod.kube.observe.records import MAX_KEYS, MAX_VALUE_CHARS, OwnerKey, bare_id, controller_of, pod_record
from fuyaod.kube.quantity import parse_cpu_milli
from fuyaod.kube.wire import Decoders, decoded
from fuyaod.model.cgroup import KubeQos
from fuyaod.model.pods import Container, PodRecord, Resources, SourceKind

HASH = "0123456789abcdef0123456789abcdef"


def record(
    metadata: dict[str, Any] | None = None, spec: dict[str, Any] | None = None, status: dict[str, Any] | None = None
) -> PodRecord:
    full = {"name": "p", "namespace": "ns", "uid": "u-1", **(metadata or {})}
    raw = msgspec.json.encode({"metadata": full, "spec": spec or {}, "status": status or {}})
    pod = decoded(Decoders().pod, raw)
    assert pod is not None
    return pod_record(pod)


def container(name: str, cpu: str | None = None, memory: str | None = None, **more: Any) -> dict[str, Any]:
    amounts = {key: value for key, value in (("cpu", cpu), ("memory", memory)) if value is not None}
    return {"name": name, "resources": {"requests": amounts, "limits": amounts}, **more}


def test_pod_with_everything_becomes_a_record() -> None:
    found = record(
        {
            "labels": {"openfuyao.com/qos": "HLS"},
            "annotations": {"a": "b"},
            "managedFields": [{"manager": "x", "fieldsV1": {"f:spec": {}}}],
            "deletionTimestamp": "2026-01-01T00:00:00Z",
        },
        {
            "priority": 1000,
            "containers": [
                {
                    "name": "engine",
                    "resources": {
                        "requests": {"cpu": "2", "memory": "1Gi", "huawei.com/Ascend910": "2"},
                        "limits": {"cpu": "4", "memory": "1Gi", "huawei.com/Ascend910": "2"},
                    },
                }
            ],
        },
        {
            "phase": "Running",
            "qosClass": "Burstable",
            "containerStatuses": [{"name": "engine", "containerID": "containerd://abc"}],
        },
    )

    assert found == PodRecord(
        uid="u-1",
        cgroup_uid="u-1",
        source=SourceKind.KUBERNETES,
        namespace="ns",
        name="p",
        labels={"openfuyao.com/qos": "HLS"},
        annotations={"a": "b"},
        phase="Running",
        kube_qos=KubeQos.BURSTABLE,
        priority=1000,
        requests=Resources(cpu_milli=2000, memory_bytes=2**30),
        limits=Resources(cpu_milli=4000, memory_bytes=2**30),
        containers=(
            Container(
                name="engine",
                container_id="abc",
                requests=Resources(cpu_milli=2000, memory_bytes=2**30),
                limits=Resources(cpu_milli=4000, memory_bytes=2**30),
                devices={"huawei.com/Ascend910": 2},
            ),
        ),
        terminating=True,
    )


def test_pod_with_nothing_becomes_a_record_of_nothing() -> None:
    found = record()

    assert (found.phase, found.kube_qos, found.priority, found.containers) == (None, None, None, ())
    assert (found.requests, found.limits, found.terminating) == (Resources(), Resources(), False)


def test_pod_without_uid_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot use pod ns/p: it has no uid"):
        record({"uid": ""})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("containerd://0123", "0123"),
        ("cri-o://0123", "0123"),
        ("docker://0123", "0123"),
        ("", None),
        (None, None),
        ("0123", "0123"),
    ],
)
def test_container_id_loses_its_runtime(text: str | None, expected: str | None) -> None:
    assert bare_id(text) == expected


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        ({"kubernetes.io/config.mirror": HASH, "kubernetes.io/config.hash": HASH}, HASH),
        ({"kubernetes.io/config.hash": HASH, "kubernetes.io/config.source": "file"}, HASH),
        ({"kubernetes.io/config.hash": HASH, "kubernetes.io/config.source": "http"}, HASH),
        ({"kubernetes.io/config.hash": HASH, "kubernetes.io/config.source": "api"}, "u-1"),
        ({"kubernetes.io/config.hash": HASH}, "u-1"),
        ({}, "u-1"),
    ],
    ids=["mirror", "file", "http", "api", "stray-hash", "plain"],
)
def test_group_of_a_static_pod_is_named_by_its_config_hash(annotations: dict[str, str], expected: str) -> None:
    found = record({"annotations": annotations})

    assert (found.uid, found.cgroup_uid) == ("u-1", expected)


def test_long_annotations_are_left_out() -> None:
    manifest = "x" * (MAX_VALUE_CHARS + 1)

    found = record({"annotations": {"kubectl.kubernetes.io/last-applied-configuration": manifest, "short": "y"}})

    assert found.annotations == {"short": "y"}


def test_unknown_kube_qos_is_none() -> None:
    assert record(status={"qosClass": "Platinum"}).kube_qos is None


@pytest.mark.parametrize(
    ("resources", "devices"),
    [
        ({"limits": {"nvidia.com/gpu": "1"}}, {"nvidia.com/gpu": 1}),
        ({"requests": {"huawei.com/Ascend310P": "4"}}, {"huawei.com/Ascend310P": 4}),
        ({"limits": {"cpu": "1", "memory": "1Gi", "ephemeral-storage": "1Gi", "hugepages-2Mi": "4Mi"}}, {}),
        ({"limits": {"kubernetes.io/be-cpu": "4k", "x.kubernetes.io/y": "1"}}, {}),
    ],
    ids=["gpu", "request-only", "native", "kubernetes-domain"],
)
def test_devices_are_the_extended_resources_of_other_domains(
    resources: dict[str, Any], devices: dict[str, int]
) -> None:
    found = record(spec={"containers": [{"name": "c", "resources": resources}]})

    assert found.containers[0].devices == devices


@pytest.mark.parametrize(
    ("spec", "requests", "limits"),
    [
        ({"containers": [container("a", "1"), container("b", "500m")]}, 1500, 1500),
        ({"containers": [container("a", "1"), container("b")]}, 1000, None),
        ({"containers": [container("a")]}, None, None),
        ({"containers": [container("a", "1")], "initContainers": [container("i", "4")]}, 4000, 4000),
        (
            {
                "containers": [container("a", "1")],
                "initContainers": [container("s", "2", restartPolicy="Always"), container("i", "4")],
            },
            6000,
            6000,
        ),
        (
            {
                "containers": [container("a", "3")],
                "initContainers": [container("i", "4"), container("s", "2", restartPolicy="Always")],
            },
            5000,
            5000,
        ),
        ({"containers": [container("a", "1")], "overhead": {"cpu": "250m"}}, 1250, 1250),
        ({"containers": [container("a")], "overhead": {"cpu": "250m"}}, 250, None),
        ({"containers": [container("a", "1")], "resources": {"requests": {"cpu": "3"}}}, 3000, 1000),
        ({"containers": [container("a", "0")]}, 0, None),
    ],
    ids=[
        "sum",
        "one-without",
        "none",
        "init-peak",
        "sidecar-before-init",
        "sidecar-after-init",
        "overhead",
        "overhead-alone",
        "pod-level",
        "zero",
    ],
)
def test_resources_of_the_whole_pod(spec: dict[str, Any], requests: int | None, limits: int | None) -> None:
    found = record(spec=spec)

    assert (found.requests.cpu_milli, found.limits.cpu_milli) == (requests, limits)


CPU = st.sampled_from(["100m", "0.5", "2", "1e1"])


@given(containers=st.lists(CPU, min_size=1, max_size=4), inits=st.lists(st.tuples(CPU, st.booleans()), max_size=5))
def test_request_of_a_pod_covers_every_moment_of_its_life(containers: list[str], inits: list[tuple[str, bool]]) -> None:
    spec = {
        "containers": [container(f"c{n}", cpu) for n, cpu in enumerate(containers)],
        "initContainers": [
            container(f"i{n}", cpu, **({"restartPolicy": "Always"} if sidecar else {}))
            for n, (cpu, sidecar) in enumerate(inits)
        ],
    }

    found = record(spec=spec).requests.cpu_milli

    running: list[int] = []
    moments = []
    for cpu, sidecar in inits:
        moments.append(sum(running) + parse_cpu_milli(cpu))
        running += [parse_cpu_milli(cpu)] if sidecar else []
    moments.append(sum(running) + sum(map(parse_cpu_milli, containers)))
    assert found == max(moments)


@pytest.mark.parametrize("priority", [2**31, -(2**31) - 1, 10**30])
def test_priority_that_no_server_accepts_is_refused(priority: int) -> None:
    with pytest.raises(ValueError, match=f"cannot use priority {priority}: "):
        record(spec={"priority": priority})


@pytest.mark.parametrize("priority", [2**31 - 1, -(2**31), 0])
def test_priority_at_its_bounds_is_taken(priority: int) -> None:
    assert record(spec={"priority": priority}).priority == priority


@pytest.mark.parametrize(("sign", "expected"), [("", 2**63 - 1), ("-", 1 - 2**63)])
@pytest.mark.parametrize("where", ["containers", "initContainers", "whole"])
def test_sum_of_absurd_requests_stays_within_64_bits(where: str, sign: str, expected: int) -> None:
    huge = f"{sign}8Ei"
    spec: dict[str, Any] = {"overhead": {"cpu": huge, "memory": huge}, "containers": [container("c", "0", "0")]}
    if where == "whole":
        spec["resources"] = {"requests": {"cpu": huge, "memory": huge}}
    else:
        spec[where] = [container("a", huge, huge), container("b", huge, huge)]

    found = record(spec=spec).requests

    assert found.memory_bytes == expected
    assert found.cpu_milli == expected


def test_init_containers_and_sidecars_are_marked() -> None:
    inits = [{"name": "i"}, {"name": "s", "restartPolicy": "Always"}]
    statuses = [{"name": "s", "containerID": "cri-o://1"}]

    found = record(
        spec={"containers": [{"name": "c"}], "initContainers": inits}, status={"initContainerStatuses": statuses}
    )

    shown = [(each.name, each.init, each.sidecar, each.container_id) for each in found.containers]
    assert shown == [("i", True, False, None), ("s", True, True, "1"), ("c", False, False, None)]


def test_controller_is_the_owner_that_says_so() -> None:
    owners = [
        wire.Reference(api_version="v1", kind="X", name="x", uid="1"),
        wire.Reference(api_version="apps/v1", kind="ReplicaSet", name="r", uid="2", controller=True),
    ]
    metadata = wire.Metadata(namespace="ns", owner_references=owners)

    assert controller_of(metadata) == OwnerKey("apps/v1", "ReplicaSet", "ns", "r", "2")
    assert controller_of(wire.Metadata()) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(metadata=JSON, spec=JSON, status=JSON)
def test_any_json_is_decoded_or_refused(metadata: Any, spec: Any, status: Any) -> None:
    pod = decoded(Decoders().pod, msgspec.json.encode({"metadata": metadata, "spec": spec, "status": status}))

    if pod is not None and pod.metadata.uid:
        assert pod_record(pod).uid == pod.metadata.uid


@pytest.mark.parametrize("raw", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b"null", b'{"metadata":{"uid":1}}'])
def test_bytes_that_are_no_pod_are_none(raw: bytes) -> None:
    assert decoded(Decoders().pod, raw) is None


@pytest.mark.parametrize("where", ["labels", "annotations"])
def test_pod_with_thousands_of_labels_keeps_a_few_and_those_that_claim_a_class(where: str) -> None:
    many = {f"openfuyao.com/{number}": "x" * 63 for number in range(5000)}

    found = record({where: {**many, "openfuyao.com/qos": "BE"}})

    kept = getattr(found, where)
    assert len(kept) == MAX_KEYS
    assert kept["openfuyao.com/qos"] == "BE"


def test_static_pod_with_thousands_of_annotations_keeps_its_group() -> None:
    many = {str(number): "x" for number in range(5000)}

    assert record({"annotations": {**many, "kubernetes.io/config.mirror": HASH}}).cgroup_uid == HASH


def test_pod_with_a_giant_label_value_does_not_keep_it() -> None:
    assert record({"labels": {"a": "x" * 1_000_000, "b": "y"}}).labels == {"b": "y"}
