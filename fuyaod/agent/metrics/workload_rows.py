"""Readers of the table that speak of pods, services, sources and findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from fuyaod.agent.metrics.rows import Row, label, row, stall_rows
from fuyaod.model.cgroup import CgroupSample
from fuyaod.model.pods import Pod, Service, SourceState
from fuyaod.model.pressure import Pressure
from fuyaod.model.qos import QosClass, QosVerdict
from fuyaod.model.snapshot import NodeSnapshot

NO_CLASS = "none"


def class_name(verdict: QosVerdict) -> str:
    """`HLS`, `LS`, `BE`, or `none` for what is left alone."""
    return NO_CLASS if verdict.qos is None else verdict.qos.value


def _pod_labels(pod: Pod) -> tuple[str, ...]:
    record = pod.record
    return label(record.namespace), label(record.name), record.uid, class_name(pod.qos)


def _by_path(s: NodeSnapshot) -> dict[str, CgroupSample]:
    return {sample.id.path: sample for sample in s.cgroups.samples if not sample.gone}


def _per_pod(s: NodeSnapshot) -> Iterator[tuple[tuple[str, ...], CgroupSample]]:
    by_path = _by_path(s)
    for pod in s.pods:
        sample = by_path.get(pod.cgroup_path or "")
        if sample is not None:
            yield _pod_labels(pod), sample


def _per_service(s: NodeSnapshot) -> Iterator[tuple[tuple[str, ...], CgroupSample]]:
    by_path = _by_path(s)
    for service in s.services:
        sample = by_path.get(service.record.cgroup_path)
        if sample is not None:
            yield _service_labels(service), sample


def _service_labels(service: Service) -> tuple[str, ...]:
    return service.record.unit, class_name(service.qos)


def _classes(verdicts: Iterator[QosVerdict]) -> Iterator[Row]:
    counts = Counter(class_name(verdict) for verdict in verdicts)
    for name in (*(c.value for c in QosClass), NO_CLASS):
        yield (name,), float(counts[name])


def pods_by_class(s: NodeSnapshot) -> Iterator[Row]:
    """Pods per class."""
    return _classes(pod.qos for pod in s.pods)


def services_by_class(s: NodeSnapshot) -> Iterator[Row]:
    """Services per class."""
    return _classes(service.qos for service in s.services)


def problem_pods(s: NodeSnapshot) -> Iterator[Row]:
    """Pods with conflicting or unknown claims."""
    yield (), float(sum(1 for pod in s.pods if pod.qos.problems))


def pod_info(s: NodeSnapshot) -> Iterator[Row]:
    """Pods with their rule."""
    for pod in s.pods:
        kube_qos = pod.record.kube_qos
        yield (*_pod_labels(pod), "" if kube_qos is None else kube_qos.value, pod.qos.rule), 1.0


def _each(
    groups: Iterator[tuple[tuple[str, ...], CgroupSample]], value: Callable[[CgroupSample], float | None]
) -> Iterator[Row]:
    for labels, sample in groups:
        yield from row(value(sample), *labels)


def _cpu_seconds(sample: CgroupSample) -> float | None:
    return None if sample.cpu is None else sample.cpu.usage_us / 1e6


def _throttled_seconds(sample: CgroupSample) -> float | None:
    return None if sample.cpu is None or sample.cpu.throttled_us is None else sample.cpu.throttled_us / 1e6


def pod_cpu(s: NodeSnapshot) -> Iterator[Row]:
    """CPU time per pod."""
    return _each(_per_pod(s), _cpu_seconds)


def pod_throttled(s: NodeSnapshot) -> Iterator[Row]:
    """Throttled time per pod."""
    return _each(_per_pod(s), _throttled_seconds)


def _pressures(sample: CgroupSample) -> tuple[tuple[str, Pressure | None], ...]:
    slow = sample.slow
    return (
        ("cpu", sample.cpu_pressure),
        ("memory", slow.memory_pressure if slow else None),
        ("io", slow.io_pressure if slow else None),
    )


def pod_stall(s: NodeSnapshot) -> Iterator[Row]:
    """PSI totals per pod."""
    for labels, sample in _per_pod(s):
        yield from stall_rows(_pressures(sample), *labels)


def pod_memory(s: NodeSnapshot) -> Iterator[Row]:
    """Memory per pod."""
    return _each(_per_pod(s), lambda sample: sample.memory_current_bytes)


def pod_working_set(s: NodeSnapshot) -> Iterator[Row]:
    """Working set per pod."""
    return _each(_per_pod(s), lambda sample: sample.working_set_bytes)


def pod_memory_events(s: NodeSnapshot) -> Iterator[Row]:
    """memory.events per pod."""
    for labels, sample in _per_pod(s):
        events = sample.slow.memory_events if sample.slow else None
        if events is not None:
            for event in ("low", "high", "max", "oom", "oom_kill"):
                yield (*labels, event), float(getattr(events, event))


def pod_io(s: NodeSnapshot) -> Iterator[Row]:
    """Block I/O per pod."""
    for labels, sample in _per_pod(s):
        io = sample.slow.io_stat if sample.slow else None
        if io is not None:
            yield (*labels, "read"), float(io.read_bytes)
            yield (*labels, "written"), float(io.written_bytes)


def pod_pids(s: NodeSnapshot) -> Iterator[Row]:
    """Tasks per pod."""
    return _each(_per_pod(s), lambda sample: sample.slow.pids_current if sample.slow else None)


def service_cpu(s: NodeSnapshot) -> Iterator[Row]:
    """CPU time per service."""
    return _each(_per_service(s), _cpu_seconds)


def service_memory(s: NodeSnapshot) -> Iterator[Row]:
    """Memory per service."""
    return _each(_per_service(s), lambda sample: sample.memory_current_bytes)


def service_stall(s: NodeSnapshot) -> Iterator[Row]:
    """PSI totals per service."""
    for labels, sample in _per_service(s):
        yield from stall_rows(_pressures(sample), *labels)


def sources(s: NodeSnapshot) -> Iterator[Row]:
    """Health of the pod sources."""
    for source in s.sources:
        if source.state is not SourceState.OFF:
            yield (source.kind.value, source.state.value), float(source.state is SourceState.OK)


def source_dropped(s: NodeSnapshot) -> Iterator[Row]:
    """What sources sent in vain."""
    for source in s.sources:
        if source.state is not SourceState.OFF:
            yield (source.kind.value,), float(source.dropped)


def findings(s: NodeSnapshot) -> Iterator[Row]:
    """Findings per status."""
    for status, count in Counter(f.status.value for f in s.findings).items():
        yield (status,), float(count)


def cgroups(s: NodeSnapshot) -> Iterator[Row]:
    """Groups per kind."""
    for kind, count in Counter(sample.id.kind.value for sample in s.cgroups.samples).items():
        yield (kind,), float(count)
