"""Groups that come and go: between ticks, within one, in the middle of a read."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from fuyaod.cgroups.observe import CgroupObserver
from fuyaod.hostfs import DescriptorBudget, HostRoot
from fuyaod.model.cgroup import CgroupTree
from fuyaod.model.qos import QosClass
from fuyaod.model.settings import Observe, ServiceRule
from tests.unit.cgroups.trees import ID, UID, KernelFiles, TestTree

POD = f"/kubepods/burstable/pod{UID}"
BOX = f"{POD}/{ID}"


class Ground:
    """A tree, system calls with a kernel's manners, an observer, and a tick."""

    def __init__(self, root: Path) -> None:
        self.tree = TestTree(root)
        self.files = KernelFiles()
        self.host = HostRoot(root, self.files, DescriptorBudget(800, reserve=0))
        rules = (ServiceRule(unit="nginx.service", qos=QosClass.LS),)
        self.observer = CgroupObserver(self.host, Observe(), rules)
        self.tick = -1

    def observe(self) -> CgroupTree:
        """The next tick."""
        self.tick += 1
        return self.observer.observe(self.tick * 1_000, self.tick)


@pytest.fixture
def ground(ram_path: Path) -> Iterator[Ground]:
    """A host with one pod of one container, observed once."""
    made = Ground(ram_path)
    for path in ("/kubepods", "/kubepods/burstable", POD, BOX):
        made.tree.put(path)
    made.observe()
    yield made
    made.observer.close()


def _gone(tree: CgroupTree) -> list[str]:
    return [sample.id.path for sample in tree.samples if sample.gone]


def _living(tree: CgroupTree) -> list[str]:
    return [sample.id.path for sample in tree.samples if not sample.gone]


def test_pod_that_vanished_is_gone_once_and_its_descriptors_closed(ground: Ground) -> None:
    ground.tree.remove(POD)

    first, second = ground.observe(), ground.observe()

    assert _gone(first) == [POD, BOX]
    assert all(sample.cpu is None and sample.slow is not None for sample in first.samples if sample.gone)
    assert {sample.slow_at_ns for sample in first.samples if sample.gone} == {0}
    assert _gone(second) == []
    assert _living(second) == ["/kubepods", "/kubepods/burstable"]
    assert ground.files.kept == 18 == ground.host.budget.kept
    assert second.unreadable == ()


def test_new_pod_is_there_whole_on_the_next_tick(ground: Ground) -> None:
    ground.tree.put("/kubepods/podnew", 3)
    ground.tree.put(f"/kubepods/podnew/{ID}", 4)

    tree = ground.observe()

    new = [sample for sample in tree.samples if sample.id.pod_uid == "new"]
    assert [sample.slow_at_ns for sample in new] == [1_000, 1_000]


def test_container_made_again_with_same_name_is_a_new_group(ground: Ground) -> None:
    before = ground.observe().samples[-1].id
    ground.tree.replace(BOX, seed=42)

    tree = ground.observe()

    assert _gone(tree) == [BOX]
    assert _living(tree)[-1] == BOX
    new = tree.samples[-1]
    assert (new.id.path, new.memory_current_bytes, new.gone) == (before.path, 42 * 4096, False)
    assert new.id.inode != before.inode


def test_service_restarted_while_link_count_stays_is_seen_in_the_same_tick(ground: Ground) -> None:
    ground.tree.put("/system.slice/nginx.service", 5)
    ground.observe()
    times = os.stat(ground.tree.folder("/system.slice"))
    ground.tree.replace("/system.slice/nginx.service", seed=6)
    os.utime(ground.tree.folder("/system.slice"), ns=(times.st_atime_ns, times.st_mtime_ns))  # as cgroupfs leaves it

    tree = ground.observe()

    assert _gone(tree) == ["/system.slice/nginx.service"]
    assert tree.samples[-1].memory_current_bytes == 6 * 4096


def test_service_restarted_is_seen_without_descriptors_too(ground: Ground) -> None:
    ground.host.budget.limit = 0
    ground.tree.put("/system.slice/nginx.service", 5)
    ground.observe()
    times = os.stat(ground.tree.folder("/system.slice"))
    ground.tree.replace("/system.slice/nginx.service", seed=6)
    os.utime(ground.tree.folder("/system.slice"), ns=(times.st_atime_ns, times.st_mtime_ns))

    tree = ground.observe()

    ours = [sample for sample in tree.samples if sample.id.unit == "nginx.service"]
    assert [sample.gone for sample in ours] == [True, False]
    assert ours[1].id.inode != ours[0].id.inode
    assert ours[1].memory_current_bytes == 6 * 4096


def test_swap_of_unobserved_for_observed_group_is_found_by_the_audit(ground: Ground) -> None:
    ground.tree.put("/system.slice/other.service")
    ground.observe()
    folder = ground.tree.folder("/system.slice")
    times = os.stat(folder)
    (folder / "other.service").rename(folder / "nginx.service")
    os.utime(folder, ns=(times.st_atime_ns, times.st_mtime_ns))

    seen = ["/system.slice/nginx.service" in _living(ground.observe()) for _ in range(30)]

    assert seen[-1]


