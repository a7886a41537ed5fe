"""Which hierarchy a host has."""

import errno
from pathlib import Path

import pytest

from fuyaod.cgroups.observe import CgroupObserver
from fuyaod.cgroups.observe.mode import find_hierarchy
from fuyaod.hostfs import HostRoot
from fuyaod.model.cgroup import CgroupMode
from fuyaod.model.settings import Observe
from tests.unit.cgroups.trees import UID, KernelFiles, pressure_text


def _touch(root: Path, path: str, text: str = "") -> None:
    file = root / "sys/fs/cgroup" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


@pytest.mark.parametrize(
    ("present", "mode", "mount"),
    [
        (("cgroup.controllers",), CgroupMode.UNIFIED, "sys/fs/cgroup"),
        (("unified/cgroup.controllers", "cpu/tasks"), CgroupMode.HYBRID, "sys/fs/cgroup/unified"),
        (("cpu,cpuacct/tasks", "memory/tasks"), CgroupMode.LEGACY, None),
        (("readme",), CgroupMode.NONE, None),
        ((), CgroupMode.NONE, None),
    ],
    ids=["unified", "hybrid", "legacy", "other", "nothing"],
)
def test_hierarchy_of_host_is_where_systemd_mounts_it(
    tmp_path: Path, present: tuple[str, ...], mode: CgroupMode, mount: str | None
) -> None:
    for path in present:
        _touch(tmp_path, path, "cpu io\n")

    found = find_hierarchy(HostRoot(tmp_path))

    assert (found.mode, found.mount, found.problem) == (mode, mount, None)
    assert found.controllers == (("cpu", "io") if mount else ())


def test_hierarchy_that_may_not_be_read_is_a_problem_not_an_end(tmp_path: Path) -> None:
    files = KernelFiles()
    _touch(tmp_path, "cgroup.controllers")
    files.refuse["cgroup.controllers"] = errno.EACCES
    observer = CgroupObserver(HostRoot(tmp_path, files), Observe())

    tree = observer.observe(0, 0)

    assert (tree.mode, tree.mount, tree.samples) == (CgroupMode.NONE, None, ())
    assert tree.unreadable == ("sys/fs/cgroup",)
    assert "EACCES" in observer.problems["sys/fs/cgroup"]
    assert observer.denied
    observer.close()


def test_hierarchy_with_damaged_controllers_names_the_file(tmp_path: Path) -> None:
    _touch(tmp_path, "cgroup.controllers")
    (tmp_path / "sys/fs/cgroup/cgroup.controllers").write_bytes(b"\xff\n")
    observer = CgroupObserver(HostRoot(tmp_path), Observe())

    observer.observe(0, 0)

    assert f"cannot read {tmp_path}/sys/fs/cgroup/cgroup.controllers:" in observer.problems["sys/fs/cgroup"]
    assert not observer.denied
    observer.close()


def test_observe_hybrid_host_gives_what_the_core_files_say_and_no_more(tmp_path: Path) -> None:
    pod = f"kubepods/besteffort/pod{UID}"
    _touch(tmp_path, "unified/cgroup.controllers", "\n")
    _touch(tmp_path, f"unified/{pod}/cpu.stat", "usage_usec 9\nuser_usec 5\nsystem_usec 4\n")
    _touch(tmp_path, f"unified/{pod}/cpu.pressure", pressure_text(3))
    _touch(tmp_path, f"memory/{pod}/memory.usage_in_bytes", "4096\n")
    _touch(tmp_path, "memory/tasks")
    _touch(tmp_path, "memory/kubepods/podonlyv1/tasks")
    observer = CgroupObserver(HostRoot(tmp_path), Observe())

    tree = observer.observe(0, 0)

    (sample,) = [sample for sample in tree.samples if sample.id.pod_uid]
    assert sample.id.path == f"/{pod}"
    assert sample.cpu is not None
    assert (sample.cpu.usage_us, sample.cpu.throttled_us) == (9, None)
    assert sample.cpu_pressure is not None
    assert sample.memory_current_bytes is None
    assert tree.unreadable == ()
    observer.close()


def test_observe_root_of_nothing_is_empty(tmp_path: Path) -> None:
    tree = CgroupObserver(HostRoot(tmp_path / "none"), Observe()).observe(0, 0)

    assert (tree.mode, tree.samples, tree.unreadable) == (CgroupMode.NONE, (), ())
