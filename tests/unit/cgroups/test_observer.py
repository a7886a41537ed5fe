"""The observer: which groups, what is read when, and what trouble looks like."""

import errno
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuyaod.cgroups.observe import CgroupObserver
from fuyaod.hostfs import DescriptorBudget, HostRoot
from fuyaod.model.cgroup import CgroupMode, CgroupTree
from fuyaod.model.qos import QosClass
from fuyaod.model.settings import Observe, ServiceRule
from fuyaod.model.values import decode, encode
from tests.unit.cgroups.trees import ID, MOUNT, UID, KernelFiles, TestTree

POD = f"/kubepods/burstable/pod{UID}"
NGINX = ServiceRule(unit="nginx.service", qos=QosClass.LS)


def _paths(tree: CgroupTree) -> list[str]:
    return [sample.id.path for sample in tree.samples]


@pytest.fixture
def ground(ram_path: Path) -> TestTree:
    """A unified host with nothing in it."""
    return TestTree(ram_path)


@pytest.fixture
def files() -> KernelFiles:
    """System calls with a kernel's manners."""
    return KernelFiles()


class Make(Protocol):
    """Makes an observer that is closed after the test."""

    def __call__(
        self, ground: TestTree, files: KernelFiles | None = None, rules: tuple[ServiceRule, ...] = (), **observe: int
    ) -> CgroupObserver: ...


@pytest.fixture
def make() -> Iterator[Make]:
    """A maker of observers with room for 800 descriptors."""
    made = []

    def make_one(
        ground: TestTree, files: KernelFiles | None = None, rules: tuple[ServiceRule, ...] = (), **observe: int
    ) -> CgroupObserver:
        host = HostRoot(ground.root, files, DescriptorBudget(800, reserve=0))
        made.append(CgroupObserver(host, Observe(**observe), rules))
        return made[-1]

    yield make_one
    for observer in made:
        observer.close()


@pytest.mark.parametrize("driver", ["cgroupfs", "systemd"])
def test_observe_pods_gives_every_group_parents_first(make: Make, ground: TestTree, driver: str) -> None:
    paths = ground.put_kubepods(5, 3, driver)
    observer = make(ground)

    tree = observer.observe(10, 0)

    assert _paths(tree) == sorted(paths)
    assert (tree.mode, tree.mount) == (CgroupMode.UNIFIED, MOUNT)
    assert tree.controllers == ("cpuset", "cpu", "io", "memory", "hugetlb", "pids")
    assert (tree.unreadable, tree.left_out, tree.kept_descriptors) == ((), 0, 9 * len(paths))


def test_observe_new_group_is_read_whole_at_once(make: Make, ground: TestTree) -> None:
    ground.put(POD, seed=7)
    observer = make(ground)

    sample = observer.observe(10, 3).samples[-1]

    assert sample.cpu is not None
    assert (sample.cpu.usage_us, sample.cpu.throttled_us, sample.memory_current_bytes) == (70, 21, 7 * 4096)
    assert sample.cpu_pressure is not None
    assert sample.cpu_pressure.some is not None
    assert (sample.cpu_pressure.some.avg10_pct, sample.cpu_pressure.some.total_us) == (7.25, 7001)
    slow = sample.slow
    assert slow is not None
    assert slow.memory_stat is not None
    assert slow.io_stat is not None
    assert (slow.memory_stat.inactive_file_bytes, slow.io_stat.read_bytes, slow.pids_current) == (140, 8, 7)
    assert (sample.slow_at_ns, sample.gone) == (10, False)
    assert sample.working_set_bytes == 7 * 4096 - 140


def test_observe_tree_serialises_and_comes_back(make: Make, ground: TestTree) -> None:
    ground.put_kubepods(2)
    observer = make(ground)

    tree = observer.observe(10, 0)

    assert decode(encode(tree), CgroupTree) == tree


@given(every=st.integers(1, 12), start=st.integers(0, 100))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_observe_slow_files_are_read_exactly_once_per_period(
    make: Make, ground: TestTree, every: int, start: int
) -> None:
    groups = len(ground.put_kubepods(8))
    files = KernelFiles()
    observer = make(ground, files, slow_every_ticks=every)
    observer.observe(0, start)
    files.reads.clear()

    slow_at = []
    for tick in range(start + 1, start + 1 + every):
        tree = observer.observe(tick, tick)
        slow_at += [sample.id.path for sample in tree.samples if sample.slow_at_ns == tick]
    observer.close()

    assert len(slow_at) == len(set(slow_at)) == groups
    reads = Counter(path.rpartition("/")[2] for path in files.reads)
    assert reads["memory.stat"] == reads["io.pressure"] == reads["pids.current"] == groups
    assert reads["cpu.stat"] == reads["cpu.pressure"] == reads["memory.current"] == groups * every


