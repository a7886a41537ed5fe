from __future__ import annotations

import enum
import itertools
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st

from fuyao_api.node.v1 import node_pb2 as pb
from fuyaod.model.cgroup import CgroupDriver, CgroupKind, CgroupMode, KubeQos
from fuyaod.model.cpuset import CpuSet
from fuyaod.model.devices import DeviceKind
from fuyaod.model.findings import FindingStatus
from fuyaod.model.pods import Resources, SourceKind, SourceState
from fuyaod.model.qos import ClaimOrigin, QosClass
from fuyaod.model.topology import CacheType, MemoryKind
from fuyaod.rpc.convert import node_message
from fuyaod.rpc.fit import fitted
from tests.unit.rpc.samples import leaves, snapshot

RENAMED = {
    "at_ns": "at_monotonic_ns",
    "wall_s": "at_unix_s",
    "boot_time_s": "boot_time_unix_s",
    "observed_at_ns": "observed_at_monotonic_ns",
    "slow_at_ns": "slow_at_monotonic_ns",
    "since_ns": "since_monotonic_ns",
    "possible": "possible_cpus",
    "present": "present_cpus",
    "online": "online_cpus",
    "offline": "offline_cpus",
    "isolated": "isolated_cpus",
    "nohz_full": "nohz_full_cpus",
    "total": "total_pages",
    "free": "free_pages",
    "surplus": "surplus_pages",
    "mtu": "mtu_bytes",
}
"""Field of the model to field of the API where the names differ."""

DERIVED = {"memory_working_set_bytes", "observed_groups"}
"""Fields of the API that no single field of the model gives."""

TWICE = {"cgroup_path", "container_id", "path", "container_paths"}
"""Paths and ids that tie a pod to its groups stand in both."""

ENUMS: dict[str, tuple[type[enum.Enum], Any]] = {
    "CGROUP_MODE": (CgroupMode, pb.CgroupMode),
    "CGROUP_DRIVER": (CgroupDriver, pb.CgroupDriver),
    "CGROUP_KIND": (CgroupKind, pb.CgroupKind),
    "KUBE_QOS": (KubeQos, pb.KubeQos),
    "ACCELERATOR_KIND": (DeviceKind, pb.AcceleratorKind),
    "FINDING_STATUS": (FindingStatus, pb.FindingStatus),
    "SOURCE_KIND": (SourceKind, pb.SourceKind),
    "SOURCE_STATE": (SourceState, pb.SourceState),
    "CLAIM_ORIGIN": (ClaimOrigin, pb.ClaimOrigin),
    "QOS_CLASS": (QosClass, pb.QosClass),
    "CACHE_TYPE": (CacheType, pb.CacheType),
    "MEMORY_KIND": (MemoryKind, pb.MemoryKind),
}


def is_map(field: FieldDescriptor) -> bool:
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def message_leaves(message: Message) -> Iterator[tuple[str, object]]:
    """Field name and value of every scalar that is set, keys and values of maps included."""
    for field, value in message.ListFields():
        if is_map(field):
            for key, one in value.items():
                yield field.name, key
                yield field.name, one
        elif field.message_type is not None:
            for one in value if field.is_repeated else (value,):
                yield from message_leaves(one)
        else:
            for one in value if field.is_repeated else (value,):
                yield field.name, one


def messages(message: Message) -> Iterator[Message]:
    """The message and all messages below it."""
    yield message
    for field, value in message.ListFields():
        if field.message_type is not None and not is_map(field):
            for one in value if field.is_repeated else (value,):
                yield from messages(one)


def plain(value: object) -> object:
    return str(value) if isinstance(value, CpuSet) else value


def distinct(pairs: Iterator[tuple[str, object]]) -> dict[object, str]:
    """Value to field name, for numbers and texts that name their field."""
    return {
        value: name for name, value in pairs if isinstance(value, int | float | str) and not isinstance(value, bool)
    }


def test_node_message_full_snapshot_every_leaf_arrives_under_its_name() -> None:
    made = snapshot(full=True)

    arrived = distinct(message_leaves(node_message(made)))

    sent = distinct((name, plain(value)) for name, value in leaves(made))
    missing = {f"{name}={value}" for value, name in sent.items() if value not in arrived}
    assert not missing
    crossed = {
        f"{name} -> {arrived[value]}"
        for value, name in sent.items()
        if arrived[value] not in (name, RENAMED.get(name)) and arrived[value] not in TWICE and name not in TWICE
    }
    entries = {"labels -> entries", "annotations -> entries"}  # of owners
    assert crossed - entries == set()


def test_node_message_full_snapshot_sets_every_field_of_the_api() -> None:
    node = node_message(snapshot(full=True))

    seen = {f"{one.DESCRIPTOR.name}.{field.name}" for one in messages(node) for field, _ in one.ListFields()}

    kinds = [kind for name, kind in pb.DESCRIPTOR.message_types_by_name.items() if not name.startswith("GetNode")]
    assert seen == {f"{kind.name}.{field.name}" for kind in kinds for field in kind.fields}


def test_node_message_full_snapshot_invents_no_value() -> None:
    made = snapshot(full=True)

    arrived = {
        name: value
        for name, value in message_leaves(node_message(made))
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 50  # enums and counts are below
    }

    sent = {value for _, value in leaves(made)}
    assert {name for name, value in arrived.items() if value not in sent} <= DERIVED


