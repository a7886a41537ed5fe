"""Control groups and pressure as messages. Pure.

Messages are filled in place: a node has hundreds of groups, and a message given to another one's constructor is copied,
at every level again (14 ms instead of 8 ms for 200 pods of two containers).
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Protocol

from fuyao_api.node.v1 import node_pb2 as pb
from fuyaod.model.cgroup import (
    CgroupId,
    CgroupSample,
    CgroupSlow,
    CgroupTree,
    CpuStat,
    IoStat,
    MemoryEvents,
    MemoryStat,
)
from fuyaod.model.pressure import Pressure, PsiLine, SystemPressure


class _GroupList(Protocol):
    def add(self) -> pb.Cgroup: ...


def enum_name(prefix: str, member: enum.Enum | None) -> str | None:
    """The name of the enum value in the API: `QOS_CLASS` and `QosClass.HLS` give `QOS_CLASS_HLS`; None stays None."""
    return None if member is None else f"{prefix}_{member.name}"


class Groups:
    """The groups of one snapshot by path; remembers which were taken by a pod or service."""

    def __init__(self, tree: CgroupTree) -> None:
        self._samples = {sample.id.path: sample for sample in tree.samples}
        self._taken: set[str] = set()

    def take(self, path: str | None, into: pb.Cgroup) -> None:
        """Fills `into` with the group; leaves it untouched, hence unset in its parent, when it was not observed."""
        if path is None or (sample := self._samples.get(path)) is None:
            return
        self._taken.add(path)
        _fill_group(into, sample)

    def paths_by_container(self, paths: Iterable[str]) -> dict[str, str]:
        """Container id to path, for those of `paths` that were observed; the first path of an id counts."""
        found: dict[str, str] = {}
        for path in paths:
            if (sample := self._samples.get(path)) is not None and sample.id.container_id is not None:
                found.setdefault(sample.id.container_id, path)
        return found

    def take_rest(self, paths: Iterable[str], into: _GroupList) -> None:
        """Adds those of `paths` that were observed and not taken yet."""
        for path in paths:
            if path in self._samples and path not in self._taken:
                self.take(path, into.add())

    def add_not_taken(self, into: _GroupList) -> None:
        """Adds all groups that nobody took, in the tree's order."""
        self.take_rest(self._samples, into)


def system_pressure_message(pressure: SystemPressure) -> pb.SystemPressure:
    """`/proc/pressure/*`."""
    message = pb.SystemPressure()
    for into, one in (
        (message.cpu, pressure.cpu),
        (message.memory, pressure.memory),
        (message.io, pressure.io),
        (message.irq, pressure.irq),
    ):
        if one is not None:
            _fill_pressure(into, one)
    return message


def _fill_pressure(message: pb.Pressure, pressure: Pressure) -> None:
    message.SetInParent()
    if pressure.some is not None:
        _fill_line(message.some, pressure.some)
    if pressure.full is not None:
        _fill_line(message.full, pressure.full)


def _fill_line(message: pb.PressureLine, line: PsiLine) -> None:
    message.SetInParent()
    message.avg10_pct = line.avg10_pct
    message.avg60_pct = line.avg60_pct
    message.avg300_pct = line.avg300_pct
    message.total_us = line.total_us


def _fill_group(message: pb.Cgroup, sample: CgroupSample) -> None:
    _fill_identity(message, sample.id)
    if sample.gone:
        message.gone = True
    if sample.cpu is not None:
        _fill_cpu(message.cpu, sample.cpu)
    if sample.cpu_pressure is not None:
        _fill_pressure(message.cpu_pressure, sample.cpu_pressure)
    if sample.memory_current_bytes is not None:
        message.memory_current_bytes = sample.memory_current_bytes
    if (working_set := sample.working_set_bytes) is not None:
        message.memory_working_set_bytes = working_set
    if sample.slow is not None:
        message.slow_at_monotonic_ns = sample.slow_at_ns
        _fill_slow(message, sample.slow)


def _fill_identity(message: pb.Cgroup, identity: CgroupId) -> None:
    message.MergeFrom(
        pb.Cgroup(
            path=identity.path,
            inode=identity.inode,
            kind=enum_name("CGROUP_KIND", identity.kind),
            pod_uid=identity.pod_uid,
            kube_qos=enum_name("KUBE_QOS", identity.kube_qos),
            container_id=identity.container_id,
            runtime=identity.runtime,
            unit=identity.unit,
            driver=enum_name("CGROUP_DRIVER", identity.driver),
        )
    )


def _fill_cpu(message: pb.CpuUsage, cpu: CpuStat) -> None:
    message.SetInParent()
    message.usage_us = cpu.usage_us
    message.user_us = cpu.user_us
    message.system_us = cpu.system_us
    if cpu.periods is not None:
        message.periods = cpu.periods
    if cpu.throttled_periods is not None:
        message.throttled_periods = cpu.throttled_periods
    if cpu.throttled_us is not None:
        message.throttled_us = cpu.throttled_us


def _fill_slow(message: pb.Cgroup, slow: CgroupSlow) -> None:
    if slow.memory_stat is not None:
        _fill_memory(message.memory, slow.memory_stat)
    if slow.memory_events is not None:
        _fill_events(message.memory_events, slow.memory_events)
    if slow.memory_pressure is not None:
        _fill_pressure(message.memory_pressure, slow.memory_pressure)
    if slow.io_stat is not None:
        _fill_io(message.io, slow.io_stat)
    if slow.io_pressure is not None:
        _fill_pressure(message.io_pressure, slow.io_pressure)
    if slow.pids_current is not None:
        message.pids_current = slow.pids_current


def _fill_memory(message: pb.MemoryUsage, memory: MemoryStat) -> None:
    message.SetInParent()
    message.anon_bytes = memory.anon_bytes
    message.file_bytes = memory.file_bytes
    message.inactive_file_bytes = memory.inactive_file_bytes
    message.shmem_bytes = memory.shmem_bytes
    message.pgmajfault = memory.pgmajfault


def _fill_events(message: pb.MemoryEvents, events: MemoryEvents) -> None:
    message.SetInParent()
    message.low = events.low
    message.high = events.high
    message.max = events.max
    message.oom = events.oom
    message.oom_kill = events.oom_kill


def _fill_io(message: pb.IoUsage, io: IoStat) -> None:
    message.SetInParent()
    message.read_bytes = io.read_bytes
    message.written_bytes = io.written_bytes
    message.reads = io.reads
    message.writes = io.writes
