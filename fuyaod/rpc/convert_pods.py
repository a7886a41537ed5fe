"""Pods, services and their sources as messages. Pure."""

from __future__ import annotations

from fuyao_api.node.v1 import node_pb2 as pb
from fuyaod.model.pods import Container, OwnerRef, Pod, PodRecord, Resources, Service, SourceHealth
from fuyaod.model.qos import QosVerdict
from fuyaod.rpc.convert_groups import Groups, enum_name


def fill_pod(message: pb.Pod, pod: Pod, groups: Groups) -> None:
    """A pod with its groups' usage; takes its groups out of `groups`."""
    _fill_record(message, pod.record)
    message.qos.CopyFrom(_verdict(pod.qos))
    if pod.cgroup_path is not None:
        message.cgroup_path = pod.cgroup_path
        groups.take(pod.cgroup_path, message.cgroup)
    path_of = groups.paths_by_container(pod.container_paths)
    for container in pod.record.containers:
        _fill_container(message.containers.add(), container, path_of.get(container.container_id or ""), groups)
    message.container_paths.extend(pod.container_paths)
    groups.take_rest(pod.container_paths, message.other_groups)


def _fill_record(message: pb.Pod, record: PodRecord) -> None:
    message.MergeFrom(
        pb.Pod(
            uid=record.uid,
            cgroup_uid=record.cgroup_uid,
            source=enum_name("SOURCE_KIND", record.source),
            namespace=record.namespace,
            name=record.name,
            labels=record.labels,
            annotations=record.annotations,
            owners=[_owner(owner) for owner in record.owners],
            phase=record.phase,
            kube_qos=enum_name("KUBE_QOS", record.kube_qos),
            priority=record.priority,
            requests=_resources(record.requests),
            limits=_resources(record.limits),
            terminating=record.terminating,
        )
    )


def _fill_container(message: pb.Container, container: Container, path: str | None, groups: Groups) -> None:
    message.name = container.name
    if container.container_id is not None:
        message.container_id = container.container_id
    message.requests.CopyFrom(_resources(container.requests))
    message.limits.CopyFrom(_resources(container.limits))
    for name, count in container.devices.items():
        message.devices[name] = count
    message.init = container.init
    message.sidecar = container.sidecar
    groups.take(path, message.cgroup)


def _owner(owner: OwnerRef) -> pb.OwnerRef:
    return pb.OwnerRef(
        kind=owner.kind, name=owner.name, labels=_string_map(owner.labels), annotations=_string_map(owner.annotations)
    )


def _string_map(entries: dict[str, str] | None) -> pb.StringMap | None:
    return None if entries is None else pb.StringMap(entries=entries)


def _resources(resources: Resources) -> pb.Resources:
    return pb.Resources(cpu_milli=resources.cpu_milli, memory_bytes=resources.memory_bytes)


def _verdict(verdict: QosVerdict) -> pb.QosVerdict:
    return pb.QosVerdict(
        qos=enum_name("QOS_CLASS", verdict.qos),
        rule=verdict.rule,
        claims=[
            pb.QosClaim(
                origin=enum_name("CLAIM_ORIGIN", claim.origin),
                key=claim.key,
                raw=claim.raw,
                qos=enum_name("QOS_CLASS", claim.qos),
            )
            for claim in verdict.claims
        ],
        problems=verdict.problems,
    )


def fill_service(message: pb.Service, service: Service, groups: Groups) -> None:
    """A systemd unit with its group's usage; takes its group out of `groups`."""
    message.unit = service.record.unit
    message.cgroup_path = service.record.cgroup_path
    message.pattern = service.record.pattern
    message.qos.CopyFrom(_verdict(service.qos))
    groups.take(service.record.cgroup_path, message.cgroup)


def source_message(source: SourceHealth) -> pb.SourceHealth:
    """How a source of pods and services is doing."""
    return pb.SourceHealth(
        kind=enum_name("SOURCE_KIND", source.kind),
        state=enum_name("SOURCE_STATE", source.state),
        since_monotonic_ns=source.since_ns,
        details=source.details,
        dropped=source.dropped,
    )