def test_node_message_nothing_known_leaves_everything_optional_unset() -> None:
    node = node_message(snapshot(full=False))

    present = [
        f"{message.DESCRIPTOR.name}.{field.name}"
        for message in messages(node)
        for field, _ in message.ListFields()
        if field.has_presence and field.message_type is None
    ]

    assert present == []
    assert not any(node.HasField(name) for name in ("memory", "cpu_time", "census", "agent"))
    assert not any(node.pressure.HasField(name) for name in ("cpu", "memory", "io", "irq"))
    assert node.pods[0].qos.qos == pb.QOS_CLASS_UNSPECIFIED
    assert not node.pods[0].HasField("cgroup")
    assert not node.pods[0].owners[0].HasField("labels")


def test_node_message_zeros_are_present_where_unknown_would_be_absent() -> None:
    node = node_message(snapshot(full=True, zero=True))

    absent = {
        f"{message.DESCRIPTOR.name}.{field.name}"
        for message in messages(node)
        for field in message.DESCRIPTOR.fields
        if field.has_presence and not message.HasField(field.name)
    }
    assert absent == set()


def test_node_message_group_of_zeros_is_present() -> None:
    made = snapshot(full=True)
    sample = made.cgroups.samples[0]
    assert sample.cpu is not None
    idle = msgspec.structs.replace(
        sample, cpu=msgspec.structs.replace(sample.cpu, usage_us=0, user_us=0, system_us=0, periods=None), slow=None
    )
    tree = msgspec.structs.replace(made.cgroups, samples=(idle,))

    group = node_message(msgspec.structs.replace(made, cgroups=tree)).cgroups.other_groups[0]

    assert group.HasField("cpu")
    assert not group.cpu.HasField("periods")
    assert not group.HasField("slow_at_monotonic_ns")
    assert not group.HasField("memory_working_set_bytes")


def test_node_message_groups_stand_with_their_pod_container_and_service() -> None:
    node = node_message(snapshot(full=True))

    pod = node.pods[0]
    assert pod.cgroup.path == "/pod"
    assert pod.containers[0].cgroup.path == "/pod/container"
    assert [group.path for group in pod.other_groups] == ["/pod/sandbox"]
    assert node.services[0].cgroup.path == "/service"
    assert [group.path for group in node.cgroups.other_groups] == ["/slice"]
    assert node.cgroups.observed_groups == 5


def test_node_message_pod_whose_group_was_not_observed_keeps_its_path() -> None:
    made = snapshot(full=True)
    tree = msgspec.structs.replace(made.cgroups, samples=())

    pod = node_message(msgspec.structs.replace(made, cgroups=tree)).pods[0]

    assert pod.cgroup_path == "/pod"
    assert not pod.HasField("cgroup")
    assert not pod.containers[0].HasField("cgroup")


def test_node_message_absurd_numbers_become_the_nearest_that_fit() -> None:
    made = snapshot(full=True)
    pod = made.pods[0]
    container = msgspec.structs.replace(pod.record.containers[0], devices={"example.com/x": 1 << 70})
    record = msgspec.structs.replace(
        pod.record,
        priority=1 << 40,
        requests=Resources(cpu_milli=10**30, memory_bytes=-1 << 70),
        containers=(container,),
    )
    pod = msgspec.structs.replace(pod, record=record)

    node = node_message(msgspec.structs.replace(made, seq=-1, pods=(pod,)))

    sent = node.pods[0]
    assert (sent.requests.cpu_milli, sent.requests.memory_bytes) == ((1 << 63) - 1, -1 << 63)
    assert sent.containers[0].devices["example.com/x"] == (1 << 63) - 1
    assert (sent.priority, node.seq, node.at_monotonic_ns) == ((1 << 31) - 1, 0, made.at_ns)


WHOLE = st.sampled_from(
    [sign * ((1 << bits) + more) for sign in (1, -1) for bits in (0, 31, 32, 63, 64, 100) for more in (-1, 0, 1)]
)


@settings(max_examples=50, deadline=None)
@given(st.lists(WHOLE, min_size=1, max_size=17))
def test_node_message_any_numbers_arrive_or_are_cut(numbers: list[int]) -> None:
    made = snapshot(full=True, whole=itertools.cycle(numbers).__next__)

    node = node_message(made)

    assert node.pods[0].name == made.pods[0].record.name
    assert node_message(fitted(made)) == node


@pytest.mark.parametrize("absurd", [1 << 100, -1 << 100], ids=["huge", "negative"])
def test_fitted_numbers_are_the_outermost_of_their_field(absurd: int) -> None:
    node = node_message(snapshot(full=True, whole=lambda: absurd))

    for message in messages(node):
        for field, value in message.ListFields():
            bounds = EXTREMES.get(field.type)
            if bounds is not None and f"{message.DESCRIPTOR.name}.{field.name}" not in COUNTED:
                assert set(value if field.is_repeated else [value]) == {bounds[absurd > 0]}, field.full_name


EXTREMES = {
    FieldDescriptor.TYPE_INT32: (-1 << 31, (1 << 31) - 1),
    FieldDescriptor.TYPE_UINT32: (0, (1 << 32) - 1),
    FieldDescriptor.TYPE_INT64: (-1 << 63, (1 << 63) - 1),
    FieldDescriptor.TYPE_UINT64: (0, (1 << 64) - 1),
}
COUNTED = {"Cgroups.observed_groups", "Cgroup.memory_working_set_bytes"}
"""Made from other values, which are within bounds."""


@pytest.mark.parametrize("prefix", ENUMS)
def test_enums_of_model_and_api_have_the_same_members(prefix: str) -> None:
    model, api = ENUMS[prefix]

    assert set(api.keys()) == {f"{prefix}_{member.name}" for member in model} | {f"{prefix}_UNSPECIFIED"}
    assert api.Value(f"{prefix}_UNSPECIFIED") == 0


def test_enums_are_all_compared() -> None:
    assert {api.DESCRIPTOR.name for _, api in ENUMS.values()} == set(pb.DESCRIPTOR.enum_types_by_name)
