"""The census of processes outside pods: on this machine's own processes, and on a `/proc` that is written."""

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from fuyaod.cgroups.observe import CensusObserver
from fuyaod.hostfs import HostRoot, OsFiles
from fuyaod.model.process import Census
from fuyaod.model.settings import Observe
from tests.unit.cgroups.trees import ID, UID, KernelFiles

S = 1_000_000_000


class PodFiles(OsFiles):
    """This machine, where the processes of `in_pod` belong to a pod and those of `dead` are gone when asked for."""

    def __init__(self, in_pod: frozenset[int] = frozenset(), dead: frozenset[int] = frozenset()) -> None:
        self.in_pod = in_pod
        self.dead = dead
        self.looked_at: set[int] = set()
        self._groups: set[int] = set()

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:  # type: ignore[override]
        """open(2)."""
        parts = path.split("/")
        pid = int(parts[2]) if parts[1] == "proc" and parts[2].isdigit() else 0
        if path.endswith("/cgroup"):
            self.looked_at.add(pid)
        if pid in self.dead:
            raise ProcessLookupError(3, "No such process")
        fd = os.open(path, flags, mode)
        if pid in self.in_pod and path.endswith("/cgroup"):
            self._groups.add(fd)
        return fd

    def pread(self, fd: int, length: int, offset: int) -> bytes:
        """pread(2)."""
        if fd in self._groups:
            return b"0::/kubepods/burstable/pod1/" + b"ab" * 32 + b"\n" if offset == 0 else b""
        return os.pread(fd, length, offset)

    def close(self, fd: int) -> None:
        """close(2)."""
        self._groups.discard(fd)
        os.close(fd)


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A child that only waits with 64 MiB of memory, and a secret on its command line."""
    code = "import sys; held = bytes(range(256)) * (1 << 18); print(flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", code, "--password=hunter2"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        yield child


def test_census_counts_this_machine_and_reads_no_command_line(sleeper: subprocess.Popen[bytes]) -> None:
    observer = CensusObserver(HostRoot("/"), Observe(census_chunk=10_000, census_top=200))

    census = observer.step(7)

    assert census is not None
    assert census.at_ns == 7
    assert census.processes >= 2
    assert census.threads >= census.processes
    assert census.rss_bytes > 1 << 20
    assert len(census.top) <= 200
    assert "hunter2" not in repr(census)


def test_census_in_chunks_gives_last_complete_sweep_only() -> None:
    observer = CensusObserver(HostRoot("/"), Observe(census_chunk=10, census_interval_s=5))
    steps = 0

    while (census := observer.step(steps)) is None:
        steps += 1
        assert steps < 10_000

    assert census.at_ns == steps
    assert steps >= (census.processes + census.in_pods) // 10 - 1
    assert observer.step(steps + 1) is census  # the next sweep is not due


def test_census_is_taken_again_after_the_interval() -> None:
    observer = CensusObserver(HostRoot("/"), Observe(census_chunk=10_000, census_interval_s=30))

    first = observer.step(0)
    early = observer.step(30 * S - 1)
    later = observer.step(30 * S)

    assert early is first
    assert later is not None
    assert later.at_ns == 30 * S


def test_census_counts_processes_in_pods_without_looking_at_them(sleeper: subprocess.Popen[bytes]) -> None:
    files = PodFiles(in_pod=frozenset({sleeper.pid, os.getpid()}))
    observer = CensusObserver(HostRoot("/", files), Observe(census_chunk=10_000, census_top=200))

    census = observer.step(0)

    assert census is not None
    assert census.in_pods == 2
    assert not {process.pid for process in census.top} & {sleeper.pid, os.getpid()}


def test_census_of_process_that_dies_meanwhile_goes_on(sleeper: subprocess.Popen[bytes]) -> None:
    files = PodFiles(dead=frozenset({sleeper.pid}))
    observer = CensusObserver(HostRoot("/", files), Observe(census_chunk=10_000, census_top=200))

    census = observer.step(0)

    assert sleeper.pid in files.looked_at
    assert census is not None
    assert sleeper.pid not in {process.pid for process in census.top}


def test_census_of_zombie_is_a_value() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    observer = CensusObserver(HostRoot("/"), Observe(census_chunk=10_000))

    census = observer.step(0)

    assert census is not None
    assert child.wait(10) == 0


def test_census_top_is_who_used_cpu_since_the_sweep_before_then_who_has_memory(
    sleeper: subprocess.Popen[bytes],
) -> None:
    observer = CensusObserver(HostRoot("/"), Observe(census_chunk=10_000, census_top=200))
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        first = observer.step(0)
        used = psutil.Process(busy.pid)
        before = sum(used.cpu_times()[:2])
        while sum(used.cpu_times()[:2]) < before + 0.1:
            pass
        second = observer.step(60 * S)
        busy.kill()

    assert first is not None
    assert second is not None
    by_memory = [process.pid for process in first.top]
    by_cpu = [process.pid for process in second.top]
    assert by_memory.index(sleeper.pid) < by_memory.index(busy.pid)
    assert by_cpu.index(busy.pid) < by_cpu.index(sleeper.pid)


def test_census_of_declared_tree_does_not_speak_of_this_machine(tmp_path: Path) -> None:
    (tmp_path / "proc/1").mkdir(parents=True)

    assert CensusObserver(HostRoot(tmp_path), Observe()).step(0) is None


def test_census_of_host_in_a_container_reads_the_hosts_proc_and_leaves_psutil_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "proc").symlink_to("/proc")
    observer = CensusObserver(HostRoot(tmp_path, OsFiles()), Observe(census_chunk=10_000))

    census = observer.step(0)

    assert census is not None
    assert census.processes >= 1
    assert psutil.PROCFS_PATH == "/proc"


def test_census_numbers_of_a_process_agree_with_psutil(sleeper: subprocess.Popen[bytes]) -> None:
    observer = CensusObserver(HostRoot("/"), Observe(census_chunk=10_000, census_top=200))

    census = observer.step(0)

    assert census is not None
    (found,) = [process for process in census.top if process.pid == sleeper.pid]
    expected = psutil.Process(sleeper.pid)
    cpu = expected.cpu_times()
    assert (found.name, found.threads) == (expected.name()[:15], 1)
    assert found.rss_bytes == pytest.approx(expected.memory_info().rss, rel=0.05)
    assert found.cpu_time_us == pytest.approx((cpu.user + cpu.system) * 1e6, abs=20_000)


class Proc:
    """Some processes below `root`, which claims to be this machine."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "proc"
        boot_id = self.folder / "sys/kernel/random/boot_id"
        boot_id.parent.mkdir(parents=True)
        boot_id.write_bytes(Path("/proc/sys/kernel/random/boot_id").read_bytes())
        self.files = KernelFiles()
        self.observer = CensusObserver(
            HostRoot(root, self.files), Observe(census_chunk=10_000, census_interval_s=10, census_top=2)
        )
        self._sweeps = 0

    def put(
        self,
        pid: int,
        group: str = "0::/system.slice/x.service",
        *,
        ticks: int = 0,
        pages: int = 0,
        born: int = 7,
        flags: int = 0x400000,
        name: bytes = b"x",
        state: bytes = b"S",
    ) -> None:
        """Writes one process. Source: proc_pid_stat(5)."""
        folder = self.folder / str(pid)
        folder.mkdir(exist_ok=True)
        (folder / "cgroup").write_text(f"{group}\n")
        (folder / "stat").write_bytes(
            b"%d (%b) %b 1 %d %d 0 -1 %d 50 60 70 80 %d 1 90 91 20 0 3 0 %d 4096 %d 18446744073709551615 1 1 0\n"
            % (pid, name, state, pid, pid, flags, ticks, born, pages)
        )

    def sweep(self) -> Census | None:
        """The next sweep."""
        self._sweeps += 1
        return self.observer.step(self._sweeps * 10 * S)

    def top(self) -> list[int]:
        """Pids of the next sweep's top."""
        census = self.sweep()
        assert census is not None
        return [process.pid for process in census.top]


