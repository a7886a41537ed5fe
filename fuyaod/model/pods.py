"""Pods and services, and the three places that tell of them."""

from __future__ import annotations

import enum
from typing import Protocol

from fuyaod.model.cgroup import CgroupTree, KubeQos
from fuyaod.model.qos import QosClass, QosVerdict
from fuyaod.model.values import Value


class SourceKind(enum.Enum):
    """Who told us of a pod or service."""

    KUBERNETES = "kubernetes"
    CGROUP = "cgroup"
    SYSTEMD = "systemd"


class SourceState(enum.Enum):
    """OK: current. STALE: answered once, silent now, last known state in use. STARTING: no answer yet. OFF: not
    wanted or not here."""

    OK = "ok"
    STALE = "stale"
    STARTING = "starting"
    OFF = "off"


class SourceHealth(Value, frozen=True, kw_only=True):
    """How a source is doing. `since_ns` is when it entered this state; `details` are sentences for people, worst first.

    `dropped` counts what it could not understand (garbage lines, oversized objects) since the agent's start.
    """

    kind: SourceKind
    state: SourceState
    since_ns: int
    details: tuple[str, ...] = ()
    dropped: int = 0


class Resources(Value, frozen=True, kw_only=True):
    """Requests or limits; None means not given. CPU in thousandths of a core, memory in bytes, rounded up."""

    cpu_milli: int | None = None
    memory_bytes: int | None = None


class Container(Value, frozen=True, kw_only=True):
    """A container of a pod spec. `container_id` is the bare id (no `containerd://`), None before it was created.

    `devices` are extended resources such as `huawei.com/Ascend910` → 2. `init` marks init containers, `sidecar` those
    of them that keep running.
    """

    name: str
    container_id: str | None = None
    requests: Resources = Resources()
    limits: Resources = Resources()
    devices: dict[str, int] = {}
    init: bool = False
    sidecar: bool = False


class OwnerRef(Value, frozen=True, kw_only=True):
    """A controller of the pod, nearest first, with the labels and annotations it carries itself (not those of its
    template).

    `labels` is None while they could not be read (no permission, not yet asked).
    """

    kind: str
    name: str
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class PodRecord(Value, frozen=True, kw_only=True):
    """A pod as one source knows it. From the cgroup tree alone only `uid`, `kube_qos` and container ids are known.

    `cgroup_uid` is the uid in the group's path: the config hash for static pods, else equal to `uid`.
    `requests` and `limits` are those of the whole pod: containers, init containers and overhead by Kubernetes' rule.
    """

    uid: str
    cgroup_uid: str
    source: SourceKind
    namespace: str | None = None
    name: str | None = None
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    owners: tuple[OwnerRef, ...] = ()
    phase: str | None = None
    kube_qos: KubeQos | None = None
    priority: int | None = None
    requests: Resources = Resources()
    limits: Resources = Resources()
    containers: tuple[Container, ...] = ()
    terminating: bool = False


class ServiceRecord(Value, frozen=True, kw_only=True):
    """A systemd unit that the settings map to a class."""

    unit: str
    cgroup_path: str
    pattern: str
    qos: QosClass


class SourceReport(Value, frozen=True, kw_only=True):
    """All that one source knows now."""

    health: SourceHealth
    pods: tuple[PodRecord, ...] = ()
    services: tuple[ServiceRecord, ...] = ()


class PodSource(Protocol):
    """Where pods and services come from. Three implement it: the Kubernetes watch, the cgroup tree, systemd units."""

    def report(self, tree: CgroupTree, at_ns: int) -> SourceReport:
        """What is known at `at_ns` (monotonic). Never blocks and never raises: trouble is in the health."""
        ...


class Pod(Value, frozen=True, kw_only=True):
    """A pod on this node: what is known of it, its class, and its groups.

    `cgroup_path` is None while the pod has no group here (pending, finished, or on a host without cgroup v2).
    `container_paths` are the groups of its containers.
    """

    record: PodRecord
    qos: QosVerdict
    cgroup_path: str | None
    container_paths: tuple[str, ...] = ()


class Service(Value, frozen=True, kw_only=True):
    """A systemd unit with its class."""

    record: ServiceRecord
    qos: QosVerdict
