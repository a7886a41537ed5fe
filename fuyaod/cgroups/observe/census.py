"""The census: which processes run outside pods, and which of them use most."""

from __future__ import annotations

import heapq
import os
import re
from typing import Final, NamedTuple

import psutil

from fuyaod.cgroups.observe.paths import is_in_pod, is_in_pod_beside_us
from fuyaod.errors import FuyaodError
from fuyaod.hostfs import HostRoot
from fuyaod.model.process import Census, Process
from fuyaod.model.settings import Observe

NS_PER_S: Final = 1_000_000_000
MAX_BYTES: Final = 65_536
PF_KTHREAD: Final = 0x0020_0000
"""Flag of a kernel thread. Source: Linux include/linux/sched.h."""

_STAT: Final = re.compile(
    rb"\d+ \((.*)\) [A-Za-z] (?:-?\d+ ){5}(\d+) (?:\d+ ){4}(\d{1,14}) (\d{1,14}) (?:-?\d+ ){4}(\d{1,7}) -?\d+ (\d+) "
    rb"\d+ (\d{1,13}) ",
    re.DOTALL,
).match
"""Name (anything, also brackets), flags, utime, stime, threads, start time and resident pages, for proc_pid_stat(5)."""


class _Seen(NamedTuple):
    process: Process
    born_ticks: int
    is_kernel: bool


class CensusObserver:
    """Looks at some processes per call, so that no tick is long.

    Names, CPU time, memory, threads and groups are read; command lines, users and environments are not. Processes in
    pods are counted only. Kernel threads count, and are among the top ones only with CPU time: they have no memory.
    There is no census of a declared tree or a capture: those are no processes.

    Args:
        host: the host whose processes these are.
        settings: `census_interval_s`, `census_chunk` and `census_top` are used.
    """

    def __init__(self, host: HostRoot, settings: Observe) -> None:
        self._host = host
        self.settings = settings
        self._us_per_tick = 1_000_000 // os.sysconf("SC_CLK_TCK")
        self._page_bytes = os.sysconf("SC_PAGE_SIZE")
        self._last: Census | None = None
        self._next_at_ns: int | None = None
        self._todo: list[int] = []
        self._sweeping = False
        self._seen: list[_Seen] = []
        self._in_pods = 0
        self._from_inside = False
        self._beside_us = False
        self._cpu_before: dict[tuple[int, int], int] | None = None

    def step(self, at_ns: int) -> Census | None:
        """Looks at the next `census_chunk` processes when a sweep is due. Never raises.

        Returns the last complete sweep; None before the first is complete, where the root is not this machine, and
        where this process's own control group namespace hides which processes are in pods.
        """
        if not self._sweeping:
            if not self._host.is_this_machine or (self._next_at_ns is not None and at_ns < self._next_at_ns):
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
        self._from_inside = self._beside_us = False
        self._sweeping = True
        self._todo = sorted(self._pids(), reverse=True)

    def _pids(self) -> list[int]:
        """psutil lists the `/proc` that its module names: for this one call the host's, which may be in `/host`."""
        own, psutil.PROCFS_PATH = psutil.PROCFS_PATH, self._host.absolute("proc")
        try:
            return psutil.pids()
        except OSError:
            return []
        finally:
            psutil.PROCFS_PATH = own

    def _look_at(self, pid: int) -> None:
        try:
            group = self._group_of(pid)
            if group is not None and is_in_pod(group):
                self._in_pods += 1
                self._beside_us = self._beside_us or is_in_pod_beside_us(group)
            elif (seen := self._read(pid, group)) is not None:
                self._seen.append(seen)
        except FuyaodError:  # not ours to look at
            return
        self._from_inside = self._from_inside or (group is not None and group.startswith("/.."))

    def _group_of(self, pid: int) -> str | None:
        """The process's v2 group; in a hybrid host's pod, the v1 group that names the pod. None when it died."""
        raw = self._host.read(f"proc/{pid}/cgroup", MAX_BYTES)
        group = far = None
        for line in () if raw is None else raw.decode(errors="replace").splitlines():
            number, _, rest = line.partition(":")
            path = rest.partition(":")[2]
            if is_in_pod(path):
                return path
            if path.startswith("/../.."):
                far = path
            elif number == "0":
                group = path
        return far or group

    def _read(self, pid: int, group: str | None) -> _Seen | None:
        """None when it died meanwhile. A zombie has no memory any more."""
        raw = self._host.read(f"proc/{pid}/stat", MAX_BYTES)
        match = None if raw is None else _STAT(raw)
        if match is None:
            return None
        name, flags, user, system, threads, born, pages = match.groups()
        process = Process(
            pid=pid,
            name=name.decode(errors="replace"),  # a process names itself, in any bytes
            cgroup_path=group,
            cpu_time_us=(int(user) + int(system)) * self._us_per_tick,
            rss_bytes=int(pages) * self._page_bytes,
            threads=int(threads),
        )
        return _Seen(process, int(born), bool(int(flags) & PF_KTHREAD))

    def _finish(self, at_ns: int) -> None:
        """Ends the sweep. Pids are used again: a process is the one of the sweep before if its start time is too."""
        self._sweeping = False
        seen, before = self._outside_pods(), self._cpu_before
        self._cpu_before = {(one.process.pid, one.born_ticks): one.process.cpu_time_us for one in self._seen}
        if seen is None:
            self._last = None
            return

        def gained_us(one: _Seen) -> int:
            """CPU time since the sweep before: all of it for a process born since, nothing on the first sweep."""
            if before is None:
                return 0
            return one.process.cpu_time_us - before.get((one.process.pid, one.born_ticks), 0)

        top = heapq.nlargest(
            self.settings.census_top,
            (one for one in seen if not one.is_kernel or gained_us(one) > 0),
            key=lambda one: (gained_us(one), one.process.rss_bytes),
        )
        self._last = Census(
            at_ns=at_ns,
            processes=len(seen),
            threads=sum(one.process.threads for one in seen),
            rss_bytes=sum(one.process.rss_bytes for one in seen),
            in_pods=self._in_pods + len(self._seen) - len(seen),
            top=tuple(one.process for one in top),
        )
        self._seen = []

    def _outside_pods(self) -> list[_Seen] | None:
        """Those outside pods, None when it cannot be told, or not one process may be looked at.

        In a control group namespace of our own, groups are named from where we are: `/` is our container, `/..` what it
        lies in. Only the others tell whether that is a pod: one that is named without `kubepods` shares it with us.
        """
        if not self._in_pods and (self._from_inside or not self._seen):
            return None
        if not self._beside_us:
            return self._seen
        return [one for one in self._seen if (one.process.cgroup_path or "").startswith("/../..")]
