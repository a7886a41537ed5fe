"""The census: which processes run outside pods, and which of them use most."""

from __future__ import annotations

import heapq
from typing import Final, NamedTuple

import psutil

from fuyaod.cgroups.observe.paths import is_in_pod
from fuyaod.errors import FuyaodError
from fuyaod.hostfs import HostRoot
from fuyaod.model.process import Census, Process
from fuyaod.model.settings import Observe

NS_PER_S: Final = 1_000_000_000
MAX_CGROUP_BYTES: Final = 65_536
MAX_COMM_BYTES: Final = 64
"""TASK_COMM_LEN is 16; kernel threads may show up to 64. Source: Linux fs/proc/array.c, proc_task_name()."""


class _Seen(NamedTuple):
    process: Process
    born_s: float


def use_proc_of(host: HostRoot) -> None:
    """Points psutil at the host's `/proc` for the whole process: for an agent in a container with the host in `/host`.

    Not for a declared tree or a capture: those are no processes.
    """
    psutil.PROCFS_PATH = host.absolute("proc")


class CensusObserver:
    """Looks at some processes per call, so that no tick is long.

    Names, CPU time, memory, threads and groups are read; command lines, users and environments are not. Processes in
    pods are counted only. psutil reads one machine's `/proc`, so there is no census of a declared tree: the root must
    be `/`, or the caller says with `use_proc_of` that the root is this machine too (`/host` in a container).

    Args:
        host: the host whose processes these are.
        settings: `census_interval_s`, `census_chunk` and `census_top` are used.
    """

    def __init__(self, host: HostRoot, settings: Observe) -> None:
        self._host = host
        self.settings = settings
        self._last: Census | None = None
        self._next_at_ns: int | None = None
        self._todo: list[int] = []
        self._sweeping = False
        self._seen: list[_Seen] = []
        self._in_pods = 0
        self._cpu_before: dict[tuple[int, float], int] = {}

    @property
    def is_possible(self) -> bool:
        """Whether psutil speaks of the same host as the root."""
        return bool(self._host.absolute("proc") == psutil.PROCFS_PATH)

    def step(self, at_ns: int) -> Census | None:
        """Looks at the next `census_chunk` processes when a sweep is due. Never raises.

        Returns the last complete sweep, None before the first is complete and where no census is possible.
        """
        if not self.is_possible:
            return None
        if not self._sweeping:
            if self._next_at_ns is not None and at_ns < self._next_at_ns:
                return self._last
            self._begin(at_ns)
        for _ in range(min(self.settings.census_chunk, len(self._todo))):
            self._look_at(self._todo.pop())
        if not self._todo:
            self._finish(at_ns)
        return self._last

    def _begin(self, at_ns: int) -> None:
        self._next_at_ns = at_ns + self.settings.census_interval_s * NS_PER_S
        self._seen, self._in_pods = [], 0
        self._sweeping = True
        try:
            self._todo = sorted(psutil.pids(), reverse=True)
        except OSError:
            self._todo = []

    def _look_at(self, pid: int) -> None:
        group = self._group_of(pid)
        if group is not None and is_in_pod(group):
            self._in_pods += 1
            return
        try:
            self._seen.append(self._read(pid, group))
        except (psutil.Error, FuyaodError, OSError):  # died meanwhile, or is not ours to look at
            return

    def _read(self, pid: int, group: str | None) -> _Seen:
        found = psutil.Process(pid)
        with found.oneshot():
            cpu = found.cpu_times()
            process = Process(
                pid=pid,
                name=self._name_of(pid),
                cgroup_path=group,
                cpu_time_us=round((cpu.user + cpu.system) * 1_000_000),
                rss_bytes=found.memory_info().rss,
                threads=found.num_threads(),
            )
            return _Seen(process, found.create_time())

    def _group_of(self, pid: int) -> str | None:
        """The process's v2 group; in a hybrid host's pod, the v1 group that names the pod."""
        try:
            raw = self._host.read(f"proc/{pid}/cgroup", MAX_CGROUP_BYTES)
        except FuyaodError:  # ESRCH: died while it was read
            return None
        lines = () if raw is None else raw.decode(errors="replace").splitlines()
        paths = {line.split(":", 2)[0]: line.split(":", 2)[-1] for line in lines}
        return next((path for path in paths.values() if is_in_pod(path)), paths.get("0"))

    def _name_of(self, pid: int) -> str:
        """The kernel's short name; psutil's would read the command line to complete it."""
        name = self._host.read(f"proc/{pid}/comm", MAX_COMM_BYTES)
        if name is None:
            raise psutil.NoSuchProcess(pid)
        return name.decode(errors="replace").strip()  # a process names itself, in any bytes

    def _finish(self, at_ns: int) -> None:
        gained = {(seen.process.pid, seen.born_s): self._gained_us(seen) for seen in self._seen}
        top = heapq.nlargest(
            self.settings.census_top,
            self._seen,
            key=lambda seen: (gained[seen.process.pid, seen.born_s], seen.process.rss_bytes),
        )
        self._last = Census(
            at_ns=at_ns,
            processes=len(self._seen),
            threads=sum(seen.process.threads for seen in self._seen),
            rss_bytes=sum(seen.process.rss_bytes for seen in self._seen),
            in_pods=self._in_pods,
            top=tuple(seen.process for seen in top),
        )
        self._cpu_before = {(seen.process.pid, seen.born_s): seen.process.cpu_time_us for seen in self._seen}
        self._seen, self._sweeping = [], False

    def _gained_us(self, seen: _Seen) -> int:
        """CPU time since the sweep before; all of it for a process that was born since, nothing on the first sweep."""
        if not self._cpu_before:
            return 0
        return seen.process.cpu_time_us - self._cpu_before.get((seen.process.pid, seen.born_s), 0)
