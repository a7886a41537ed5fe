"""Counters of two snapshots as rates."""

from __future__ import annotations

from fuyaod.model.cgroup import CgroupSample
from fuyaod.model.snapshot import NodeSnapshot
from fuyaod.model.values import Value


class GroupRate(Value, frozen=True, kw_only=True):
    """Use of one group between two snapshots: CPUs in cores, and the share of time in which some of its tasks
    stalled."""

    cpu_cores: float | None
    cpu_stall_pct: float | None


def group_rates(before: NodeSnapshot | None, now: NodeSnapshot) -> dict[str, GroupRate]:
    """Rates by group path. Empty without an earlier snapshot; a group that was made anew in between has none."""
    if before is None or now.at_ns <= before.at_ns:
        return {}
    seconds = (now.at_ns - before.at_ns) / 1e9
    earlier = {(s.id.path, s.id.inode): s for s in before.cgroups.samples}
    found = {}
    for sample in now.cgroups.samples:
        old = earlier.get((sample.id.path, sample.id.inode))
        if old is not None:
            found[sample.id.path] = _rate(old, sample, seconds)
    return found


def cpu_busy_ratio(before: NodeSnapshot | None, now: NodeSnapshot) -> float | None:
    """Share of all CPU time that was not idle between two snapshots, 0 to 1."""
    if before is None or before.cpu_time is None or now.cpu_time is None:
        return None
    total = now.cpu_time.total_us - before.cpu_time.total_us
    return (now.cpu_time.busy_us - before.cpu_time.busy_us) / total if total > 0 else None


def _rate(old: CgroupSample, new: CgroupSample, seconds: float) -> GroupRate:
    cores = stall = None
    if old.cpu is not None and new.cpu is not None:
        cores = max(0, new.cpu.usage_us - old.cpu.usage_us) / 1e6 / seconds
    before = old.cpu_pressure.some if old.cpu_pressure else None
    after = new.cpu_pressure.some if new.cpu_pressure else None
    if before is not None and after is not None:
        stall = min(100.0, max(0, after.total_us - before.total_us) / 1e4 / seconds)
    return GroupRate(cpu_cores=cores, cpu_stall_pct=stall)
