"""API objects to values of the model."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from fuyaod.kube import wire
from fuyaod.kube.quantity import MAX_VALUE, parse_cpu_milli, parse_memory_bytes, parse_quantity
from fuyaod.model.cgroup import KubeQos
from fuyaod.model.pods import Container, OwnerRef, PodRecord, Resources, SourceKind
from fuyaod.model.qos import CLAIM_KEYS

MAX_VALUE_CHARS: Final = 256
"""Longer annotations (kubectl's copy of the whole manifest, injected configuration) are no claims and are left out. A
label has at most 63 characters."""

MAX_KEYS: Final = 64
"""Labels kept of one object, and as many annotations. The API takes as many as fit into 1.5 MiB: the pods of one tenant
could fill the agent's memory."""

CONFIG_HASH: Final = "kubernetes.io/config.hash"
CONFIG_MIRROR: Final = "kubernetes.io/config.mirror"
CONFIG_SOURCE: Final = "kubernetes.io/config.source"
"""Source: Kubernetes pkg/kubelet/types/pod_update.go; kubelet names the group of a static pod by its hash."""

_KEPT_FIRST: Final = CLAIM_KEYS | {CONFIG_HASH, CONFIG_MIRROR, CONFIG_SOURCE}

_NATIVE_DOMAIN: Final = "kubernetes.io"


class OwnerKey(NamedTuple):
    """The controller of an object."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str


def controller_of(metadata: wire.Metadata) -> OwnerKey | None:
    """The owner that manages the object, None for one that stands alone."""
    for reference in metadata.owner_references or ():
        if reference.controller:
            return OwnerKey(
                sys.intern(reference.api_version),
                sys.intern(reference.kind),
                sys.intern(metadata.namespace),
                reference.name,
                reference.uid,
            )
    return None


def kept(values: dict[str, str] | None) -> dict[str, str]:
    """Labels or annotations: values of at most 256 characters, and of many keys 64, those that decide something first.

    Keys, which repeat from pod to pod, are held once.
    """
    short = [(key, value) for key, value in (values or {}).items() if len(value) <= MAX_VALUE_CHARS]
    if len(short) > MAX_KEYS:
        short = sorted(short, key=lambda pair: pair[0] not in _KEPT_FIRST)[:MAX_KEYS]  # stable
    return {sys.intern(key): value for key, value in short}


def pod_record(pod: wire.Pod, owners: tuple[OwnerRef, ...] = ()) -> PodRecord:
    """A pod of the API as the agent knows it.

    Raises:
        ValueError: it has no uid, a quantity that is none, or a priority out of range.
    """
    metadata, spec, status = pod.metadata, pod.spec, pod.status
    if not metadata.uid:
        raise ValueError(f"cannot use pod {metadata.namespace}/{metadata.name}: it has no uid")
    annotations = kept(metadata.annotations)
    containers, inits = spec.containers or (), spec.init_containers or ()
    return PodRecord(
        uid=metadata.uid,
        cgroup_uid=_cgroup_uid(metadata.uid, annotations),
        source=SourceKind.KUBERNETES,
        namespace=sys.intern(metadata.namespace),
        name=metadata.name,
        labels=kept(metadata.labels),
        annotations=annotations,
        owners=owners,
        phase=None if status.phase is None else sys.intern(status.phase),
        kube_qos=_kube_qos(status.qos_class),
        priority=_priority(spec.priority),
        requests=_pod_resources(spec, _requests, complete=False),
        limits=_pod_resources(spec, _limits, complete=True),
        containers=tuple(_containers(containers, inits, _container_ids(status))),
        terminating=metadata.deletion_timestamp is not None,
    )


def _priority(value: int | None) -> int | None:
    if value is not None and not -(2**31) <= value < 2**31:
        raise ValueError(f"cannot use priority {value}: the API has 32 bits for it")
    return value


def _cgroup_uid(uid: str, annotations: dict[str, str]) -> str:
    if mirror := annotations.get(CONFIG_MIRROR):
        return mirror
    if annotations.get(CONFIG_SOURCE) in ("file", "http"):
        return annotations.get(CONFIG_HASH) or uid
    return uid


def _kube_qos(text: str | None) -> KubeQos | None:
    try:
        return None if text is None else KubeQos(text)
    except ValueError:
        return None


def _container_ids(status: wire.PodStatus) -> dict[str, str | None]:
    every = (*(status.container_statuses or ()), *(status.init_container_statuses or ()))
    return {entry.name: bare_id(entry.container_id) for entry in every}


def bare_id(text: str | None) -> str | None:
    """`containerd://0123…` → `0123…`; None for a container that was not created."""
    return (text or "").rpartition("://")[2] or None


def _containers(
    containers: Iterable[wire.Container], inits: Iterable[wire.Container], ids: dict[str, str | None]
) -> Iterable[Container]:
    for spec in inits:
        yield _container(spec, ids, init=True)
    for spec in containers:
        yield _container(spec, ids, init=False)


def _container(spec: wire.Container, ids: dict[str, str | None], init: bool) -> Container:
    return Container(
        name=sys.intern(spec.name),
        container_id=ids.get(spec.name),
        requests=_resources(_requests(spec.resources)),
        limits=_resources(_limits(spec.resources)),
        devices=_devices(spec.resources),
        init=init,
        sidecar=init and _is_sidecar(spec),
    )


def _is_sidecar(spec: wire.Container) -> bool:
    return spec.restart_policy == "Always"


Side = Callable[[wire.Resources | None], wire.Quantities]


def _requests(resources: wire.Resources | None) -> wire.Quantities:
    return (resources.requests if resources is not None else None) or {}


def _limits(resources: wire.Resources | None) -> wire.Quantities:
    return (resources.limits if resources is not None else None) or {}


def _resources(quantities: wire.Quantities) -> Resources:
    cpu, memory = quantities.get("cpu"), quantities.get("memory")
    return Resources(
        cpu_milli=None if cpu is None else parse_cpu_milli(cpu),
        memory_bytes=None if memory is None else parse_memory_bytes(memory),
    )


def _devices(resources: wire.Resources | None) -> dict[str, int]:
    """Extended resources by count. Requests and limits of one must be equal, so either may stand alone."""
    quantities = _requests(resources) | _limits(resources)
    names = (name for name in quantities if "/" in name and not _is_native(name))
    return {sys.intern(name): parse_quantity(quantities[name]) for name in names}


def _is_native(name: str) -> bool:
    domain = name.partition("/")[0]
    return domain == _NATIVE_DOMAIN or domain.endswith(f".{_NATIVE_DOMAIN}")


def _pod_resources(spec: wire.PodSpec, side: Side, complete: bool) -> Resources:
    cpu = _pod_total(spec, side, "cpu", parse_cpu_milli, complete)
    memory = _pod_total(spec, side, "memory", parse_memory_bytes, complete)
    return Resources(cpu_milli=cpu, memory_bytes=memory)


def _pod_total(
    spec: wire.PodSpec, side: Side, name: str, parse: Callable[[str | int | float], int], complete: bool
) -> int | None:
    """What the whole pod may use at its worst moment: all containers with all sidecars, or one init container with the
    sidecars before it; then the overhead. None when nobody names it or, if `complete`, when somebody does not.

    A value of the pod itself stands for all of its containers. A limit of 0 is none.
    Source: k8s.io/component-helpers/resource (PodRequests, PodLimits); limits: kubelet's ResourceConfigForPod.
    """

    def amount(resources: wire.Resources | None) -> int | None:
        text = side(resources).get(name)
        value = None if text is None else parse(text)
        return None if complete and value == 0 else value

    overhead = (spec.overhead or {}).get(name)
    extra = 0 if overhead is None else parse(overhead)
    if (whole := amount(spec.resources)) is not None:
        return _capped(whole + extra)
    containers, inits = spec.containers or (), spec.init_containers or ()
    amounts = [amount(each.resources) for each in (*containers, *inits)]
    if all(value is None for value in amounts) or (complete and None in amounts):
        return None if complete or not extra else extra
    sidecars = peak = 0
    for init in inits:
        value = amount(init.resources) or 0
        peak = max(peak, sidecars + value)
        sidecars += value if _is_sidecar(init) else 0
    together = sidecars + sum(amount(each.resources) or 0 for each in containers)
    return _capped(max(together, peak) + extra)


def _capped(amount: int) -> int:
    """A sum within the bounds of one quantity."""
    return max(-MAX_VALUE, min(amount, MAX_VALUE))
