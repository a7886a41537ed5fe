"""Pods from the tree alone, and services from the rules."""

from fuyaod.cgroups.observe import CgroupPodSource, SystemdServiceSource
from fuyaod.cgroups.observe.paths import identify
from fuyaod.model.cgroup import CgroupMode, CgroupSample, CgroupTree, KubeQos
from fuyaod.model.pods import PodSource, SourceKind, SourceState
from fuyaod.model.qos import QosClass
from fuyaod.model.settings import ServiceRule
from tests.unit.cgroups.trees import UID

ID_A, ID_B = "a1" * 32, "b2" * 32
RULES = (
    ServiceRule(unit="nginx.service", qos=QosClass.LS),
    ServiceRule(unit="batch-*.slice", qos=QosClass.BE),
    ServiceRule(unit="*.service", qos=QosClass.HLS),
)


def _tree(
    *paths: str, gone: tuple[str, ...] = (), mode: CgroupMode = CgroupMode.UNIFIED, left_out: int = 0
) -> CgroupTree:
    samples = []
    for inode, path in enumerate(paths):
        found = identify(path, inode)
        assert found is not None
        samples.append(
            CgroupSample(
                id=found,
                cpu=None,
                cpu_pressure=None,
                memory_current_bytes=None,
                slow=None,
                slow_at_ns=0,
                gone=path in gone,
            )
        )
    mount = "sys/fs/cgroup" if mode is CgroupMode.UNIFIED else None
    return CgroupTree(
        mode=mode, mount=mount, controllers=(), samples=tuple(samples), kept_descriptors=0, left_out=left_out
    )


POD = f"/kubepods/burstable/pod{UID}"


def test_pod_source_of_tree_gives_uid_class_and_containers() -> None:
    source: PodSource = CgroupPodSource()

    report = source.report(_tree("/kubepods", POD, f"{POD}/{ID_B}", f"{POD}/{ID_A}", "/kubepods/pod1"), 5)

    first, second = report.pods
    assert (first.uid, first.cgroup_uid, first.source) == (UID, UID, SourceKind.CGROUP)
    assert (first.kube_qos, first.name, first.namespace) == (KubeQos.BURSTABLE, None, None)
    assert [(box.name, box.container_id) for box in first.containers] == [(ID_A[:12], ID_A), (ID_B[:12], ID_B)]
    assert (second.uid, second.kube_qos, second.containers) == ("1", KubeQos.GUARANTEED, ())
    assert (report.health.state, report.health.since_ns, report.health.details) == (SourceState.OK, 5, ())


def test_pod_source_of_container_without_pod_group_still_knows_the_pod() -> None:
    path = f"/kubepods-pod{UID.replace('-', '_')}.slice:cri-containerd:{ID_A}"

    (pod,) = CgroupPodSource().report(_tree(path), 0).pods

    assert (pod.uid, [box.container_id for box in pod.containers]) == (UID, [ID_A])


def test_pod_source_leaves_out_what_is_gone() -> None:
    source = CgroupPodSource()
    paths = (POD, f"{POD}/{ID_A}", f"{POD}/{ID_B}")

    (pod,) = source.report(_tree(*paths, gone=(f"{POD}/{ID_A}",)), 0).pods

    assert [box.container_id for box in pod.containers] == [ID_B]
    assert source.report(_tree(*paths, gone=paths), 1).pods == ()


def test_pod_source_makes_records_anew_only_on_changes() -> None:
    source = CgroupPodSource()

    first = source.report(_tree(POD), 0).pods
    same = source.report(_tree(POD), 1).pods
    other = source.report(_tree(POD, f"{POD}/{ID_A}"), 2).pods

    assert same is first
    assert other != first


def test_pod_source_without_v2_hierarchy_is_off_and_says_why() -> None:
    source = CgroupPodSource()

    before = source.report(_tree(mode=CgroupMode.LEGACY), 3).health
    after = source.report(_tree(POD), 9).health

    assert (before.state, before.since_ns) == (SourceState.OFF, 3)
    assert before.details == ("cannot see pods: this host has no cgroup v2 hierarchy",)
    assert (after.state, after.since_ns, after.details) == (SourceState.OK, 9, ())


def test_pod_source_with_groups_left_out_says_how_many() -> None:
    source = CgroupPodSource()
    source.report(_tree(POD), 1)

    health = source.report(_tree(POD, left_out=7), 2).health

    assert (health.state, health.since_ns) == (SourceState.OK, 1)
    assert health.details == ("7 groups beyond $.observe.max_cgroups are left out",)


def test_service_source_takes_first_rule_and_no_kubernetes_group() -> None:
    source: PodSource = SystemdServiceSource(RULES)
    tree = _tree(
        "/batch.slice/batch-night.slice",
        "/kubepods.slice",
        POD,
        "/system.slice",
        "/system.slice/nginx.service",
        r"/system.slice/my\x2djob.service",
    )

    services = source.report(tree, 0).services

    assert [(s.unit, s.cgroup_path, s.pattern, s.qos) for s in services] == [
        ("batch-night.slice", "/batch.slice/batch-night.slice", "batch-*.slice", QosClass.BE),
        ("nginx.service", "/system.slice/nginx.service", "nginx.service", QosClass.LS),
        (r"my\x2djob.service", r"/system.slice/my\x2djob.service", "*.service", QosClass.HLS),
    ]


def test_service_source_without_rules_is_off() -> None:
    report = SystemdServiceSource(()).report(_tree("/system.slice"), 4)

    assert (report.services, report.health.state) == ((), SourceState.OFF)
    assert report.health.details == ("no service rules in the settings",)
