"""The whole snapshot of declared hosts against their declaration."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path

import pytest

from fuyaod.hostfs import DescriptorBudget, HostRoot
from fuyaod.model import CpuSet
from fuyaod.model.cgroup import CgroupKind
from fuyaod.model.pods import PodRecord, SourceHealth, SourceKind, SourceReport, SourceState
from fuyaod.model.qos import QosClass
from fuyaod.model.settings import Qos, ServiceRule, Settings
from fuyaod.model.snapshot import NodeSnapshot
from fuyaod.model.values import decode, encode
from fuyaod.node.capture import Recorded
from fuyaod.node.observe import NodeObserver
from fuyaod.numa.observe import Topic
from tests.hosts.declare import DRIVERS, HOSTS, Materialised, declare, materialise
from tests.hosts.faults import FaultyFiles
from tests.hosts.scratch import scratch_root

SECOND_NS = 1_000_000_000


@pytest.fixture
def root() -> Iterator[Path]:
    with scratch_root() as path:
        yield path


def observer_of(made: Materialised, settings: Settings | None = None, *reports: SourceReport) -> NodeObserver:
    host = HostRoot(made.root, FaultyFiles(made.root, made.faults))
    return NodeObserver(host, settings or Settings(), sources=[Recorded(r) for r in reports], processes=False)


def look(made: Materialised, settings: Settings | None = None, *reports: SourceReport) -> NodeSnapshot:
    observer = observer_of(made, settings, *reports)
    try:
        return observer.observe(SECOND_NS, 1.0)
    finally:
        observer.close()


def api_report(made: Materialised) -> SourceReport:
    """What the Kubernetes API would say of the declared pods."""
    records = tuple(
        PodRecord(
            uid=pod.uid,
            cgroup_uid=pod.cgroup_uid,
            source=SourceKind.KUBERNETES,
            namespace=pod.namespace,
            name=pod.name,
            labels=pod.labels,
            annotations=pod.annotations,
        )
        for pod in made.pods
    )
    return SourceReport(health=SourceHealth(kind=SourceKind.KUBERNETES, state=SourceState.OK, since_ns=0), pods=records)


@pytest.mark.parametrize("name", HOSTS)
def test_snapshot_of_declared_host_says_what_was_declared(name: str, root: Path) -> None:
    made = materialise(declare(name), root)

    seen = look(made)

    assert seen.topology.cpu.online == CpuSet(made.cpus.online)
    assert [n.node for n in seen.topology.nodes] == [n.node for n in made.nodes]
    assert [d.bdf for d in seen.topology.devices] == sorted(d.bdf for d in made.devices if d.accelerator)
    assert {n.name for n in seen.nics} == {n.name for n in made.nics if n.bdf is not None}
    assert seen.host.kernel_release == made.kernel_release
    assert (seen.cgroups.mount is None) == (made.v2_mount is None)
    assert seen.cgroups.unreadable == ()


@pytest.mark.parametrize("driver", sorted(DRIVERS))
def test_snapshot_finds_pods_and_containers_under_every_driver(driver: str, root: Path) -> None:
    made = materialise(declare("kunpeng920-910b"), root, driver=driver)

    seen = look(made, None, api_report(made))

    assert {p.record.name: p.cgroup_path for p in seen.pods} == {p.name: p.path for p in made.pods}
    for pod in made.pods:
        found = next(p for p in seen.pods if p.record.name == pod.name)
        assert sorted(found.container_paths) == sorted(c.path for c in pod.containers)
        assert (found.qos.qos.value if found.qos.qos else None) == pod.qos_class


def test_snapshot_without_api_knows_pods_by_uid_alone(root: Path) -> None:
    made = materialise(declare("xeon-rdt"), root)

    seen = look(made)

    assert {p.record.uid for p in seen.pods} == {p.cgroup_uid for p in made.pods}
    assert all(p.record.source is SourceKind.CGROUP and p.qos.qos is None for p in seen.pods)


def test_snapshot_maps_units_to_classes_by_settings(root: Path) -> None:
    made = materialise(declare("xeon-rdt"), root)
    rules = (
        ServiceRule(unit="nginx.service", qos=QosClass.LS),
        ServiceRule(unit="batch-*", qos=QosClass.BE),
    )

    seen = look(made, Settings(qos=Qos(services=rules)))

    classes = {s.record.unit: s.qos.qos for s in seen.services}
    assert classes["nginx.service"] is QosClass.LS
    assert {q for u, q in classes.items() if u.startswith("batch-")} == {QosClass.BE}
    assert all(u.startswith(("nginx", "batch-")) for u in classes)


def test_snapshot_values_are_those_of_the_files(root: Path) -> None:
    made = materialise(declare("epyc-ccx"), root)
    numbers = made.numbers()

    seen = look(made)

    checked = 0
    for sample in seen.cgroups.samples:
        if sample.id.kind in (CgroupKind.POD, CgroupKind.CONTAINER):
            expected = numbers[sample.id.path]
            assert sample.cpu is not None
            assert sample.cpu.usage_us == expected.usage_us
            checked += 1
    assert checked > 10


def test_snapshot_round_trips_through_json(root: Path) -> None:
    seen = look(materialise(declare("kunpeng920-910b"), root))

    assert decode(encode(seen), NodeSnapshot) == seen


def test_observe_twice_counts_up_and_reuses_the_topology(root: Path) -> None:
    observer = observer_of(materialise(declare("one-cpu"), root))

    first = observer.observe(SECOND_NS, 1.0)
    second = observer.observe(2 * SECOND_NS, 2.0)

    assert (first.seq, second.seq) == (1, 2)
    assert second.topology is first.topology
    observer.close()


def test_observe_after_interval_or_event_reads_the_topology_anew(root: Path) -> None:
    made = materialise(declare("one-cpu"), root)
    topics: list[frozenset[Topic]] = [frozenset(), frozenset({Topic.TOPOLOGY}), frozenset(), frozenset()]
    observer = NodeObserver(HostRoot(root), Settings(), drain_events=lambda: topics.pop(0), processes=False)
    assert made.root == root

    ages = [observer.observe(at_s * SECOND_NS, 1.0).topology.observed_at_ns // SECOND_NS for at_s in (1, 2, 3, 302)]

    assert ages == [1, 2, 2, 302]
    observer.close()


def test_observe_changed_settings_decide_pods_anew(root: Path) -> None:
    made = materialise(declare("one-cpu"), root, pods=3)
    observer = observer_of(made)
    before = observer.observe(SECOND_NS, 1.0)

    observer.update_settings(Settings(qos=Qos(default_class=QosClass.LS)))
    after = observer.observe(2 * SECOND_NS, 2.0)

    assert {p.qos.qos for p in before.pods} == {None}
    assert {p.qos.qos for p in after.pods} == {QosClass.LS}
    observer.close()


def test_close_gives_every_descriptor_back(root: Path) -> None:
    made = materialise(declare("kunpeng920-910b"), root)
    budget = DescriptorBudget(10_000)
    observer = NodeObserver(HostRoot(made.root, budget=budget), Settings(), processes=False)
    observer.observe(SECOND_NS, 1.0)
    kept = budget.kept

    observer.close()

    assert kept > 0
    assert budget.kept == 0


def test_snapshot_of_an_empty_root_is_empty_and_says_so(tmp_path: Path) -> None:
    observer = NodeObserver(HostRoot(tmp_path), Settings(), processes=False)

    seen = observer.observe(SECOND_NS, 1.0)

    assert seen.pods == ()
    assert seen.memory is None
    assert seen.cpu_time is None
    assert seen.findings
    observer.close()


def test_source_that_is_stale_is_a_finding(root: Path) -> None:
    stale = SourceReport(
        health=SourceHealth(
            kind=SourceKind.KUBERNETES, state=SourceState.STALE, since_ns=0, details=("no answer for 40 s",)
        )
    )

    seen = look(materialise(declare("one-cpu"), root), None, stale)

    (finding,) = [f for f in seen.findings if f.id == "source.kubernetes"]
    assert "no answer for 40 s" in finding.summary


def test_psi_refused_is_no_pressure_and_no_exception(root: Path) -> None:
    made = materialise(declare("psi-refused"), root)

    seen = look(made)

    assert errno.EOPNOTSUPP in made.faults.values()
    assert seen.pressure.cpu is None
    assert all(s.cpu_pressure is None for s in seen.cgroups.samples)
    assert any(s.cpu is not None for s in seen.cgroups.samples)