def test_observe_slow_reads_are_spread_over_the_period(make: Make, ground: TestTree) -> None:
    ground.put_kubepods(100, 1)
    observer = make(ground)
    observer.observe(0, 0)

    shares = []
    for tick in range(1, 6):
        tree = observer.observe(tick, tick)
        shares.append(sum(sample.slow_at_ns == tick for sample in tree.samples))

    assert sum(shares) == 202
    assert min(shares) > 20
    assert max(shares) < 65


def test_observe_services_are_those_that_rules_name_and_top_level_units(make: Make, ground: TestTree) -> None:
    for path in (
        "/init.scope",
        "/system.slice/nginx.service",
        "/system.slice/sshd.service",
        "/user.slice/user-1.slice",
    ):
        ground.put(path)
    ground.put("/system.slice")
    ground.put("/user.slice")
    ground.put("/batch.slice/batch-night.slice/batch-night-a.slice")
    observer = make(ground, rules=(NGINX, ServiceRule(unit="batch-*.slice", qos=QosClass.BE)))

    tree = observer.observe(0, 0)

    assert _paths(tree) == [
        "/batch.slice/batch-night.slice",
        "/batch.slice/batch-night.slice/batch-night-a.slice",
        "/init.scope",
        "/system.slice",
        "/system.slice/nginx.service",
        "/user.slice",
    ]


def test_observe_nested_kubepods_are_found_anywhere(make: Make, ground: TestTree) -> None:
    kind = f"/system.slice/docker-{ID}.scope/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-podabc.slice"
    ground.put(kind)
    ground.put("/deep/er/kubepods/besteffort/pod1")
    observer = make(ground)

    uids = {sample.id.pod_uid for sample in observer.observe(0, 0).samples}

    assert {"abc", "1"} <= uids


def test_observe_below_containers_is_not_looked_at(make: Make, ground: TestTree, files: KernelFiles) -> None:
    ground.put(f"{POD}/{ID}")
    ground.put(f"{POD}/{ID}/init.scope")
    ground.put(f"{POD}/crio-conmon-{ID}")
    observer = make(ground, files)

    tree = observer.observe(0, 0)

    assert _paths(tree)[-1] == f"{POD}/{ID}"
    assert not [path for path in files.listed if path.endswith((ID, "init.scope"))]


def test_observe_quiet_tick_lists_no_folder(make: Make, ground: TestTree, files: KernelFiles) -> None:
    ground.put_kubepods(10)
    observer = make(ground, files)
    observer.observe(0, 0)
    files.listed.clear()

    listed = []
    for tick in range(1, 31):
        observer.observe(tick, tick)
        listed.append(len(files.listed))

    # The audit lists every inner folder once in thirty ticks: root, kubepods, burstable, ten pods.
    assert listed[-1] == 13


@pytest.mark.parametrize(("number", "code"), [(errno.EACCES, "EACCES"), (errno.EIO, "EIO")])
def test_observe_refused_file_is_none_and_named_while_others_go_on(
    make: Make, ground: TestTree, files: KernelFiles, number: int, code: str
) -> None:
    paths = ground.put_kubepods(3)
    bad = f"{MOUNT}{paths[2]}/cpu.pressure"
    files.refuse[bad] = number
    observer = make(ground, files)

    tree = observer.observe(0, 0)

    by_path = {sample.id.path: sample for sample in tree.samples}
    assert by_path[paths[2]].cpu_pressure is None
    assert by_path[paths[2]].cpu is not None
    assert not by_path[paths[2]].gone
    assert all(sample.cpu_pressure for path, sample in by_path.items() if path != paths[2])
    assert tree.unreadable == (bad,)
    assert observer.problems[bad].startswith(f"cannot read {ground.root}/{bad}: {code}")
    assert observer.denied is (code == "EACCES")


