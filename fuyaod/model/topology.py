"""CPUs, caches, NUMA nodes and their memory."""

from __future__ import annotations

import enum

from fuyaod.model.cpuset import CpuSet
from fuyaod.model.values import Value


class Cpu(Value, frozen=True, kw_only=True):
    """One logical CPU. Ids are the kernel's and unique only within the package; None where the kernel does not say
    (offline CPUs).

    `cluster_id` is the group below the die that shares an L2 or, on Kunpeng, the L3 tag (kernel >= 5.16; -1 there
    means None here).
    """

    cpu: int
    online: bool
    package_id: int | None
    die_id: int | None
    cluster_id: int | None
    core_id: int | None
    numa_node: int | None
    smt_siblings: CpuSet
    max_freq_khz: int | None


class CacheType(enum.Enum):
    """Source: Linux Documentation/ABI/testing/sysfs-devices-system-cpu, cache/index*/type."""

    UNIFIED = "Unified"
    DATA = "Data"
    INSTRUCTION = "Instruction"


class CacheDomain(Value, frozen=True, kw_only=True):
    """One cache of level 2 or 3 and the CPUs behind it. `cache_id` is the id that resctrl uses; None where the kernel
    gives none."""

    level: int
    type: CacheType
    cache_id: int | None
    cpus: CpuSet
    size_bytes: int | None


class CpuTopology(Value, frozen=True, kw_only=True):
    """All CPUs of the host. `isolated` and `nohz_full` come from the kernel command line, not from cpuset
    partitions."""

    possible: CpuSet
    present: CpuSet
    online: CpuSet
    offline: CpuSet
    isolated: CpuSet
    nohz_full: CpuSet
    smt_active: bool | None
    cpus: tuple[Cpu, ...]
    caches: tuple[CacheDomain, ...]

    def cores(self) -> tuple[CpuSet, ...]:
        """Physical cores as sets of their online hardware threads, lowest CPU first."""
        seen: dict[CpuSet, None] = {}
        for cpu in self.cpus:
            if cpu.online:
                seen.setdefault(cpu.smt_siblings & self.online)
        return tuple(seen)

    def caches_of(self, level: int) -> tuple[CacheDomain, ...]:
        """Data or unified caches of one level, in order of their lowest CPU."""
        return tuple(c for c in self.caches if c.level == level and c.type is not CacheType.INSTRUCTION)


class MemoryKind(enum.Enum):
    """What stands behind a node's memory; UNKNOWN where no kernel file tells."""

    DRAM = "dram"
    HBM = "hbm"
    CXL = "cxl"
    NONE = "none"
    UNKNOWN = "unknown"


class Hugepages(Value, frozen=True, kw_only=True):
    """Hugepages of one size on one node (pages, not bytes)."""

    size_bytes: int
    total: int
    free: int
    surplus: int


class NumaNode(Value, frozen=True, kw_only=True):
    """One NUMA node as it was built. `distances[i]` is the cost towards the i-th online node, 10 being local."""

    node: int
    cpus: CpuSet
    distances: tuple[int, ...]
    memory_kind: MemoryKind


class NodeMemory(Value, frozen=True, kw_only=True):
    """Memory of one NUMA node now, in bytes."""

    node: int
    total_bytes: int
    free_bytes: int
    file_bytes: int
    anon_bytes: int
    hugepages: tuple[Hugepages, ...]


class SystemMemory(Value, frozen=True, kw_only=True):
    """`/proc/meminfo`, in bytes. `available_bytes` is the kernel's estimate of what can be taken without swapping."""

    total_bytes: int
    free_bytes: int
    available_bytes: int
    cached_bytes: int
    swap_total_bytes: int
    swap_free_bytes: int


class CpuTime(Value, frozen=True, kw_only=True):
    """First line of `/proc/stat` in microseconds since boot, summed over all CPUs. `guest` is already part of
    `user`."""

    user_us: int
    nice_us: int
    system_us: int
    idle_us: int
    iowait_us: int
    irq_us: int
    softirq_us: int
    steal_us: int

    @property
    def busy_us(self) -> int:
        """All but idle and iowait."""
        return self.user_us + self.nice_us + self.system_us + self.irq_us + self.softirq_us + self.steal_us

    @property
    def total_us(self) -> int:
        """All time."""
        return self.busy_us + self.idle_us + self.iowait_us
