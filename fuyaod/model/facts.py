"""`HostFacts`: what `doctor` saw of a host, raw enough that a pure function can judge it.

Everywhere None means that the host has no such file (or none was looked for); what could not be read is in
`HostFacts.refused`.
"""

from __future__ import annotations

import enum

from fuyaod.model.cgroup import CgroupMode
from fuyaod.model.cpuset import CpuSet
from fuyaod.model.devices import PciDevice
from fuyaod.model.findings import Finding
from fuyaod.model.topology import Hugepages
from fuyaod.model.values import Value


class Refusal(Value, frozen=True, kw_only=True):
    """A file that is there and could not be read, or made no sense. `path` is as on the host, with its slash.

    `denied`: more rights would help. `text` is the whole message.
    """

    path: str
    text: str
    denied: bool


class KernelFacts(Value, frozen=True, kw_only=True):
    """Kernel and distribution. `hz` and `rt_group_sched` come from the kernel's configuration file, where there is one.

    `systemd_running`: systemd is the init of this host. `cmdline` are the words of the kernel command line.
    """

    release: str | None = None
    machine: str | None = None
    os_id: str | None = None
    os_name: str | None = None
    cmdline: tuple[str, ...] = ()
    hz: int | None = None
    rt_group_sched: bool | None = None
    systemd_running: bool = False
    systemd_version: str | None = None


class CgroupLevel(Value, frozen=True, kw_only=True):
    """A cgroup v2 group that was looked into. `files` are those of the probed names that it has.

    `controllers` may be used in it, `enabled` are passed on to its children (`cgroup.subtree_control`).
    """

    path: str
    controllers: tuple[str, ...] | None = None
    enabled: tuple[str, ...] | None = None
    files: tuple[str, ...] = ()


class CgroupFacts(Value, frozen=True, kw_only=True):
    """The cgroup hierarchies. `mount` is relative to the root, None without v2; `mount_options` None when no mount
    table tells.

    `levels` lead from the root down to the pods' groups (or to `system.slice` without Kubernetes), root first;
    `others` are further groups in which files were probed. `pod_roots` are the groups kubelet made for all pods.
    """

    mode: CgroupMode = CgroupMode.NONE
    mount: str | None = None
    mount_options: tuple[str, ...] | None = None
    v1_controllers: tuple[str, ...] = ()
    v1_qos_level: bool = False
    levels: tuple[CgroupLevel, ...] = ()
    others: tuple[CgroupLevel, ...] = ()
    pod_roots: tuple[str, ...] = ()


class PsiState(enum.Enum):
    """READABLE: gives numbers. ABSENT: no such file. SWITCHED_OFF: the file answers EOPNOTSUPP. REFUSED: no permission
    or garbage."""

    READABLE = "readable"
    ABSENT = "absent"
    SWITCHED_OFF = "switched_off"
    REFUSED = "refused"


class PsiFacts(Value, frozen=True, kw_only=True):
    """Pressure files of the system, and those of one cgroup (`cgroup_path`, None when there was no group to try)."""

    system: dict[str, PsiState] = {}
    cgroup: PsiState = PsiState.ABSENT
    cgroup_path: str | None = None


class Limit(Value, frozen=True, kw_only=True):
    """A resource limit; None is unlimited."""

    soft: int | None
    hard: int | None


class ProcessFacts(Value, frozen=True, kw_only=True):
    """The process that ran `doctor`, and what the kernel lets it do. `cap_eff` is the mask of effective capabilities.

    `rt_runtime_us`: share of each second for real-time tasks, -1 unlimited; `rt_group_runtime_us`: that of our own
    v1 cpu group.
    """

    cap_eff: int | None = None
    no_new_privs: bool | None = None
    pid_namespace: int | None = None
    memlock: Limit | None = None
    nofile: Limit | None = None
    rt_runtime_us: int | None = None
    rt_group_runtime_us: int | None = None


class ResctrlResource(Value, frozen=True, kw_only=True):
    """One folder of `resctrl/info` that allocates (`L3`, `L3CODE`, `MB`, `SMBA` ...)."""

    name: str
    num_closids: int | None = None
    cbm_mask: str | None = None
    min_cbm_bits: int | None = None
    shareable_bits: str | None = None
    min_bandwidth: int | None = None
    bandwidth_gran: int | None = None


class ResctrlFacts(Value, frozen=True, kw_only=True):
    """RDT and MPAM. `known`: the kernel registered the filesystem. `flags`: those words of `/proc/cpuinfo` that belong
    here."""

    known: bool | None = None
    mounted: bool = False
    flags: tuple[str, ...] = ()
    resources: tuple[ResctrlResource, ...] = ()
    monitors: tuple[str, ...] = ()
    num_rmids: int | None = None


