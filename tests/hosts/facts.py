"""What a correct snapshot of a declared host must say. Worked out from the declaration alone."""

from __future__ import annotations

import msgspec


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """Base of the expected values."""


class CpuFact(Fact, frozen=True, kw_only=True):
    """One present CPU. All but `cpu`, `online` and `node` are None (or empty) for an offline one, whose topology
    folder the kernel removes. `cluster_id` and `die_id` are None where the kernel has no file or says -1."""

    cpu: int
    online: bool
    node: int | None
    package_id: int | None = None
    die_id: int | None = None
    core_id: int | None = None
    cluster_id: int | None = None
    siblings: tuple[int, ...] = ()
    cluster_cpus: tuple[int, ...] | None = None
    die_cpus: tuple[int, ...] | None = None
    package_cpus: tuple[int, ...] = ()
    max_khz: int | None = None


class CacheFact(Fact, frozen=True, kw_only=True):
    """One cache and the online CPUs behind it; `type` is Data, Instruction or Unified."""

    level: int
    type: str
    id: int | None
    cpus: tuple[int, ...]
    size_kib: int


class HugeFact(Fact, frozen=True, kw_only=True):
    """Hugepages of one size on one node, in pages."""

    size_kib: int
    total: int
    free: int
    surplus: int


class NodeFact(Fact, frozen=True, kw_only=True):
    """One NUMA node: online CPUs, distances to all online nodes in order, memory in KiB. `kind` is dram, hbm, cxl or
    none, and unknown where no file of this kernel tells."""

    node: int
    cpus: tuple[int, ...]
    distances: tuple[int, ...]
    kind: str
    total_kib: int
    free_kib: int
    file_kib: int
    anon_kib: int
    hugepages: tuple[HugeFact, ...]


class DeviceFact(Fact, frozen=True, kw_only=True):
    """A PCI device; `node` None where the file says -1, speeds None for "Unknown". `path`: bridges, then itself not."""

    bdf: str
    type: str
    vendor: int
    device: int
    class_id: int
    node: int | None
    driver: str | None
    path: tuple[str, ...]
    speed_gts: float | None
    width: int | None
    max_speed_gts: float | None
    max_width: int | None
    accelerator: bool


class NicFact(Fact, frozen=True, kw_only=True):
    """A network interface. `carrier` and `speed_mbps` are None where reading gives EINVAL (down) or says -1."""

    name: str
    bdf: str | None
    node: int | None
    driver: str | None
    operstate: str
    carrier: bool | None
    speed_mbps: int | None
    mtu: int
    counters: dict[str, int]


class ContainerFact(Fact, frozen=True, kw_only=True):
    """A container's group. `sandbox` marks the pause container, which the API does not list."""

    name: str
    id: str
    path: str
    sandbox: bool
    cpus: tuple[int, ...] | None = None
    children: tuple[str, ...] = ()


class PodFact(Fact, frozen=True, kw_only=True):
    """A pod. `cgroup_uid` differs from `uid` for static pods (the config hash). `qos_class` is what its labels mean:
    HLS, LS, BE or None (no label, or an unknown value)."""

    namespace: str
    name: str
    uid: str
    cgroup_uid: str
    static: bool
    kube_qos: str
    qos_class: str | None
    labels: dict[str, str]
    annotations: dict[str, str]
    path: str
    containers: tuple[ContainerFact, ...]


class ServiceFact(Fact, frozen=True, kw_only=True):
    """A systemd unit with a group of its own, and the process in it."""

    unit: str
    path: str
    pid: int
    comm: str
    threads: int


class ProcessFact(Fact, frozen=True, kw_only=True):
    """A process of /proc. `cpu_us` is user and system time, `rss_kib` counts pages of 4 KiB."""

    pid: int
    comm: str
    path: str
    threads: int
    cpu_us: int
    rss_kib: int
    in_pod: bool


class GroupFact(Fact, frozen=True, kw_only=True):
    """One control group: its path from the cgroup root (`/` itself included), controllers with files in it, and those
    it hands down. `kind`: root, slice, service, scope, pod, container, inner, conmon."""

    path: str
    kind: str
    controllers: tuple[str, ...]
    handed_down: tuple[str, ...]
    pids: tuple[int, ...]
    threads: int
    cpus: tuple[int, ...] | None = None
    leaf: bool = True