def test_observe_refused_file_is_asked_again_only_by_the_audit(
    make: Make, ground: TestTree, files: KernelFiles
) -> None:
    ground.put(POD)
    files.refuse["cpu.pressure"] = errno.EOPNOTSUPP
    observer = make(ground, files)
    observer.observe(0, 0)
    files.reads.clear()

    for tick in range(1, 31):
        observer.observe(tick, tick)
    asked = sum(path.endswith("cpu.pressure") for path in files.reads)
    files.refuse.clear()
    for tick in range(31, 61):
        tree = observer.observe(tick, tick)

    assert asked == 1
    assert all(sample.cpu_pressure is not None for sample in tree.samples if sample.id.pod_uid)
    assert tree.unreadable == ()


@pytest.mark.parametrize(
    "text", [b"", b"usage_usec 1", b"\x00\xff\x00\n", b"usage_usec x\nuser_usec 1\nsystem_usec 1\n"]
)
def test_observe_garbage_file_is_none_until_it_makes_sense(make: Make, ground: TestTree, text: bytes) -> None:
    ground.put(POD, seed=5)
    ground.write(POD, "cpu.stat", text)
    observer = make(ground)

    first = observer.observe(0, 0)
    ground.put(POD, seed=6)
    second = observer.observe(1, 1)

    assert first.samples[-1].cpu is None
    assert first.samples[-1].memory_current_bytes == 5 * 4096
    assert first.unreadable == (f"{MOUNT}{POD}/cpu.stat",)
    assert second.samples[-1].cpu is not None
    assert second.unreadable == ()


def test_observe_huge_file_is_refused_with_its_errno(make: Make, ground: TestTree) -> None:
    ground.put(POD)
    ground.write(POD, "memory.stat", b"anon 1\n" * 700_000)
    observer = make(ground)

    tree = observer.observe(0, 0)

    slow = tree.samples[-1].slow
    assert slow is not None
    assert slow.memory_stat is None
    assert "EFBIG" in observer.problems[f"{MOUNT}{POD}/memory.stat"]


def test_observe_missing_files_are_none_without_a_word(make: Make, ground: TestTree) -> None:
    ground.put(POD)
    for name in ("memory.current", "memory.stat", "memory.events", "io.stat", "pids.current"):
        (ground.folder(POD) / name).unlink()
    observer = make(ground)

    tree = observer.observe(0, 0)

    sample = tree.samples[-1]
    assert (sample.memory_current_bytes, sample.working_set_bytes, sample.gone) == (None, None, False)
    assert sample.slow is not None
    assert (sample.slow.memory_stat, sample.slow.io_stat, sample.slow.pids_current) == (None, None, None)
    assert sample.slow.io_pressure is not None
    assert tree.unreadable == ()


def test_observe_controller_enabled_later_is_seen_by_the_audit(make: Make, ground: TestTree) -> None:
    ground.put(POD)
    (ground.folder(POD) / "memory.current").unlink()
    observer = make(ground)
    observer.observe(0, 0)
    ground.write(POD, "memory.current", "8192\n")

    for tick in range(1, 32):
        tree = observer.observe(tick, tick)

    assert tree.samples[-1].memory_current_bytes == 8192


def test_observe_unlistable_folder_is_named_while_others_go_on(
    make: Make, ground: TestTree, files: KernelFiles
) -> None:
    ground.put(POD)
    ground.put("/system.slice")
    files.refuse[POD] = errno.EACCES
    observer = make(ground, files)

    tree = observer.observe(0, 0)

    assert {"/system.slice", POD} <= set(_paths(tree))
    assert tree.unreadable == ()  # the pod has no child folders, so it need not be listed
    files.refuse["kubepods"] = errno.EACCES
    ground.put("/kubepods/pod1")
    tree = observer.observe(1, 1)
    assert tree.unreadable == (f"{MOUNT}/kubepods",)
    assert POD in _paths(tree)


def test_observe_child_that_cannot_be_looked_at_is_named_while_its_siblings_go_on(make: Make, ground: TestTree) -> None:
    ground.put(POD)
    loop = ground.folder("/kubepods/a-loop")  # before its siblings
    loop.symlink_to("a-loop")
    observer = make(ground)

    tree = observer.observe(0, 0)
    loop.unlink()
    ground.put("/kubepods/pod1")
    later = observer.observe(1, 1)

    assert POD in _paths(tree)
    assert tree.unreadable == (f"{MOUNT}/kubepods/a-loop",)
    assert later.unreadable == ()