@pytest.fixture
def proc(tmp_path: Path) -> Proc:
    """A host without processes."""
    return Proc(tmp_path)


def test_census_of_first_sweep_does_not_count_cpu_time_since_birth(proc: Proc) -> None:
    proc.put(10, ticks=10_000, pages=1)
    proc.put(11, ticks=1, pages=2)

    assert proc.top() == [11, 10]


def test_census_of_later_sweep_counts_cpu_time_since_the_one_before(proc: Proc) -> None:
    proc.put(10, ticks=10_000, pages=2)
    proc.put(11, ticks=1, pages=1)
    proc.sweep()
    proc.put(11, ticks=2, pages=1)

    assert proc.top() == [11, 10]


def test_census_of_process_with_the_pid_of_a_dead_one_counts_all_its_cpu_time(proc: Proc) -> None:
    proc.put(10, ticks=100, pages=1)
    proc.put(11, ticks=100, pages=1)
    proc.sweep()
    proc.put(10, ticks=130, pages=1)
    proc.put(11, ticks=60, pages=1, born=8)

    assert proc.top() == [11, 10]


def test_census_after_a_sweep_of_nothing_outside_pods_counts_all_cpu_time_of_the_new(proc: Proc) -> None:
    proc.put(9, f"0::/kubepods/pod{UID}/{ID}")
    proc.sweep()
    proc.put(10, ticks=9, pages=1)
    proc.put(11, ticks=1, pages=2)

    assert proc.top() == [10, 11]


