"""The accepted labels, their precedence, and the join of what the sources know with the groups that exist.

A pod is read first, then its owners. Where several claims differ the strongest class wins and the conflict is reported:
nobody who asked for protection loses it through somebody else's label.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from fuyaod.model.cgroup import CgroupKind, CgroupTree
from fuyaod.model.pods import Pod, PodRecord, Service, SourceReport
from fuyaod.model.qos import ClaimOrigin, QosClaim, QosClass, QosVerdict
from fuyaod.model.settings import Qos
from fuyaod.model.values import Value

_OPENFUYAO: Final = {"hls": QosClass.HLS, "lls": QosClass.HLS, "ls": QosClass.LS, "be": QosClass.BE}
_KOORDINATOR: Final = {"lse": QosClass.HLS, "lsr": QosClass.HLS, "ls": QosClass.LS, "be": QosClass.BE}
_VOLCANO: Final = {"true": QosClass.BE}

ACCEPTED: Final[Mapping[str, Mapping[str, QosClass]]] = {
    "openfuyao.io/qos": _OPENFUYAO,
    "openfuyao.com/qos": _OPENFUYAO,
    "openfuyao.com/qos-level": _OPENFUYAO,
    "koordinator.sh/qosClass": _KOORDINATOR,
    "volcano.sh/preemptable": _VOLCANO,
}
"""Label or annotation key → lower-case value → class.

Source: openFuyao colocation documents (`LLS` is a misspelling of HLS in them); Koordinator's QoS page (LSE and LSR own
whole CPUs, hence HLS); Volcano's preemptable annotation.
"""

NO_CLAIM: Final = {("volcano.sh/preemptable", "false")}
"""Values that are known and claim nothing."""

PROTECTED_NAMESPACE: Final = "kube-system"
"""Never BE unless the pod says so itself."""

MAX_SHOWN: Final = 64
"""Characters of an unknown label value that are repeated in messages and reports."""


class Directory(Value, frozen=True, kw_only=True):
    """Pods and services with their classes: what `join` made last time, handed to it again so that nothing is decided
    twice."""

    pods: tuple[Pod, ...] = ()
    services: tuple[Service, ...] = ()


def classify_pod(record: PodRecord, settings: Qos) -> QosVerdict:
    """The class of one pod, the rule that gave it, all claims, and what is wrong with them."""
    claims = tuple(_claims_of(record))
    problems = [f"unknown value {c.raw!r} of {c.origin.value} {c.key}" for c in claims if c.qos is None]
    itself = (ClaimOrigin.POD_LABEL, ClaimOrigin.POD_ANNOTATION)
    valid = [c for c in claims if c.qos is not None]
    if record.namespace == PROTECTED_NAMESPACE:
        refused = [c for c in valid if c.qos is QosClass.BE and c.origin not in itself]
        problems += [
            f"{c.origin.value} {c.key}={c.raw} not taken: {PROTECTED_NAMESPACE} is BE only by its own label"
            for c in refused
        ]
        valid = [c for c in valid if c not in refused]
    if not valid:
        return _default(record, settings, claims, tuple(problems))
    winner = max(valid, key=_strength)
    if len({c.qos for c in valid}) > 1:
        said = ", ".join(f"{c.origin.value} {c.key}={c.raw}" for c in valid)
        problems.append(f"conflicting claims, the strongest wins: {said}")
    return QosVerdict(
        qos=winner.qos, rule=f"{winner.origin.value} {winner.key}={winner.raw}", claims=claims, problems=tuple(problems)
    )


def join(reports: Iterable[SourceReport], tree: CgroupTree, settings: Qos, before: Directory) -> Directory:
    """All pods and services with class and groups, in a stable order.

    The first report that knows a pod wins (Kubernetes before the cgroup tree); two sources meet in the uid that the
    group's path carries. `before` is the last result: unchanged pods are taken from it as they are.
    """
    pod_paths, container_paths = _paths_by_uid(tree)
    known = {pod.record.cgroup_uid: pod for pod in before.pods}
    pods: dict[str, Pod] = {}
    services: list[Service] = []
    for report in reports:
        for record in report.pods:
            uid = record.cgroup_uid
            if uid not in pods:
                pods[uid] = _pod(
                    record, pod_paths.get(uid), tuple(container_paths.get(uid, ())), settings, known.get(uid)
                )
        services += [
            Service(record=s, qos=QosVerdict(qos=s.qos, rule=f"settings qos.services unit={s.pattern}"))
            for s in report.services
        ]
    return Directory(pods=tuple(pods[uid] for uid in sorted(pods)), services=tuple(services))


def _pod(record: PodRecord, path: str | None, containers: tuple[str, ...], settings: Qos, before: Pod | None) -> Pod:
    if before is not None and before.record == record:
        if before.cgroup_path == path and before.container_paths == containers:
            return before
        return Pod(record=record, qos=before.qos, cgroup_path=path, container_paths=containers)
    return Pod(record=record, qos=classify_pod(record, settings), cgroup_path=path, container_paths=containers)


def _paths_by_uid(tree: CgroupTree) -> tuple[dict[str, str], dict[str, list[str]]]:
    pods: dict[str, str] = {}
    containers: dict[str, list[str]] = {}
    for sample in tree.samples:
        uid = sample.id.pod_uid
        if uid is None or sample.gone:
            continue
        if sample.id.kind is CgroupKind.POD:
            pods[uid] = sample.id.path
        elif sample.id.kind is CgroupKind.CONTAINER:
            containers.setdefault(uid, []).append(sample.id.path)
    return pods, containers


def _default(record: PodRecord, settings: Qos, claims: tuple[QosClaim, ...], problems: tuple[str, ...]) -> QosVerdict:
    qos = settings.default_class
    if qos is None:
        return QosVerdict(qos=None, rule="no claim: left alone", claims=claims, problems=problems)
    if qos is QosClass.BE and record.namespace is None:
        rule = "default class BE not taken: namespace unknown, it may be " + PROTECTED_NAMESPACE
        return QosVerdict(qos=None, rule=rule, claims=claims, problems=problems)
    if qos is QosClass.BE and record.namespace == PROTECTED_NAMESPACE:
        return QosVerdict(
            qos=None, rule=f"{PROTECTED_NAMESPACE} is never BE by default", claims=claims, problems=problems
        )
    return QosVerdict(qos=qos, rule=f"settings qos.default_class={qos.value}", claims=claims, problems=problems)


def _claims_of(record: PodRecord) -> Iterable[QosClaim]:
    yield from _claims_in(record.labels, ClaimOrigin.POD_LABEL)
    yield from _claims_in(record.annotations, ClaimOrigin.POD_ANNOTATION)
    for owner in record.owners:
        yield from _claims_in(owner.labels or {}, ClaimOrigin.OWNER_LABEL)
        yield from _claims_in(owner.annotations or {}, ClaimOrigin.OWNER_ANNOTATION)


def _claims_in(values: Mapping[str, str], origin: ClaimOrigin) -> Iterable[QosClaim]:
    for key, meanings in ACCEPTED.items():
        raw = values.get(key)
        if raw is None or (key, raw.strip().lower()) in NO_CLAIM:
            continue
        yield QosClaim(origin=origin, key=key, raw=raw[:MAX_SHOWN], qos=meanings.get(raw.strip().lower()))


def _strength(claim: QosClaim) -> int:
    return claim.qos.strength if claim.qos is not None else 0
