"""Each wire of the observer: what one look says must come from the right place, and change when that changes."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from fuyaod.hostfs import HostRoot
from fuyaod.model.pods import SourceHealth, SourceKind, SourceReport, SourceState
from fuyaod.model.qos import QosClass
from fuyaod.model.settings import Observe, Qos, ServiceRule, Settings
from fuyaod.model.snapshot import NodeSnapshot
from fuyaod.node.capture import Recorded
from fuyaod.node.findings import STARTING_GRACE_NS
from fuyaod.node.identity import observe_identity
from fuyaod.node.observe import NodeObserver
from fuyaod.numa.observe import Topic
from tests.hosts.declare import Materialised, declare, materialise, rewrite
from tests.hosts.faults import FaultyFiles
from tests.hosts.scratch import scratch_root

SECOND_NS = 1_000_000_000
DAY_S = 86_400


@pytest.fixture
def made() -> Iterator[Materialised]:
    with scratch_root() as root:
        yield materialise(declare("xeon-rdt"), root)


class Looker:
    """An observer whose time and events a test moves. `close_lookers` closes it."""

    made: ClassVar[list[Looker]] = []

    def __init__(self, made: Materialised, settings: Settings | None = None, **faults: int) -> None:
        host = HostRoot(made.root, FaultyFiles(made.root, faults))
        self.topics: frozenset[Topic] = frozenset()
        self.at_s = 0
        calm = Settings(observe=Observe(topology_interval_s=DAY_S))
        self.observer = NodeObserver(host, settings or calm, drain_events=self._drain, processes=False)
        self.made.append(self)

    def _drain(self) -> frozenset[Topic]:
        topics, self.topics = self.topics, frozenset()
        return topics

    def look(self, after_s: int = 1, *topics: Topic) -> NodeSnapshot:
        self.at_s += after_s
        self.topics = frozenset(topics)
        return self.observer.observe(self.at_s * SECOND_NS, 0.0)


@pytest.fixture(autouse=True)
def close_lookers() -> Iterator[None]:
    yield
    while Looker.made:
        Looker.made.pop().observer.close()


def mtu_of_first(snapshot: NodeSnapshot) -> int | None:
    return snapshot.nics[0].mtu


@pytest.mark.parametrize(
    ("after_s", "topics", "seen"),
    [
        (1, (), False),
        (1, (Topic.TOPOLOGY,), False),
        (1, (Topic.NICS,), True),
        (1, (Topic.DEVICES,), True),
        (DAY_S, (), True),
    ],
    ids=["calm", "cpu event", "link event", "device event", "interval"],
)
def test_nics_are_read_anew_on_their_events_and_at_the_interval(
    made: Materialised, after_s: int, topics: tuple[Topic, ...], seen: bool
) -> None:
    looker = Looker(made)
    name = looker.look().nics[0].name
    path = (made.root / "sys/class/net" / name).resolve() / "mtu"
    path.write_text("1234\n")

    assert (mtu_of_first(looker.look(after_s, *topics)) == 1234) is seen


def test_counters_of_nics_are_read_at_every_look(made: Materialised) -> None:
    looker = Looker(made)
    name = looker.look().nics[0].name
    (made.root / "sys/class/net" / name / "statistics/rx_bytes").write_text("987654321\n")

    assert looker.look().nics[0].rx_bytes == 987654321


def test_node_that_appears_has_its_memory_in_the_same_look(made: Materialised) -> None:
    nodes = made.root / "sys/devices/system/node"
    shutil.copytree(nodes / "node1", nodes / "node2", symlinks=True)
    (nodes / "node2/cpulist").write_text("\n")
    meminfo = (nodes / "node1/meminfo").read_text().replace("Node 1", "Node 2")
    (nodes / "node2/meminfo").write_text(meminfo)
    looker = Looker(made)
    before = looker.look()
    (nodes / "online").write_text("0-2\n")

    after = looker.look(1, Topic.TOPOLOGY)

    assert [m.node for m in before.node_memory] == [0, 1]
    assert [m.node for m in after.node_memory] == [0, 1, 2]


def test_slow_files_are_read_again_within_their_period(made: Materialised) -> None:
    looker = Looker(made)
    looker.look()
    rewrite(made, 1)

    last = [looker.look() for _ in range(Observe().slow_every_ticks)][-1]

    known = [s for s in last.cgroups.samples if s.slow is not None]
    assert known
    assert all(s.slow_at_ns > SECOND_NS for s in known)


def rules(*pairs: tuple[str, QosClass]) -> Settings:
    return Settings(qos=Qos(services=tuple(ServiceRule(unit=unit, qos=qos) for unit, qos in pairs)))


def test_changed_rules_reach_groups_and_services(made: Materialised) -> None:
    looker = Looker(made, rules())
    before = looker.look()

    looker.observer.update_settings(rules(("nginx.service", QosClass.LS)))
    after = looker.look()

    assert before.services == ()
    assert [s.record.unit for s in after.services] == ["nginx.service"]
    assert any(s.id.unit == "nginx.service" for s in after.cgroups.samples)


def test_changed_census_settings_reach_the_census(made: Materialised) -> None:
    observer = NodeObserver(HostRoot("/"), Settings())
    assert observer.observe(SECOND_NS, 0.0).own is not None

    observer.update_settings(Settings(observe=Observe(census_top=0, census_chunk=10_000)))

    later_s = 2 + Observe().census_interval_s
    census = [observer.observe((later_s + n) * SECOND_NS, 0.0).census for n in range(2)][-1]
    assert census is None or census.top == ()
    observer.close()


def finding_ids(snapshot: NodeSnapshot) -> set[str]:
    return {finding.id for finding in snapshot.findings}


@pytest.mark.parametrize(
    ("path", "finding"),
    [
        ("proc/pressure/cpu", "pressure.system"),
        ("proc/meminfo", "memory.system"),
        ("proc/stat", "cpu.time"),
        ("sys/devices/system/node/node0/meminfo", "memory.node"),
        ("sys/devices/system/cpu/online", "topology.cpu"),
    ],
)
def test_damage_anywhere_is_a_finding_of_the_snapshot(made: Materialised, path: str, finding: str) -> None:
    (made.root / path).write_bytes(b"\xff\xfe nonsense")

    assert finding in finding_ids(Looker(made).look())


def test_damaged_nic_is_a_finding_of_the_snapshot(made: Materialised) -> None:
    name = next(n.name for n in made.nics if n.bdf is not None)
    ((made.root / "sys/class/net" / name).resolve() / "mtu").write_bytes(b"\xff\n")

    assert "nic.interface" in finding_ids(Looker(made).look())


@pytest.mark.parametrize(("number", "mend"), [(errno.EACCES, "run as root"), (errno.EIO, "nothing to do if it passes")])
def test_unreadable_group_says_why_and_mends_accordingly(made: Materialised, number: int, mend: str) -> None:
    group = next(p.path for p in made.pods)
    looker = Looker(made, None, **{f"{made.v2_mount}{group}/cpu.stat": number})

    (finding,) = [f for f in looker.look().findings if f.id == "cgroups.unreadable"]

    assert errno.errorcode[number] in finding.summary
    assert finding.mend.startswith(mend)


def test_groups_beyond_the_limit_are_a_finding(made: Materialised) -> None:
    with scratch_root() as root:
        many = materialise(declare("one-cpu"), root, pods=80)
        looker = Looker(many, Settings(observe=Observe(max_cgroups=100)))

        (finding,) = [f for f in looker.look().findings if f.id == "cgroups.left_out"]

        assert "observe.max_cgroups" in finding.mend


@pytest.mark.parametrize(
    ("state", "since_ns", "told"),
    [
        (SourceState.STARTING, 0, True),
        (SourceState.STARTING, STARTING_GRACE_NS, False),
        (SourceState.STALE, STARTING_GRACE_NS, True),
        (SourceState.OK, 0, False),
        (SourceState.OFF, 0, False),
    ],
)
def test_silent_source_is_a_finding_once_its_grace_is_over(
    made: Materialised, state: SourceState, since_ns: int, told: bool
) -> None:
    health = SourceHealth(kind=SourceKind.KUBERNETES, state=state, since_ns=since_ns, details=("x",))
    observer = NodeObserver(
        HostRoot(made.root), Settings(), sources=[Recorded(SourceReport(health=health))], processes=False
    )

    snapshot = observer.observe(STARTING_GRACE_NS + 1, 0.0)

    assert ("source.kubernetes" in finding_ids(snapshot)) is told
    observer.close()


Edit = Callable[[Path], object]


@pytest.mark.parametrize(
    ("edit", "field", "expected"),
    [
        (lambda r: (r / "proc/stat").write_text("cpu 1 2 3 4\nbtime 1700000000\n"), "boot_time_s", 1_700_000_000),
        (lambda r: (r / "proc/stat").write_text("btime soon\n"), "boot_time_s", None),
        (lambda r: (r / "proc/sys/kernel/arch").write_text("riscv64\n"), "machine", "riscv64"),
        (lambda r: (r / "proc/cpuinfo").write_text("CPU implementer\t: 0x48\n"), "machine", "aarch64"),
        (lambda r: (r / "proc/cpuinfo").write_text("vendor_id\t: GenuineIntel\n"), "machine", "x86_64"),
        (lambda r: (r / "proc/cpuinfo").write_text("hart : 0\n"), "machine", None),
        (lambda r: (r / "etc/os-release").write_text('ID="debian"\nVERSION_ID=12\n'), "os_id", "debian"),
        (lambda r: (r / "etc/os-release").unlink(), "os_id", "fallback"),
        (lambda r: (r / "proc/sys/kernel/hostname").write_bytes(b"\xff"), "node_name", "unknown"),
    ],
)
def test_identity_comes_from_the_hosts_files(made: Materialised, edit: Edit, field: str, expected: object) -> None:
    (made.root / "proc/sys/kernel/arch").unlink(missing_ok=True)
    (made.root / "usr/lib").mkdir(parents=True, exist_ok=True)
    (made.root / "usr/lib/os-release").write_text("ID=fallback\n")
    edit(made.root)

    assert getattr(observe_identity(HostRoot(made.root), ""), field) == expected


def test_identity_name_of_the_settings_goes_first(made: Materialised) -> None:
    assert observe_identity(HostRoot(made.root), "worker-3").node_name == "worker-3"