def test_observe_group_that_cannot_be_looked_at_for_a_while_stays_and_is_named_meanwhile(
    make: Make, ground: TestTree, files: KernelFiles
) -> None:
    ground.put(POD)
    observer = make(ground, files)
    observer.observe(0, 0)

    files.unseen[POD] = errno.EIO
    trees = [observer.observe(tick, tick) for tick in range(1, 31)]
    files.unseen.clear()
    later = observer.observe(31, 31)

    assert all(POD in _paths(tree) for tree in trees)
    assert trees[-1].unreadable == (f"{MOUNT}{POD}",)
    assert later.unreadable == ()


def test_observe_hierarchy_refused_for_a_while_keeps_its_groups(
    make: Make, ground: TestTree, files: KernelFiles
) -> None:
    ground.put(POD)
    observer = make(ground, files)
    observer.observe(0, 0)

    files.refuse["cgroup.controllers"] = errno.EMFILE
    trees = [observer.observe(tick, tick) for tick in range(1, 61)]
    files.refuse.clear()
    later = [observer.observe(tick, tick) for tick in range(61, 92)][-1]

    assert all(POD in _paths(tree) for tree in trees)
    assert trees[-1].unreadable == (MOUNT,)
    assert later.unreadable == ()


def test_observe_mount_that_cannot_be_looked_at_is_named(make: Make, ground: TestTree, files: KernelFiles) -> None:
    files.unseen[MOUNT] = errno.EIO

    tree = make(ground, files).observe(0, 0)

    assert tree.samples == ()
    assert tree.unreadable == (MOUNT,)


def test_observe_many_refused_files_are_counted_beyond_a_bound(
    make: Make, ground: TestTree, files: KernelFiles
) -> None:
    groups = len(ground.put_kubepods(20))
    files.refuse[".pressure"] = errno.EACCES
    observer = make(ground, files)

    tree = observer.observe(0, 0)

    assert len(tree.unreadable) == 64
    assert len(tree.unreadable) + tree.unreadable_more == 3 * groups == len(observer.problems)


def test_observe_without_descriptor_budget_reads_all_the_same(ground: TestTree) -> None:
    paths = ground.put_kubepods(10)
    host = HostRoot(ground.root, KernelFiles(), DescriptorBudget(50, reserve=0))
    observer = CgroupObserver(host, Observe())

    observer.observe(0, 0)
    for path in paths:
        ground.put(path, 99)
    tree = observer.observe(1, 1)

    assert tree.kept_descriptors == 50
    assert {sample.memory_current_bytes for sample in tree.samples} == {99 * 4096}
    observer.close()
    assert host.budget.kept == 0


def test_observe_more_groups_than_allowed_are_counted_and_left_out(make: Make, ground: TestTree) -> None:
    ground.put_kubepods(150, 0)
    observer = make(ground, max_cgroups=100)

    tree = observer.observe(0, 0)

    assert (len(tree.samples), tree.left_out) == (100, 52)
    for path in _paths(tree)[2:32]:
        ground.remove(path)
    for tick in range(1, 4):
        tree = observer.observe(tick, tick)
    assert (len(tree.samples), tree.left_out) == (100, 22)


def test_observe_five_thousand_groups_are_all_there(make: Make, ground: TestTree) -> None:
    paths = ground.put_kubepods(1666, 2, names=("cpu.stat", "memory.stat"))
    observer = make(ground)

    observer.observe(0, 0)
    tree = observer.observe(1, 1)

    assert len(tree.samples) == len(paths) == 5000
    assert all(sample.cpu and sample.slow and sample.slow.memory_stat for sample in tree.samples)
    assert tree.kept_descriptors == 800  # the budget's limit, not 10 000


def test_reconfigure_other_rules_show_other_services(make: Make, ground: TestTree) -> None:
    ground.put("/system.slice/nginx.service")
    observer = make(ground)
    before = _paths(observer.observe(0, 0))

    observer.reconfigure(Observe(), (NGINX,))
    after = _paths(observer.observe(1, 1))

    assert (before, after) == (["/system.slice"], ["/system.slice", "/system.slice/nginx.service"])


def test_reconfigure_other_period_keeps_descriptors(make: Make, ground: TestTree, files: KernelFiles) -> None:
    ground.put(POD)
    observer = make(ground, files)
    observer.observe(0, 0)
    kept = files.kept

    observer.reconfigure(Observe(slow_every_ticks=1), ())

    assert files.kept == kept > 0
    assert observer.observe(5, 1).samples[-1].slow_at_ns == 5
    observer.close()
    assert files.kept == 0
