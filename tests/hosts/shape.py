"""The types of a host declaration: what `*.toml` may say. Unknown keys are refused."""

from __future__ import annotations

import enum
import functools
import tomllib
from pathlib import Path

import msgspec

FOLDER = Path(__file__).parent


class Arch(enum.Enum):
    """Machine type, as `uname -m` says it."""

    ARM64 = "aarch64"
    X86 = "x86_64"


class Layout(enum.Enum):
    """Where cgroups are. UNIFIED: v2 at /sys/fs/cgroup. HYBRID: v1 controllers there, a bare v2 tree in `unified`.
    LEGACY: v1 only."""

    UNIFIED = "unified"
    HYBRID = "hybrid"
    LEGACY = "legacy"


class Psi(enum.Enum):
    """State of pressure stall information.

    OFF: compiled in, disabled at boot: no /proc/pressure, cgroup files answer EOPNOTSUPP.
    REFUSED: the same, but /proc/pressure exists and answers EOPNOTSUPP too (kernels before 5.10).
    ABSENT: not compiled in, no file anywhere.
    """

    ON = "on"
    OFF = "off"
    REFUSED = "refused"
    ABSENT = "absent"


class Cores(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A run of like cores, repeated for each die of each package.

    `l2_cores`, `l3_cores` and `cluster_cores` say how many neighbouring cores share one; 0 L3 cores mean one for the
    package, None means there is none. `cluster_cores` is what firmware tells on arm64 (x86 derives it from L2).
    """

    packages: tuple[int, ...] = (0,)
    dies: int = 1
    cores: int
    threads: int = 1
    cluster_cores: int | None = None
    l2_cores: int = 1
    l3_cores: int | None = 0
    l1_kib: int = 64
    l2_kib: int = 512
    l3_kib: int = 32768
    max_khz: int | None = None
    min_khz: int = 200_000
    capacity: int | None = None


class Cpu(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All CPUs. `smt_last`: second threads are numbered after all first ones (most servers), else side by side.

    `possible` beyond the declared cores are empty sockets. `caches` off: the hypervisor tells of none.
    `lean` leaves out the hexadecimal maps (1024 CPUs would need 20 000 more files).
    """

    model: str
    cores: tuple[Cores, ...]
    smt_last: bool = True
    l3_ids: str | None = None
    possible: str | None = None
    offline: str = ""
    isolated: str = ""
    nohz_full: str | None = None
    caches: bool = True
    lean: bool = False
    flags: str = ""
    implementer: int = 0x48
    part: int = 0xD01


class Node(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A NUMA node. `hugepages`: size in KiB → total, free, surplus pages. `kind`: dram, hbm, cxl or none."""

    id: int
    cpus: str = ""
    mem_mib: int
    distances: tuple[int, ...]
    kind: str = "dram"
    hugepages: dict[str, tuple[int, int, int]] = {}
    bandwidth_mibps: int | None = None
    latency_ns: int | None = None


class Device(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A PCI device of a known `type` (see `devices.py`). `behind` are the bridges from the root port down.

    `node` is what the numa_node file says, -1 included. `speed` is None where the link reports "Unknown".
    """

    bdf: str
    type: str
    node: int = -1
    behind: tuple[str, ...] = ()
    speed: str | None = None
    width: int | None = None
    driver: str | None = None


class Nic(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A network interface; `bdf` names its PCI device, None makes it a virtual one."""

    name: str
    bdf: str | None = None
    up: bool = True
    speed: int | None = None
    mtu: int = 1500
    bus: str | None = None


class Resctrl(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A mounted resctrl filesystem; domain ids are those of the L3 caches."""

    closids: int
    cbm_mask: str
    min_cbm_bits: int = 1
    shareable: str = "0"
    mba_gran: int | None = 10
    mba_min: int = 10
    mba_max: int = 100
    rmids: int = 0


class Kubelet(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """kubelet's configuration as its files tell it. `options` are those of the CPU manager policy."""

    cpu_policy: str = "none"
    memory_policy: str = "None"
    topology_policy: str = "none"
    reserved: str = ""
    options: dict[str, str] = {}


class Host(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One machine. `profile` and `driver` are what it runs unless told otherwise; `layout` and `psi` override those of
    the profile, `cmdline` is added to the kernel command line."""

    name: str
    summary: str
    arch: Arch
    profile: str
    driver: str = "systemd-containerd"
    layout: Layout | None = None
    psi: Psi | None = None
    cpu: Cpu
    nodes: tuple[Node, ...]
    devices: tuple[Device, ...] = ()
    nics: tuple[Nic, ...] = ()
    kubelet: Kubelet | None = None
    resctrl: Resctrl | None = None
    npu_driver: str | None = None
    nri: bool = False
    capabilities: str = "000001ffffffffff"
    cmdline: str = ""
    swap_mib: int = 0


@functools.cache
def declare(name: str) -> Host:
    """The host declared in `NAME.toml`. Raises FileNotFoundError, msgspec.ValidationError naming the key."""
    raw = tomllib.loads((FOLDER / f"{name}.toml").read_text())
    return msgspec.convert({"name": name, **raw}, Host)