class CpuManagerState(Value, frozen=True, kw_only=True):
    """kubelet's `cpu_manager_state`. `exclusive` are the CPUs of all containers with exclusive CPUs together."""

    policy: str
    default: CpuSet
    exclusive: CpuSet
    containers: int


class MemoryManagerState(Value, frozen=True, kw_only=True):
    """kubelet's `memory_manager_state`: its policy and how many containers have memory pinned by it."""

    policy: str
    containers: int


class KubeletFacts(Value, frozen=True, kw_only=True):
    """kubelet as its files show it. `config`: top-level scalars of its configuration file, None when that is not at the
    usual place."""

    folder: bool = False
    config: dict[str, str] | None = None
    cpu_state: CpuManagerState | None = None
    memory_state: MemoryManagerState | None = None
    pod_resources_socket: bool = False
    device_plugins: tuple[str, ...] | None = None


class RuntimeFacts(Value, frozen=True, kw_only=True):
    """Sockets of container runtimes, as paths on the host, and versions where a file tells one."""

    sockets: tuple[str, ...] = ()
    nri_socket: str | None = None
    versions: tuple[str, ...] = ()


class AcceleratorFacts(Value, frozen=True, kw_only=True):
    """Accelerators and what their drivers installed. Paths are as on the host; device nodes are names in `/dev`."""

    devices: tuple[PciDevice, ...] = ()
    davinci_nodes: tuple[str, ...] = ()
    davinci_manager: bool = False
    ascend_version: str | None = None
    libdcmi: str | None = None
    npu_smi: str | None = None
    hccn_tool: str | None = None
    nvidia_nodes: tuple[str, ...] = ()
    nvidia_version: str | None = None
    libnvidia_ml: str | None = None


class MemoryNode(Value, frozen=True, kw_only=True):
    """A NUMA node: its CPUs, its memory and the hugepages reserved in it."""

    node: int
    cpus: CpuSet
    total_bytes: int | None = None
    hugepages: tuple[Hugepages, ...] = ()


class MemoryFacts(Value, frozen=True, kw_only=True):
    """Memory and how the kernel is told to manage it. `transparent_hugepages`: the mode in force."""

    nodes: tuple[MemoryNode, ...] = ()
    transparent_hugepages: str | None = None
    numa_balancing: int | None = None
    swap_total_bytes: int | None = None
    overcommit: int | None = None


class CpuFacts(Value, frozen=True, kw_only=True):
    """CPUs. `smt`: the word in `smt/control`. `governors`: CPUs by frequency governor."""

    model: str | None = None
    present: CpuSet | None = None
    online: CpuSet | None = None
    isolated: CpuSet | None = None
    nohz_full: CpuSet | None = None
    smt: str | None = None
    governors: dict[str, CpuSet] = {}
    cpufreq_driver: str | None = None


class ClockFacts(Value, frozen=True, kw_only=True):
    """Clocks. `kernel_synchronised`: adjtimex(2), None when the root is not this machine or the call is refused.

    `sync_daemons`: time daemons whose run-time files exist. `monotonic_offset_ns`: that of our time namespace.
    """

    source: str | None = None
    available: tuple[str, ...] = ()
    kernel_synchronised: bool | None = None
    sync_daemons: tuple[str, ...] = ()
    monotonic_offset_ns: int | None = None


class AgentFacts(Value, frozen=True, kw_only=True):
    """The agent's own state folder; `writable` None when none was given."""

    state_dir: str = ""
    writable: bool | None = None


class HostFacts(Value, frozen=True, kw_only=True):
    """Everything `doctor` judges. The defaults are those of a host of which nothing could be seen.

    `found`: what observers of other domains found wrong with the files they read for us.
    """

    refused: tuple[Refusal, ...] = ()
    found: tuple[Finding, ...] = ()
    kernel: KernelFacts = KernelFacts()
    cgroup: CgroupFacts = CgroupFacts()
    psi: PsiFacts = PsiFacts()
    process: ProcessFacts | None = None
    resctrl: ResctrlFacts = ResctrlFacts()
    kubelet: KubeletFacts = KubeletFacts()
    runtime: RuntimeFacts = RuntimeFacts()
    accelerators: AcceleratorFacts = AcceleratorFacts()
    memory: MemoryFacts = MemoryFacts()
    cpu: CpuFacts = CpuFacts()
    clock: ClockFacts = ClockFacts()
    agent: AgentFacts = AgentFacts()

    def refusal(self, path: str) -> Refusal | None:
        """Why `path` (with its leading slash) could not be read, None when it could or was not there."""
        return next((r for r in self.refused if r.path == path), None)
