"""Two sources of pods and services that need nobody to tell them: the cgroup tree, and systemd's units in it."""

from __future__ import annotations

from typing import Final

from fuyaod.cgroups.observe.units import rule_for
from fuyaod.model.cgroup import CgroupId, CgroupTree
from fuyaod.model.pods import Container, PodRecord, ServiceRecord, SourceHealth, SourceKind, SourceReport, SourceState
from fuyaod.model.settings import ServiceRule

SHORT_ID: Final = 12
"""Characters of a container id that stand for its unknown name, as the runtimes' tools print it."""


class CgroupPodSource:
    """Pods as the tree shows them: uid, Kubernetes' QoS class and container ids, nothing else. A `PodSource`."""

    def __init__(self) -> None:
        self._ids: list[CgroupId] = []
        self._pods: tuple[PodRecord, ...] = ()
        self._health = _Health(SourceKind.CGROUP, "pods")

    def report(self, tree: CgroupTree, at_ns: int) -> SourceReport:
        """The pods of `tree` that are not gone."""
        ids = [sample.id for sample in tree.samples if sample.id.pod_uid is not None and not sample.gone]
        if ids != self._ids:  # equal from tick to tick while nothing changed, and then compared by identity
            self._ids, self._pods = ids, _pods_of(ids)
        return SourceReport(health=self._health.now(tree, at_ns), pods=self._pods)


class SystemdServiceSource:
    """Units that the rules of the settings name. A `PodSource`."""

    def __init__(self, rules: tuple[ServiceRule, ...]) -> None:
        self._rules = rules
        self._ids: list[CgroupId] = []
        self._services: tuple[ServiceRecord, ...] = ()
        self._health = _Health(SourceKind.SYSTEMD, "units", off="" if rules else "no service rules in the settings")

    def report(self, tree: CgroupTree, at_ns: int) -> SourceReport:
        """The units of `tree` that are not gone and fall under a rule, each with the first one that matches."""
        ids = [sample.id for sample in tree.samples if sample.id.unit is not None and not sample.gone]
        if ids != self._ids:
            self._ids, self._services = ids, _services_of(ids, self._rules)
        return SourceReport(health=self._health.now(tree, at_ns), services=self._services)


class _Health:
    """The health of a source that only looks at the tree; `off` is why it is not wanted, "" when it is."""

    def __init__(self, kind: SourceKind, noun: str, off: str = "") -> None:
        self._kind = kind
        self._noun = noun
        self._off = off
        self._last: SourceHealth | None = None

    def now(self, tree: CgroupTree, at_ns: int) -> SourceHealth:
        state, details = self._state(tree)
        last = self._last
        if last is None or last.state is not state:
            last = SourceHealth(kind=self._kind, state=state, since_ns=at_ns, details=details)
        elif last.details != details:
            last = SourceHealth(kind=self._kind, state=state, since_ns=last.since_ns, details=details)
        self._last = last
        return last

    def _state(self, tree: CgroupTree) -> tuple[SourceState, tuple[str, ...]]:
        if self._off:
            return SourceState.OFF, (self._off,)
        if tree.mount is None:
            return SourceState.OFF, (f"cannot see {self._noun}: this host has no cgroup v2 hierarchy",)
        if tree.left_out:
            return SourceState.OK, (f"{tree.left_out} groups beyond $.observe.max_cgroups are left out",)
        return SourceState.OK, ()


def _pods_of(ids: list[CgroupId]) -> tuple[PodRecord, ...]:
    pods: dict[str, CgroupId] = {}
    containers: dict[str, dict[str, None]] = {}
    for id in ids:
        if id.pod_uid is None:
            continue
        pods.setdefault(id.pod_uid, id)
        found = containers.setdefault(id.pod_uid, {})
        if id.container_id is not None:
            found[id.container_id] = None
    return tuple(
        PodRecord(
            uid=uid,
            cgroup_uid=uid,
            source=SourceKind.CGROUP,
            kube_qos=id.kube_qos,
            containers=tuple(Container(name=c[:SHORT_ID], container_id=c) for c in sorted(containers[uid])),
        )
        for uid, id in pods.items()
    )


def _services_of(ids: list[CgroupId], rules: tuple[ServiceRule, ...]) -> tuple[ServiceRecord, ...]:
    found = []
    for id in ids:
        rule = None if id.unit is None else rule_for(id.unit, rules)
        if id.unit is not None and rule is not None:
            found.append(ServiceRecord(unit=id.unit, cgroup_path=id.path, pattern=rule.unit, qos=rule.qos))
    return tuple(found)
