"""What one control group looked like at one moment. Source of all fields: Linux
Documentation/admin-guide/cgroup-v2.rst."""

from __future__ import annotations

import enum

from fuyaod.model.pressure import Pressure
from fuyaod.model.values import Value


class CgroupMode(enum.Enum):
    """Which hierarchy the host gives us. HYBRID: controllers on v1, a bare v2 tree beside them (freeze, pressure and
    cpu usage only)."""

    UNIFIED = "unified"
    HYBRID = "hybrid"
    LEGACY = "legacy"
    NONE = "none"


class CgroupDriver(enum.Enum):
    """How kubelet names its groups."""

    CGROUPFS = "cgroupfs"
    SYSTEMD = "systemd"


class CgroupKind(enum.Enum):
    """What a group stands for. SLICE: an inner node that holds pods or services (kubepods, system.slice)."""

    POD = "pod"
    CONTAINER = "container"
    SERVICE = "service"
    SLICE = "slice"


class KubeQos(enum.Enum):
    """Kubernetes' own QoS class of a pod, which decides where kubelet puts its group."""

    GUARANTEED = "Guaranteed"
    BURSTABLE = "Burstable"
    BEST_EFFORT = "BestEffort"


class CgroupId(Value, frozen=True, kw_only=True):
    """A group and what its path says about it.

    `path` starts with "/" and is relative to the cgroup v2 mount. `inode` tells a group from a later one of the same
    name. `pod_uid` is as the API writes it (dashes restored under the systemd driver). `runtime` is `containerd`,
    `cri-o` or `docker` where the name says so.
    """

    path: str
    inode: int
    kind: CgroupKind
    pod_uid: str | None = None
    kube_qos: KubeQos | None = None
    container_id: str | None = None
    runtime: str | None = None
    unit: str | None = None
    driver: CgroupDriver | None = None


class CpuStat(Value, frozen=True, kw_only=True):
    """`cpu.stat`, in microseconds; the throttling part is None without the cpu controller."""

    usage_us: int
    user_us: int
    system_us: int
    periods: int | None
    throttled_periods: int | None
    throttled_us: int | None


class MemoryStat(Value, frozen=True, kw_only=True):
    """The part of `memory.stat` that decisions use, in bytes and events."""

    anon_bytes: int
    file_bytes: int
    inactive_file_bytes: int
    shmem_bytes: int
    pgmajfault: int


class MemoryEvents(Value, frozen=True, kw_only=True):
    """`memory.events`, counts since the group was made."""

    low: int
    high: int
    max: int
    oom: int
    oom_kill: int


class IoStat(Value, frozen=True, kw_only=True):
    """`io.stat` summed over devices."""

    read_bytes: int
    written_bytes: int
    reads: int
    writes: int


class CgroupSlow(Value, frozen=True, kw_only=True):
    """What changes slowly and is read every fifth tick. Each is None where the kernel has no such file."""

    memory_stat: MemoryStat | None
    memory_events: MemoryEvents | None
    memory_pressure: Pressure | None
    io_stat: IoStat | None
    io_pressure: Pressure | None
    pids_current: int | None


class CgroupSample(Value, frozen=True, kw_only=True):
    """One group at one moment.

    `gone` marks a group that vanished while it was read: what was read before stays, the rest is None, and the next
    snapshot does not have it any more. `slow_at_ns` is when `slow` was read (monotonic nanoseconds).
    """

    id: CgroupId
    cpu: CpuStat | None
    cpu_pressure: Pressure | None
    memory_current_bytes: int | None
    slow: CgroupSlow | None
    slow_at_ns: int
    gone: bool = False

    @property
    def working_set_bytes(self) -> int | None:
        """Memory that cannot be reclaimed at once: current less inactive file pages, as kubelet and cAdvisor count
        it."""
        if self.memory_current_bytes is None or self.slow is None or self.slow.memory_stat is None:
            return None
        return max(0, self.memory_current_bytes - self.slow.memory_stat.inactive_file_bytes)


class CgroupTree(Value, frozen=True, kw_only=True):
    """The groups of pods, containers, services and the slices above them, parents before children.

    `mount` is where the v2 hierarchy is, relative to the host root, None without one. `controllers` are those of its
    root. `unreadable` names files that are there and gave no value, `unreadable_more` counts those beyond the ones
    named. `left_out` counts groups beyond the limit (what is below them is not counted).
    """

    mode: CgroupMode
    mount: str | None
    controllers: tuple[str, ...]
    samples: tuple[CgroupSample, ...]
    kept_descriptors: int
    unreadable: tuple[str, ...] = ()
    unreadable_more: int = 0
    left_out: int = 0