def test_census_of_kernel_threads_counts_them_and_shows_the_busy(proc: Proc) -> None:
    proc.put(2, "0::/", flags=0x208040, ticks=500)
    proc.put(3, "0::/", flags=0x208040, ticks=500)
    first = proc.sweep()
    proc.put(3, "0::/", flags=0x208040, ticks=501)
    second = proc.sweep()

    assert first is not None
    assert second is not None
    assert (first.processes, first.threads, first.top) == (2, 6, ())
    assert [process.pid for process in second.top] == [3]


def test_census_of_zombie_has_no_memory(proc: Proc) -> None:
    proc.put(10, state=b"Z", ticks=5)

    census = proc.sweep()

    assert census is not None
    (process,) = census.top
    assert (process.rss_bytes, process.cpu_time_us) == (0, 6 * 1_000_000 // os.sysconf("SC_CLK_TCK"))


@pytest.mark.parametrize("name", [b"a) R 1 2 (b", b"(sd-pam)", b"two\nlines", b"\xff", b""])
def test_census_of_process_with_any_name_reads_the_numbers_behind_it(proc: Proc, name: bytes) -> None:
    proc.put(10, name=name, pages=3)

    census = proc.sweep()

    assert census is not None
    assert census.top[0].name == name.decode(errors="replace")
    assert census.rss_bytes == 3 * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("file", ["cgroup", "stat"])
@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO, errno.ESRCH])
def test_census_of_process_that_cannot_be_read_goes_on(proc: Proc, file: str, number: int) -> None:
    proc.put(10)
    proc.put(11)
    proc.files.refuse[f"proc/10/{file}"] = number

    census = proc.sweep()

    assert census is not None
    assert 11 in {process.pid for process in census.top}


def test_census_of_stat_that_makes_no_sense_leaves_the_process_out(proc: Proc) -> None:
    proc.put(10)
    proc.put(11)
    (proc.folder / "10/stat").write_text("10 (x) S 1 2\n")

    assert proc.top() == [11]


def test_census_without_a_proc_to_list_is_none_and_comes_back(proc: Proc, tmp_path: Path) -> None:
    proc.put(10)
    first = proc.sweep()
    proc.folder.rename(tmp_path / "away")
    second = proc.sweep()
    shutil.move(tmp_path / "away", proc.folder)

    assert first is not None
    assert second is None
    assert proc.sweep() is not None


SLICE = "kubepods-burstable-pod" + UID.replace("-", "_") + ".slice"


@pytest.mark.parametrize(
    "pod",
    [
        f"/../../{SLICE}/cri-containerd-{ID}.scope",
        f"/../../../kubepods-besteffort.slice/{SLICE.replace('burstable', 'besteffort')}/crio-{ID}.scope",
        f"/../../../kubelet-{SLICE}/cri-containerd-{ID}.scope",
        f"/../../pod{UID}/{ID}",
        f"/../../pod{'0af9' * 8}/{ID}",
        f"/../../../besteffort/pod{UID}/{ID}",
        f"/../{SLICE}:cri-containerd:{ID}",
    ],
    ids=["slice", "other-level", "kind", "cgroupfs", "static", "cgroupfs-level", "mismatch"],
)
def test_census_from_within_a_pod_knows_the_other_pods_and_its_own(proc: Proc, pod: str) -> None:
    proc.put(1, "0::/../../../../init.scope")
    proc.put(2, "0::/../../../..")
    proc.put(20, f"0::{pod}")
    proc.put(30, "0::/")
    proc.put(31, f"0::/../cri-containerd-{ID}.scope")

    census = proc.sweep()

    assert census is not None
    assert (census.processes, census.in_pods) == (2, 3)
    assert {process.pid for process in census.top} == {1, 2}


@pytest.mark.parametrize("top", ["kubepods.slice/kubepods-burstable.slice/" + SLICE, f"kubepods/burstable/pod{UID}"])
def test_census_from_within_a_container_that_is_in_no_pod_counts_it(proc: Proc, top: str) -> None:
    proc.put(1, "0::/../../init.scope")
    proc.put(20, f"0::/../../{top}/{ID}")
    proc.put(30, "0::/")

    census = proc.sweep()

    assert census is not None
    assert (census.processes, census.in_pods) == (2, 1)


def test_census_from_within_a_container_that_may_be_in_a_pod_is_none(proc: Proc) -> None:
    proc.put(1, "0::/../../../../init.scope")
    proc.put(30, "0::/")
    proc.put(31, f"0::/../cri-containerd-{ID}.scope")

    assert proc.sweep() is None


def test_census_of_hybrid_host_finds_the_pod_in_any_hierarchy(proc: Proc) -> None:
    proc.put(20, f"9:rdma:/\n4:memory:/kubepods/burstable/pod{UID}/{ID}\n0::/")
    proc.put(30, "9:rdma:/\n4:memory:/system.slice\n0::/system.slice/x.service")

    census = proc.sweep()

    assert census is not None
    assert census.in_pods == 1
    assert [process.cgroup_path for process in census.top] == ["/system.slice/x.service"]