def test_kubepods_born_inside_a_known_leaf_is_found_by_the_audit(ground: Ground) -> None:
    ground.tree.put("/system.slice/k3s.service")
    ground.observe()
    ground.tree.put("/system.slice/k3s.service/kubepods/podlate")

    uids = [{sample.id.pod_uid for sample in ground.observe().samples} for _ in range(30)]

    assert "late" in uids[-1]


@pytest.mark.parametrize("at", ["cpu.stat", "cpu.pressure", "memory.current"])
def test_group_that_vanishes_while_it_is_read_keeps_what_was_read(ground: Ground, at: str) -> None:
    def vanish(path: str) -> None:
        if path.endswith(f"{ID}/{at}"):
            ground.files.at_read = lambda path: None
            ground.tree.remove(BOX)

    ground.files.at_read = vanish

    tree = ground.observe()
    after = ground.observe()

    last = tree.samples[-1]
    assert _gone(tree) == [BOX]
    assert (last.cpu is None) == (at == "cpu.stat")
    assert (last.cpu_pressure is None) == (at != "memory.current")
    assert last.memory_current_bytes is None
    assert _living(after) == _living(tree)
    assert _gone(after) == []


def test_pod_that_appears_and_dies_within_a_tick_harms_nobody(ground: Ground) -> None:
    def vanish(path: str) -> None:
        if "podbrief" in path:
            ground.files.at_read = lambda path: None
            ground.tree.remove("/kubepods/podbrief")

    ground.tree.put("/kubepods/podbrief")
    ground.tree.put(f"/kubepods/podbrief/{ID}")
    ground.files.at_read = vanish

    tree = ground.observe()

    assert {sample.id.pod_uid for sample in tree.samples if sample.gone} == {"brief"}
    assert BOX in _living(tree)
    assert not [sample for sample in ground.observe().samples if sample.id.pod_uid == "brief"]


def test_hidden_pressure_file_of_living_group_does_not_make_it_gone(ground: Ground) -> None:
    (ground.tree.folder(BOX) / "cpu.pressure").unlink()  # what cgroup.pressure=0 does

    tree = ground.observe()

    assert _gone(tree) == []
    assert tree.samples[-1].cpu_pressure is None
    assert tree.samples[-1].cpu is not None


def test_whole_hierarchy_that_vanishes_comes_back(ground: Ground) -> None:
    ground.tree.mount.rename(ground.tree.root / "moved")

    lost = ground.observe()
    empty = [ground.observe() for _ in range(31)][-1]
    (ground.tree.root / "moved").rename(ground.tree.mount)
    back = [ground.observe() for _ in range(31)][-1]

    assert _gone(lost) == ["/kubepods", "/kubepods/burstable", POD, BOX]
    assert (empty.samples, empty.mount) == ((), None)
    assert _living(back) == ["/kubepods", "/kubepods/burstable", POD, BOX]


class Churn(RuleBasedStateMachine):
    """Whatever comes and goes, the living groups are exactly those on disk and no descriptor is lost."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        self.ground = Ground(Path(self.folder.name))
        self.living: set[str] = set()
        self.known: set[str] = set()

    @rule(pod=st.integers(0, 3), box=st.integers(0, 2))
    def make(self, pod: int, box: int) -> None:
        """A container, and its pod if need be."""
        for path in (
            "/kubepods",
            f"/kubepods/pod{pod}",
            f"/kubepods/pod{pod}/{box:064x}",
        ):
            if path not in self.living:
                self.ground.tree.put(path)
                self.living.add(path)

    @rule(pod=st.integers(0, 3))
    def kill(self, pod: int) -> None:
        """A whole pod."""
        path = f"/kubepods/pod{pod}"
        if path in self.living:
            self.ground.tree.remove(path)
            self.living = {other for other in self.living if not (other + "/").startswith(path + "/")}

    @rule(pod=st.integers(0, 3), box=st.integers(0, 2))
    def restart(self, pod: int, box: int) -> None:
        """A container of the same name."""
        path = f"/kubepods/pod{pod}/{box:064x}"
        if path in self.living:
            self.ground.tree.replace(path)

    @invariant()
    def observed_is_what_is_there(self) -> None:
        """The tree after each step."""
        tree = self.ground.observe()
        living = _living(tree)
        # A group found replaced while it was read comes last; parents come before their children all the same.
        assert sorted(living) == sorted(self.living)
        seen: set[str] = set()
        for path in living:
            assert path.rpartition("/")[0] in seen | {""}
            seen.add(path)
        assert self.known - self.living <= set(_gone(tree))
        assert self.ground.files.kept == 9 * len(self.living) == tree.kept_descriptors
        self.known = set(self.living)

    def teardown(self) -> None:
        """Nothing stays behind."""
        self.ground.observer.close()
        assert self.ground.files.kept == 0
        self.folder.cleanup()


TestChurn = Churn.TestCase
TestChurn.settings = settings(
    max_examples=25, stateful_step_count=15, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
