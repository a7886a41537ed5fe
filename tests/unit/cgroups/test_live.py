"""Against this machine's own cgroup v2 core files, in a group of our own."""

import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fuyaod.cgroups.observe import CgroupObserver
from fuyaod.hostfs import HostRoot
from fuyaod.model.cgroup import CgroupMode, CgroupSample
from fuyaod.model.settings import Observe
from tests.unit.cgroups.trees import ID, UID

MOUNTS = {CgroupMode.UNIFIED: "/sys/fs/cgroup", CgroupMode.HYBRID: "/sys/fs/cgroup/unified"}

pytestmark = pytest.mark.live


def _remove(folder: Path) -> None:
    """Ends what runs in a group and removes it with all below it."""
    for below, _, _ in os.walk(folder, topdown=False):
        deadline = time.monotonic() + 10
        while os.path.isdir(below):
            try:
                os.rmdir(below)
            except OSError:
                for pid in (Path(below) / "cgroup.procs").read_text().split():
                    os.kill(int(pid), 9)
                if time.monotonic() > deadline:
                    raise


@pytest.fixture
def own() -> Iterator[Path]:
    """A group with a random name, removed afterwards."""
    mounts = [mount for mount in MOUNTS.values() if os.path.exists(f"{mount}/cgroup.controllers")]
    if os.geteuid() != 0 or not mounts or not os.access(mounts[0], os.W_OK):
        pytest.skip("needs root and a writable cgroup v2 mount")
    folder = Path(mounts[0]) / f"fuyaod-test-{secrets.token_hex(6)}"
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"cannot make {folder}: {error}")
    yield folder
    _remove(folder)


@pytest.fixture
def observer(own: Path) -> Iterator[CgroupObserver]:
    """An observer of this machine."""
    made = CgroupObserver(HostRoot("/"), Observe())
    yield made
    made.close()


def _ours(observer: CgroupObserver, own: Path, tick: int) -> dict[str, CgroupSample]:
    prefix = f"/{own.name}/"
    samples = observer.observe(time.monotonic_ns(), tick).samples
    return {s.id.path.removeprefix(prefix): s for s in samples if s.id.path.startswith(prefix)}


def test_live_pod_appears_uses_cpu_and_is_gone_once(observer: CgroupObserver, own: Path) -> None:
    _ours(observer, own, 0)
    box = own / f"kubepods/pod{UID}/{ID}"
    box.mkdir(parents=True)
    born = _ours(observer, own, 30)  # whole period of the audit: nothing observed was in this group before
    for tick in range(31, 61):
        born = born or _ours(observer, own, tick)
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        (box / "cgroup.procs").write_text(str(busy.pid))
        path = f"kubepods/pod{UID}/{ID}"
        before = born[path].cpu
        deadline = time.monotonic() + 20
        while True:
            now = _ours(observer, own, 61)[path]
            assert now.cpu is not None
            assert before is not None
            if now.cpu.usage_us > before.usage_us + 20_000:
                break
            assert time.monotonic() < deadline
        busy.kill()
    pod = own / f"kubepods/pod{UID}"
    _remove(pod)
    ended = _ours(observer, own, 62)
    after = _ours(observer, own, 63)

    assert list(born) == ["kubepods", f"kubepods/pod{UID}", path]
    assert now.cpu_pressure is not None
    assert now.slow is not None
    assert now.slow.io_pressure is not None
    assert {name: sample.gone for name, sample in ended.items()} == {
        "kubepods": False,
        f"kubepods/pod{UID}": True,
        path: True,
    }
    assert list(after) == ["kubepods"]


def test_live_container_replaced_between_ticks_is_seen_at_once(observer: CgroupObserver, own: Path) -> None:
    pod = own / f"kubepods/pod{UID}"
    (pod / ID).mkdir(parents=True)
    first = _ours(observer, own, 0)
    (pod / ID).rmdir()
    (pod / ID).mkdir()  # the same link count and, on cgroupfs, the same modification time

    samples = observer.observe(0, 1).samples

    ours = [sample for sample in samples if sample.id.path.endswith(f"{UID}/{ID}") and own.name in sample.id.path]
    assert [sample.gone for sample in ours] == [True, False]
    assert ours[0].id == first[f"kubepods/pod{UID}/{ID}"].id
    assert ours[1].id.inode != ours[0].id.inode


def test_live_pressure_switched_off_for_a_group_is_none_and_it_stays(observer: CgroupObserver, own: Path) -> None:
    pod = own / f"kubepods/pod{UID}"
    pod.mkdir(parents=True)
    switch = pod / "cgroup.pressure"
    if not switch.exists():
        pytest.skip("kernel before 6.1: no cgroup.pressure")
    before = _ours(observer, own, 0)[f"kubepods/pod{UID}"]
    switch.write_text("0")
    off = _ours(observer, own, 1)[f"kubepods/pod{UID}"]
    switch.write_text("1")
    again = [_ours(observer, own, tick)[f"kubepods/pod{UID}"] for tick in range(2, 32)]

    assert before.cpu_pressure is not None
    assert (off.cpu_pressure, off.gone) == (None, False)
    assert again[-1].cpu_pressure is not None
