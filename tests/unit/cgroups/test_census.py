"""The census of processes outside pods, on this machine's own processes."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from fuyaod.cgroups.observe import CensusObserver, use_proc_of
from fuyaod.hostfs import HostRoot, OsFiles
from fuyaod.model.settings import Observe

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
    observer = CensusObserver(HostRoot(tmp_path), Observe())

    assert not observer.is_possible
    assert observer.step(0) is None


def test_census_of_host_in_a_container_reads_the_hosts_proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "proc").symlink_to("/proc")
    monkeypatch.setattr(psutil, "PROCFS_PATH", "/proc")  # put back afterwards
    use_proc_of(HostRoot(tmp_path))
    observer = CensusObserver(HostRoot(tmp_path, OsFiles()), Observe(census_chunk=10_000))

    census = observer.step(0)

    assert census is not None
    assert census.processes >= 1
    assert not CensusObserver(HostRoot("/"), Observe()).is_possible
