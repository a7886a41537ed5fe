"""Pods of several sources meet their groups."""

from __future__ import annotations

from fuyaod.model.cgroup import CgroupId, CgroupKind, CgroupMode, CgroupSample, CgroupTree
from fuyaod.model.pods import PodRecord, ServiceRecord, SourceHealth, SourceKind, SourceReport, SourceState
from fuyaod.model.qos import QosClass
from fuyaod.model.settings import Qos
from fuyaod.qos.decide import Directory, join


def sample(path: str, kind: CgroupKind, uid: str, *, gone: bool = False) -> CgroupSample:
    return CgroupSample(
        id=CgroupId(path=path, inode=1, kind=kind, pod_uid=uid),
        cpu=None,
        cpu_pressure=None,
        memory_current_bytes=None,
        slow=None,
        slow_at_ns=0,
        gone=gone,
    )


def tree(*samples: CgroupSample) -> CgroupTree:
    return CgroupTree(
        mode=CgroupMode.UNIFIED, mount="sys/fs/cgroup", controllers=(), samples=samples, kept_descriptors=0
    )


def report(kind: SourceKind, *pods: PodRecord, services: tuple[ServiceRecord, ...] = ()) -> SourceReport:
    return SourceReport(health=SourceHealth(kind=kind, state=SourceState.OK, since_ns=0), pods=pods, services=services)


def from_api(uid: str, cgroup_uid: str | None = None, **labels: str) -> PodRecord:
    return PodRecord(
        uid=uid,
        cgroup_uid=cgroup_uid or uid,
        source=SourceKind.KUBERNETES,
        namespace="n",
        name=uid,
        labels={k.replace("__", "/"): v for k, v in labels.items()},
    )


def from_tree(uid: str) -> PodRecord:
    return PodRecord(uid=uid, cgroup_uid=uid, source=SourceKind.CGROUP)


POD_A = sample("/kubepods/poda", CgroupKind.POD, "a")
CONTAINER_A = sample("/kubepods/poda/c1", CgroupKind.CONTAINER, "a")


def test_join_pod_of_both_sources_is_one_pod_as_the_api_tells_it() -> None:
    found = join(
        (report(SourceKind.KUBERNETES, from_api("a")), report(SourceKind.CGROUP, from_tree("a"))),
        tree(POD_A, CONTAINER_A),
        Qos(),
        Directory(),
    )

    (pod,) = found.pods
    assert pod.record.source is SourceKind.KUBERNETES
    assert pod.cgroup_path == "/kubepods/poda"
    assert pod.container_paths == ("/kubepods/poda/c1",)


def test_join_static_pod_meets_its_group_by_config_hash() -> None:
    found = join((report(SourceKind.KUBERNETES, from_api("api-uid", "a")),), tree(POD_A), Qos(), Directory())

    assert found.pods[0].cgroup_path == "/kubepods/poda"


def test_join_pod_without_group_has_no_path() -> None:
    found = join((report(SourceKind.KUBERNETES, from_api("b")),), tree(POD_A), Qos(), Directory())

    assert found.pods[0].cgroup_path is None


def test_join_vanished_group_is_no_path() -> None:
    gone = sample("/kubepods/poda", CgroupKind.POD, "a", gone=True)

    assert (
        join((report(SourceKind.CGROUP, from_tree("a")),), tree(gone), Qos(), Directory()).pods[0].cgroup_path is None
    )


def test_join_unchanged_pod_is_the_same_object() -> None:
    reports = (report(SourceKind.KUBERNETES, from_api("a", openfuyao__qos="BE")),)
    first = join(reports, tree(POD_A), Qos(), Directory())

    again = join(reports, tree(POD_A), Qos(), first)

    assert again.pods[0] is first.pods[0]


def test_join_changed_label_is_classified_anew() -> None:
    before = join(
        (report(SourceKind.KUBERNETES, from_api("a", **{"openfuyao.io__qos": "BE"})),), tree(POD_A), Qos(), Directory()
    )

    after = join(
        (report(SourceKind.KUBERNETES, from_api("a", **{"openfuyao.io__qos": "HLS"})),), tree(POD_A), Qos(), before
    )

    assert before.pods[0].qos.qos is QosClass.BE
    assert after.pods[0].qos.qos is QosClass.HLS


def test_join_order_is_stable() -> None:
    one = join((report(SourceKind.CGROUP, from_tree("b"), from_tree("a")),), tree(), Qos(), Directory())
    two = join((report(SourceKind.CGROUP, from_tree("a"), from_tree("b")),), tree(), Qos(), Directory())

    assert one == two


def test_join_service_takes_the_class_of_its_rule() -> None:
    nginx = ServiceRecord(
        unit="nginx.service", cgroup_path="/system.slice/nginx.service", pattern="nginx*", qos=QosClass.LS
    )

    found = join((report(SourceKind.SYSTEMD, services=(nginx,)),), tree(), Qos(), Directory())

    assert found.services[0].qos.qos is QosClass.LS
    assert "nginx*" in found.services[0].qos.rule
