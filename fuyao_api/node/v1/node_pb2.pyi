from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CacheType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CACHE_TYPE_UNSPECIFIED: _ClassVar[CacheType]
    CACHE_TYPE_UNIFIED: _ClassVar[CacheType]
    CACHE_TYPE_DATA: _ClassVar[CacheType]
    CACHE_TYPE_INSTRUCTION: _ClassVar[CacheType]

class MemoryKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MEMORY_KIND_UNSPECIFIED: _ClassVar[MemoryKind]
    MEMORY_KIND_DRAM: _ClassVar[MemoryKind]
    MEMORY_KIND_HBM: _ClassVar[MemoryKind]
    MEMORY_KIND_CXL: _ClassVar[MemoryKind]
    MEMORY_KIND_NONE: _ClassVar[MemoryKind]
    MEMORY_KIND_UNKNOWN: _ClassVar[MemoryKind]

class AcceleratorKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ACCELERATOR_KIND_UNSPECIFIED: _ClassVar[AcceleratorKind]
    ACCELERATOR_KIND_NPU: _ClassVar[AcceleratorKind]
    ACCELERATOR_KIND_GPU: _ClassVar[AcceleratorKind]
    ACCELERATOR_KIND_ACCELERATOR: _ClassVar[AcceleratorKind]

class CgroupMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CGROUP_MODE_UNSPECIFIED: _ClassVar[CgroupMode]
    CGROUP_MODE_UNIFIED: _ClassVar[CgroupMode]
    CGROUP_MODE_HYBRID: _ClassVar[CgroupMode]
    CGROUP_MODE_LEGACY: _ClassVar[CgroupMode]
    CGROUP_MODE_NONE: _ClassVar[CgroupMode]

class CgroupDriver(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CGROUP_DRIVER_UNSPECIFIED: _ClassVar[CgroupDriver]
    CGROUP_DRIVER_CGROUPFS: _ClassVar[CgroupDriver]
    CGROUP_DRIVER_SYSTEMD: _ClassVar[CgroupDriver]

class CgroupKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CGROUP_KIND_UNSPECIFIED: _ClassVar[CgroupKind]
    CGROUP_KIND_POD: _ClassVar[CgroupKind]
    CGROUP_KIND_CONTAINER: _ClassVar[CgroupKind]
    CGROUP_KIND_SERVICE: _ClassVar[CgroupKind]
    CGROUP_KIND_SLICE: _ClassVar[CgroupKind]

class QosClass(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    QOS_CLASS_UNSPECIFIED: _ClassVar[QosClass]
    QOS_CLASS_HLS: _ClassVar[QosClass]
    QOS_CLASS_LS: _ClassVar[QosClass]
    QOS_CLASS_BE: _ClassVar[QosClass]

class ClaimOrigin(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CLAIM_ORIGIN_UNSPECIFIED: _ClassVar[ClaimOrigin]
    CLAIM_ORIGIN_POD_LABEL: _ClassVar[ClaimOrigin]
    CLAIM_ORIGIN_POD_ANNOTATION: _ClassVar[ClaimOrigin]
    CLAIM_ORIGIN_OWNER_LABEL: _ClassVar[ClaimOrigin]
    CLAIM_ORIGIN_OWNER_ANNOTATION: _ClassVar[ClaimOrigin]

class KubeQos(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    KUBE_QOS_UNSPECIFIED: _ClassVar[KubeQos]
    KUBE_QOS_GUARANTEED: _ClassVar[KubeQos]
    KUBE_QOS_BURSTABLE: _ClassVar[KubeQos]
    KUBE_QOS_BEST_EFFORT: _ClassVar[KubeQos]

class SourceKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SOURCE_KIND_UNSPECIFIED: _ClassVar[SourceKind]
    SOURCE_KIND_KUBERNETES: _ClassVar[SourceKind]
    SOURCE_KIND_CGROUP: _ClassVar[SourceKind]
    SOURCE_KIND_SYSTEMD: _ClassVar[SourceKind]

class SourceState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SOURCE_STATE_UNSPECIFIED: _ClassVar[SourceState]
    SOURCE_STATE_OK: _ClassVar[SourceState]
    SOURCE_STATE_STALE: _ClassVar[SourceState]
    SOURCE_STATE_STARTING: _ClassVar[SourceState]
    SOURCE_STATE_OFF: _ClassVar[SourceState]

class FindingStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FINDING_STATUS_UNSPECIFIED: _ClassVar[FindingStatus]
    FINDING_STATUS_OK: _ClassVar[FindingStatus]
    FINDING_STATUS_DEGRADED: _ClassVar[FindingStatus]
    FINDING_STATUS_MISSING: _ClassVar[FindingStatus]
CACHE_TYPE_UNSPECIFIED: CacheType
CACHE_TYPE_UNIFIED: CacheType
CACHE_TYPE_DATA: CacheType
CACHE_TYPE_INSTRUCTION: CacheType
MEMORY_KIND_UNSPECIFIED: MemoryKind
MEMORY_KIND_DRAM: MemoryKind
MEMORY_KIND_HBM: MemoryKind
MEMORY_KIND_CXL: MemoryKind
MEMORY_KIND_NONE: MemoryKind
MEMORY_KIND_UNKNOWN: MemoryKind
ACCELERATOR_KIND_UNSPECIFIED: AcceleratorKind
ACCELERATOR_KIND_NPU: AcceleratorKind
ACCELERATOR_KIND_GPU: AcceleratorKind
ACCELERATOR_KIND_ACCELERATOR: AcceleratorKind
CGROUP_MODE_UNSPECIFIED: CgroupMode
CGROUP_MODE_UNIFIED: CgroupMode
CGROUP_MODE_HYBRID: CgroupMode
CGROUP_MODE_LEGACY: CgroupMode
CGROUP_MODE_NONE: CgroupMode
CGROUP_DRIVER_UNSPECIFIED: CgroupDriver
CGROUP_DRIVER_CGROUPFS: CgroupDriver
CGROUP_DRIVER_SYSTEMD: CgroupDriver
CGROUP_KIND_UNSPECIFIED: CgroupKind
CGROUP_KIND_POD: CgroupKind
CGROUP_KIND_CONTAINER: CgroupKind
CGROUP_KIND_SERVICE: CgroupKind
CGROUP_KIND_SLICE: CgroupKind
QOS_CLASS_UNSPECIFIED: QosClass
QOS_CLASS_HLS: QosClass
QOS_CLASS_LS: QosClass
QOS_CLASS_BE: QosClass
CLAIM_ORIGIN_UNSPECIFIED: ClaimOrigin
CLAIM_ORIGIN_POD_LABEL: ClaimOrigin
CLAIM_ORIGIN_POD_ANNOTATION: ClaimOrigin
CLAIM_ORIGIN_OWNER_LABEL: ClaimOrigin
CLAIM_ORIGIN_OWNER_ANNOTATION: ClaimOrigin
KUBE_QOS_UNSPECIFIED: KubeQos
KUBE_QOS_GUARANTEED: KubeQos
KUBE_QOS_BURSTABLE: KubeQos
KUBE_QOS_BEST_EFFORT: KubeQos
SOURCE_KIND_UNSPECIFIED: SourceKind
SOURCE_KIND_KUBERNETES: SourceKind
SOURCE_KIND_CGROUP: SourceKind
SOURCE_KIND_SYSTEMD: SourceKind
SOURCE_STATE_UNSPECIFIED: SourceState
SOURCE_STATE_OK: SourceState
SOURCE_STATE_STALE: SourceState
SOURCE_STATE_STARTING: SourceState
SOURCE_STATE_OFF: SourceState
FINDING_STATUS_UNSPECIFIED: FindingStatus
FINDING_STATUS_OK: FindingStatus
FINDING_STATUS_DEGRADED: FindingStatus
FINDING_STATUS_MISSING: FindingStatus

class GetNodeRequest(_message.Message):
    __slots__ = ("include_snapshot_json",)
    INCLUDE_SNAPSHOT_JSON_FIELD_NUMBER: _ClassVar[int]
    include_snapshot_json: bool
    def __init__(self, include_snapshot_json: _Optional[bool] = ...) -> None: ...

class GetNodeResponse(_message.Message):
    __slots__ = ("node", "snapshot_json", "agent_version")
    NODE_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_JSON_FIELD_NUMBER: _ClassVar[int]
    AGENT_VERSION_FIELD_NUMBER: _ClassVar[int]
    node: Node
    snapshot_json: bytes
    agent_version: str
    def __init__(self, node: _Optional[_Union[Node, _Mapping]] = ..., snapshot_json: _Optional[bytes] = ..., agent_version: _Optional[str] = ...) -> None: ...

class Node(_message.Message):
    __slots__ = ("schema", "seq", "at_monotonic_ns", "at_unix_s", "host", "topology", "accelerators", "nics", "memory", "numa_memory", "cpu_time", "pressure", "cgroups", "pods", "services", "sources", "census", "agent", "findings")
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    AT_MONOTONIC_NS_FIELD_NUMBER: _ClassVar[int]
    AT_UNIX_S_FIELD_NUMBER: _ClassVar[int]
    HOST_FIELD_NUMBER: _ClassVar[int]
    TOPOLOGY_FIELD_NUMBER: _ClassVar[int]
    ACCELERATORS_FIELD_NUMBER: _ClassVar[int]
    NICS_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    NUMA_MEMORY_FIELD_NUMBER: _ClassVar[int]
    CPU_TIME_FIELD_NUMBER: _ClassVar[int]
    PRESSURE_FIELD_NUMBER: _ClassVar[int]
    CGROUPS_FIELD_NUMBER: _ClassVar[int]
    PODS_FIELD_NUMBER: _ClassVar[int]
    SERVICES_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    CENSUS_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    FINDINGS_FIELD_NUMBER: _ClassVar[int]
    schema: int
    seq: int
    at_monotonic_ns: int
    at_unix_s: float
    host: Host
    topology: Topology
    accelerators: _containers.RepeatedCompositeFieldContainer[Accelerator]
    nics: _containers.RepeatedCompositeFieldContainer[Nic]
    memory: SystemMemory
    numa_memory: _containers.RepeatedCompositeFieldContainer[NumaMemory]
    cpu_time: CpuTime
    pressure: SystemPressure
    cgroups: Cgroups
    pods: _containers.RepeatedCompositeFieldContainer[Pod]
    services: _containers.RepeatedCompositeFieldContainer[Service]
    sources: _containers.RepeatedCompositeFieldContainer[SourceHealth]
    census: Census
    agent: AgentUsage
    findings: _containers.RepeatedCompositeFieldContainer[Finding]
    def __init__(self, schema: _Optional[int] = ..., seq: _Optional[int] = ..., at_monotonic_ns: _Optional[int] = ..., at_unix_s: _Optional[float] = ..., host: _Optional[_Union[Host, _Mapping]] = ..., topology: _Optional[_Union[Topology, _Mapping]] = ..., accelerators: _Optional[_Iterable[_Union[Accelerator, _Mapping]]] = ..., nics: _Optional[_Iterable[_Union[Nic, _Mapping]]] = ..., memory: _Optional[_Union[SystemMemory, _Mapping]] = ..., numa_memory: _Optional[_Iterable[_Union[NumaMemory, _Mapping]]] = ..., cpu_time: _Optional[_Union[CpuTime, _Mapping]] = ..., pressure: _Optional[_Union[SystemPressure, _Mapping]] = ..., cgroups: _Optional[_Union[Cgroups, _Mapping]] = ..., pods: _Optional[_Iterable[_Union[Pod, _Mapping]]] = ..., services: _Optional[_Iterable[_Union[Service, _Mapping]]] = ..., sources: _Optional[_Iterable[_Union[SourceHealth, _Mapping]]] = ..., census: _Optional[_Union[Census, _Mapping]] = ..., agent: _Optional[_Union[AgentUsage, _Mapping]] = ..., findings: _Optional[_Iterable[_Union[Finding, _Mapping]]] = ...) -> None: ...

class Host(_message.Message):
    __slots__ = ("node_name", "kernel_release", "machine", "os_id", "os_version", "boot_time_unix_s")
    NODE_NAME_FIELD_NUMBER: _ClassVar[int]
    KERNEL_RELEASE_FIELD_NUMBER: _ClassVar[int]
    MACHINE_FIELD_NUMBER: _ClassVar[int]
    OS_ID_FIELD_NUMBER: _ClassVar[int]
    OS_VERSION_FIELD_NUMBER: _ClassVar[int]
    BOOT_TIME_UNIX_S_FIELD_NUMBER: _ClassVar[int]
    node_name: str
    kernel_release: str
    machine: str
    os_id: str
    os_version: str
    boot_time_unix_s: int
    def __init__(self, node_name: _Optional[str] = ..., kernel_release: _Optional[str] = ..., machine: _Optional[str] = ..., os_id: _Optional[str] = ..., os_version: _Optional[str] = ..., boot_time_unix_s: _Optional[int] = ...) -> None: ...

class Topology(_message.Message):
    __slots__ = ("observed_at_monotonic_ns", "possible_cpus", "present_cpus", "online_cpus", "offline_cpus", "isolated_cpus", "nohz_full_cpus", "smt_active", "cpus", "caches", "numa_nodes")
    OBSERVED_AT_MONOTONIC_NS_FIELD_NUMBER: _ClassVar[int]
    POSSIBLE_CPUS_FIELD_NUMBER: _ClassVar[int]
    PRESENT_CPUS_FIELD_NUMBER: _ClassVar[int]
    ONLINE_CPUS_FIELD_NUMBER: _ClassVar[int]
    OFFLINE_CPUS_FIELD_NUMBER: _ClassVar[int]
    ISOLATED_CPUS_FIELD_NUMBER: _ClassVar[int]
    NOHZ_FULL_CPUS_FIELD_NUMBER: _ClassVar[int]
    SMT_ACTIVE_FIELD_NUMBER: _ClassVar[int]
    CPUS_FIELD_NUMBER: _ClassVar[int]
    CACHES_FIELD_NUMBER: _ClassVar[int]
    NUMA_NODES_FIELD_NUMBER: _ClassVar[int]
    observed_at_monotonic_ns: int
    possible_cpus: str
    present_cpus: str
    online_cpus: str
    offline_cpus: str
    isolated_cpus: str
    nohz_full_cpus: str
    smt_active: bool
    cpus: _containers.RepeatedCompositeFieldContainer[Cpu]
    caches: _containers.RepeatedCompositeFieldContainer[Cache]
    numa_nodes: _containers.RepeatedCompositeFieldContainer[NumaNode]
    def __init__(self, observed_at_monotonic_ns: _Optional[int] = ..., possible_cpus: _Optional[str] = ..., present_cpus: _Optional[str] = ..., online_cpus: _Optional[str] = ..., offline_cpus: _Optional[str] = ..., isolated_cpus: _Optional[str] = ..., nohz_full_cpus: _Optional[str] = ..., smt_active: _Optional[bool] = ..., cpus: _Optional[_Iterable[_Union[Cpu, _Mapping]]] = ..., caches: _Optional[_Iterable[_Union[Cache, _Mapping]]] = ..., numa_nodes: _Optional[_Iterable[_Union[NumaNode, _Mapping]]] = ...) -> None: ...

class Cpu(_message.Message):
    __slots__ = ("cpu", "online", "package_id", "die_id", "cluster_id", "core_id", "numa_node", "smt_siblings", "max_freq_khz")
    CPU_FIELD_NUMBER: _ClassVar[int]
    ONLINE_FIELD_NUMBER: _ClassVar[int]
    PACKAGE_ID_FIELD_NUMBER: _ClassVar[int]
    DIE_ID_FIELD_NUMBER: _ClassVar[int]
    CLUSTER_ID_FIELD_NUMBER: _ClassVar[int]
    CORE_ID_FIELD_NUMBER: _ClassVar[int]
    NUMA_NODE_FIELD_NUMBER: _ClassVar[int]
    SMT_SIBLINGS_FIELD_NUMBER: _ClassVar[int]
    MAX_FREQ_KHZ_FIELD_NUMBER: _ClassVar[int]
    cpu: int
    online: bool
    package_id: int
    die_id: int
    cluster_id: int
    core_id: int
    numa_node: int
    smt_siblings: str
    max_freq_khz: int
    def __init__(self, cpu: _Optional[int] = ..., online: _Optional[bool] = ..., package_id: _Optional[int] = ..., die_id: _Optional[int] = ..., cluster_id: _Optional[int] = ..., core_id: _Optional[int] = ..., numa_node: _Optional[int] = ..., smt_siblings: _Optional[str] = ..., max_freq_khz: _Optional[int] = ...) -> None: ...

class Cache(_message.Message):
    __slots__ = ("level", "type", "cache_id", "cpus", "size_bytes")
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    CACHE_ID_FIELD_NUMBER: _ClassVar[int]
    CPUS_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    level: int
    type: CacheType
    cache_id: int
    cpus: str
    size_bytes: int
    def __init__(self, level: _Optional[int] = ..., type: _Optional[_Union[CacheType, str]] = ..., cache_id: _Optional[int] = ..., cpus: _Optional[str] = ..., size_bytes: _Optional[int] = ...) -> None: ...

class NumaNode(_message.Message):
    __slots__ = ("node", "cpus", "distances", "memory_kind")
    NODE_FIELD_NUMBER: _ClassVar[int]
    CPUS_FIELD_NUMBER: _ClassVar[int]
    DISTANCES_FIELD_NUMBER: _ClassVar[int]
    MEMORY_KIND_FIELD_NUMBER: _ClassVar[int]
    node: int
    cpus: str
    distances: _containers.RepeatedScalarFieldContainer[int]
    memory_kind: MemoryKind
    def __init__(self, node: _Optional[int] = ..., cpus: _Optional[str] = ..., distances: _Optional[_Iterable[int]] = ..., memory_kind: _Optional[_Union[MemoryKind, str]] = ...) -> None: ...

class NumaMemory(_message.Message):
    __slots__ = ("node", "total_bytes", "free_bytes", "file_bytes", "anon_bytes", "hugepages")
    NODE_FIELD_NUMBER: _ClassVar[int]
    TOTAL_BYTES_FIELD_NUMBER: _ClassVar[int]
    FREE_BYTES_FIELD_NUMBER: _ClassVar[int]
    FILE_BYTES_FIELD_NUMBER: _ClassVar[int]
    ANON_BYTES_FIELD_NUMBER: _ClassVar[int]
    HUGEPAGES_FIELD_NUMBER: _ClassVar[int]
    node: int
    total_bytes: int
    free_bytes: int
    file_bytes: int
    anon_bytes: int
    hugepages: _containers.RepeatedCompositeFieldContainer[Hugepages]
    def __init__(self, node: _Optional[int] = ..., total_bytes: _Optional[int] = ..., free_bytes: _Optional[int] = ..., file_bytes: _Optional[int] = ..., anon_bytes: _Optional[int] = ..., hugepages: _Optional[_Iterable[_Union[Hugepages, _Mapping]]] = ...) -> None: ...

class Hugepages(_message.Message):
    __slots__ = ("size_bytes", "total_pages", "free_pages", "surplus_pages")
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    TOTAL_PAGES_FIELD_NUMBER: _ClassVar[int]
    FREE_PAGES_FIELD_NUMBER: _ClassVar[int]
    SURPLUS_PAGES_FIELD_NUMBER: _ClassVar[int]
    size_bytes: int
    total_pages: int
    free_pages: int
    surplus_pages: int
    def __init__(self, size_bytes: _Optional[int] = ..., total_pages: _Optional[int] = ..., free_pages: _Optional[int] = ..., surplus_pages: _Optional[int] = ...) -> None: ...

class SystemMemory(_message.Message):
    __slots__ = ("total_bytes", "free_bytes", "available_bytes", "cached_bytes", "swap_total_bytes", "swap_free_bytes")
    TOTAL_BYTES_FIELD_NUMBER: _ClassVar[int]
    FREE_BYTES_FIELD_NUMBER: _ClassVar[int]
    AVAILABLE_BYTES_FIELD_NUMBER: _ClassVar[int]
    CACHED_BYTES_FIELD_NUMBER: _ClassVar[int]
    SWAP_TOTAL_BYTES_FIELD_NUMBER: _ClassVar[int]
    SWAP_FREE_BYTES_FIELD_NUMBER: _ClassVar[int]
    total_bytes: int
    free_bytes: int
    available_bytes: int
    cached_bytes: int
    swap_total_bytes: int
    swap_free_bytes: int
    def __init__(self, total_bytes: _Optional[int] = ..., free_bytes: _Optional[int] = ..., available_bytes: _Optional[int] = ..., cached_bytes: _Optional[int] = ..., swap_total_bytes: _Optional[int] = ..., swap_free_bytes: _Optional[int] = ...) -> None: ...

class CpuTime(_message.Message):
    __slots__ = ("user_us", "nice_us", "system_us", "idle_us", "iowait_us", "irq_us", "softirq_us", "steal_us")
    USER_US_FIELD_NUMBER: _ClassVar[int]
    NICE_US_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_US_FIELD_NUMBER: _ClassVar[int]
    IDLE_US_FIELD_NUMBER: _ClassVar[int]
    IOWAIT_US_FIELD_NUMBER: _ClassVar[int]
    IRQ_US_FIELD_NUMBER: _ClassVar[int]
    SOFTIRQ_US_FIELD_NUMBER: _ClassVar[int]
    STEAL_US_FIELD_NUMBER: _ClassVar[int]
    user_us: int
    nice_us: int
    system_us: int
    idle_us: int
    iowait_us: int
    irq_us: int
    softirq_us: int
    steal_us: int
    def __init__(self, user_us: _Optional[int] = ..., nice_us: _Optional[int] = ..., system_us: _Optional[int] = ..., idle_us: _Optional[int] = ..., iowait_us: _Optional[int] = ..., irq_us: _Optional[int] = ..., softirq_us: _Optional[int] = ..., steal_us: _Optional[int] = ...) -> None: ...

class PressureLine(_message.Message):
    __slots__ = ("avg10_pct", "avg60_pct", "avg300_pct", "total_us")
    AVG10_PCT_FIELD_NUMBER: _ClassVar[int]
    AVG60_PCT_FIELD_NUMBER: _ClassVar[int]
    AVG300_PCT_FIELD_NUMBER: _ClassVar[int]
    TOTAL_US_FIELD_NUMBER: _ClassVar[int]
    avg10_pct: float
    avg60_pct: float
    avg300_pct: float
    total_us: int
    def __init__(self, avg10_pct: _Optional[float] = ..., avg60_pct: _Optional[float] = ..., avg300_pct: _Optional[float] = ..., total_us: _Optional[int] = ...) -> None: ...

class Pressure(_message.Message):
    __slots__ = ("some", "full")
    SOME_FIELD_NUMBER: _ClassVar[int]
    FULL_FIELD_NUMBER: _ClassVar[int]
    some: PressureLine
    full: PressureLine
    def __init__(self, some: _Optional[_Union[PressureLine, _Mapping]] = ..., full: _Optional[_Union[PressureLine, _Mapping]] = ...) -> None: ...

class SystemPressure(_message.Message):
    __slots__ = ("cpu", "memory", "io", "irq")
    CPU_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    IO_FIELD_NUMBER: _ClassVar[int]
    IRQ_FIELD_NUMBER: _ClassVar[int]
    cpu: Pressure
    memory: Pressure
    io: Pressure
    irq: Pressure
    def __init__(self, cpu: _Optional[_Union[Pressure, _Mapping]] = ..., memory: _Optional[_Union[Pressure, _Mapping]] = ..., io: _Optional[_Union[Pressure, _Mapping]] = ..., irq: _Optional[_Union[Pressure, _Mapping]] = ...) -> None: ...

class Accelerator(_message.Message):
    __slots__ = ("bdf", "kind", "vendor_id", "device_id", "class_id", "numa_node", "driver", "path", "link_speed_gts", "link_width", "max_link_speed_gts", "max_link_width")
    BDF_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    VENDOR_ID_FIELD_NUMBER: _ClassVar[int]
    DEVICE_ID_FIELD_NUMBER: _ClassVar[int]
    CLASS_ID_FIELD_NUMBER: _ClassVar[int]
    NUMA_NODE_FIELD_NUMBER: _ClassVar[int]
    DRIVER_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    LINK_SPEED_GTS_FIELD_NUMBER: _ClassVar[int]
    LINK_WIDTH_FIELD_NUMBER: _ClassVar[int]
    MAX_LINK_SPEED_GTS_FIELD_NUMBER: _ClassVar[int]
    MAX_LINK_WIDTH_FIELD_NUMBER: _ClassVar[int]
    bdf: str
    kind: AcceleratorKind
    vendor_id: int
    device_id: int
    class_id: int
    numa_node: int
    driver: str
    path: _containers.RepeatedScalarFieldContainer[str]
    link_speed_gts: float
    link_width: int
    max_link_speed_gts: float
    max_link_width: int
    def __init__(self, bdf: _Optional[str] = ..., kind: _Optional[_Union[AcceleratorKind, str]] = ..., vendor_id: _Optional[int] = ..., device_id: _Optional[int] = ..., class_id: _Optional[int] = ..., numa_node: _Optional[int] = ..., driver: _Optional[str] = ..., path: _Optional[_Iterable[str]] = ..., link_speed_gts: _Optional[float] = ..., link_width: _Optional[int] = ..., max_link_speed_gts: _Optional[float] = ..., max_link_width: _Optional[int] = ...) -> None: ...

class Nic(_message.Message):
    __slots__ = ("name", "bdf", "numa_node", "driver", "operstate", "carrier", "speed_mbps", "mtu_bytes", "rx_bytes", "tx_bytes", "rx_errors", "tx_errors", "rx_dropped", "tx_dropped", "carrier_changes")
    NAME_FIELD_NUMBER: _ClassVar[int]
    BDF_FIELD_NUMBER: _ClassVar[int]
    NUMA_NODE_FIELD_NUMBER: _ClassVar[int]
    DRIVER_FIELD_NUMBER: _ClassVar[int]
    OPERSTATE_FIELD_NUMBER: _ClassVar[int]
    CARRIER_FIELD_NUMBER: _ClassVar[int]
    SPEED_MBPS_FIELD_NUMBER: _ClassVar[int]
    MTU_BYTES_FIELD_NUMBER: _ClassVar[int]
    RX_BYTES_FIELD_NUMBER: _ClassVar[int]
    TX_BYTES_FIELD_NUMBER: _ClassVar[int]
    RX_ERRORS_FIELD_NUMBER: _ClassVar[int]
    TX_ERRORS_FIELD_NUMBER: _ClassVar[int]
    RX_DROPPED_FIELD_NUMBER: _ClassVar[int]
    TX_DROPPED_FIELD_NUMBER: _ClassVar[int]
    CARRIER_CHANGES_FIELD_NUMBER: _ClassVar[int]
    name: str
    bdf: str
    numa_node: int
    driver: str
    operstate: str
    carrier: bool
    speed_mbps: int
    mtu_bytes: int
    rx_bytes: int
    tx_bytes: int
    rx_errors: int
    tx_errors: int
    rx_dropped: int
    tx_dropped: int
    carrier_changes: int
    def __init__(self, name: _Optional[str] = ..., bdf: _Optional[str] = ..., numa_node: _Optional[int] = ..., driver: _Optional[str] = ..., operstate: _Optional[str] = ..., carrier: _Optional[bool] = ..., speed_mbps: _Optional[int] = ..., mtu_bytes: _Optional[int] = ..., rx_bytes: _Optional[int] = ..., tx_bytes: _Optional[int] = ..., rx_errors: _Optional[int] = ..., tx_errors: _Optional[int] = ..., rx_dropped: _Optional[int] = ..., tx_dropped: _Optional[int] = ..., carrier_changes: _Optional[int] = ...) -> None: ...

class Cgroups(_message.Message):
    __slots__ = ("mode", "mount", "controllers", "observed_groups", "kept_descriptors", "unreadable", "unreadable_more", "left_out", "other_groups")
    MODE_FIELD_NUMBER: _ClassVar[int]
    MOUNT_FIELD_NUMBER: _ClassVar[int]
    CONTROLLERS_FIELD_NUMBER: _ClassVar[int]
    OBSERVED_GROUPS_FIELD_NUMBER: _ClassVar[int]
    KEPT_DESCRIPTORS_FIELD_NUMBER: _ClassVar[int]
    UNREADABLE_FIELD_NUMBER: _ClassVar[int]
    UNREADABLE_MORE_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    OTHER_GROUPS_FIELD_NUMBER: _ClassVar[int]
    mode: CgroupMode
    mount: str
    controllers: _containers.RepeatedScalarFieldContainer[str]
    observed_groups: int
    kept_descriptors: int
    unreadable: _containers.RepeatedScalarFieldContainer[str]
    unreadable_more: int
    left_out: int
    other_groups: _containers.RepeatedCompositeFieldContainer[Cgroup]
    def __init__(self, mode: _Optional[_Union[CgroupMode, str]] = ..., mount: _Optional[str] = ..., controllers: _Optional[_Iterable[str]] = ..., observed_groups: _Optional[int] = ..., kept_descriptors: _Optional[int] = ..., unreadable: _Optional[_Iterable[str]] = ..., unreadable_more: _Optional[int] = ..., left_out: _Optional[int] = ..., other_groups: _Optional[_Iterable[_Union[Cgroup, _Mapping]]] = ...) -> None: ...

class Cgroup(_message.Message):
    __slots__ = ("path", "inode", "kind", "pod_uid", "kube_qos", "container_id", "runtime", "unit", "driver", "gone", "cpu", "cpu_pressure", "memory_current_bytes", "memory_working_set_bytes", "slow_at_monotonic_ns", "memory", "memory_events", "memory_pressure", "io", "io_pressure", "pids_current")
    PATH_FIELD_NUMBER: _ClassVar[int]
    INODE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    POD_UID_FIELD_NUMBER: _ClassVar[int]
    KUBE_QOS_FIELD_NUMBER: _ClassVar[int]
    CONTAINER_ID_FIELD_NUMBER: _ClassVar[int]
    RUNTIME_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    DRIVER_FIELD_NUMBER: _ClassVar[int]
    GONE_FIELD_NUMBER: _ClassVar[int]
    CPU_FIELD_NUMBER: _ClassVar[int]
    CPU_PRESSURE_FIELD_NUMBER: _ClassVar[int]
    MEMORY_CURRENT_BYTES_FIELD_NUMBER: _ClassVar[int]
    MEMORY_WORKING_SET_BYTES_FIELD_NUMBER: _ClassVar[int]
    SLOW_AT_MONOTONIC_NS_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    MEMORY_EVENTS_FIELD_NUMBER: _ClassVar[int]
    MEMORY_PRESSURE_FIELD_NUMBER: _ClassVar[int]
    IO_FIELD_NUMBER: _ClassVar[int]
    IO_PRESSURE_FIELD_NUMBER: _ClassVar[int]
    PIDS_CURRENT_FIELD_NUMBER: _ClassVar[int]
    path: str
    inode: int
    kind: CgroupKind
    pod_uid: str
    kube_qos: KubeQos
    container_id: str
    runtime: str
    unit: str
    driver: CgroupDriver
    gone: bool
    cpu: CpuUsage
    cpu_pressure: Pressure
    memory_current_bytes: int
    memory_working_set_bytes: int
    slow_at_monotonic_ns: int
    memory: MemoryUsage
    memory_events: MemoryEvents
    memory_pressure: Pressure
    io: IoUsage
    io_pressure: Pressure
    pids_current: int
    def __init__(self, path: _Optional[str] = ..., inode: _Optional[int] = ..., kind: _Optional[_Union[CgroupKind, str]] = ..., pod_uid: _Optional[str] = ..., kube_qos: _Optional[_Union[KubeQos, str]] = ..., container_id: _Optional[str] = ..., runtime: _Optional[str] = ..., unit: _Optional[str] = ..., driver: _Optional[_Union[CgroupDriver, str]] = ..., gone: _Optional[bool] = ..., cpu: _Optional[_Union[CpuUsage, _Mapping]] = ..., cpu_pressure: _Optional[_Union[Pressure, _Mapping]] = ..., memory_current_bytes: _Optional[int] = ..., memory_working_set_bytes: _Optional[int] = ..., slow_at_monotonic_ns: _Optional[int] = ..., memory: _Optional[_Union[MemoryUsage, _Mapping]] = ..., memory_events: _Optional[_Union[MemoryEvents, _Mapping]] = ..., memory_pressure: _Optional[_Union[Pressure, _Mapping]] = ..., io: _Optional[_Union[IoUsage, _Mapping]] = ..., io_pressure: _Optional[_Union[Pressure, _Mapping]] = ..., pids_current: _Optional[int] = ...) -> None: ...

class CpuUsage(_message.Message):
    __slots__ = ("usage_us", "user_us", "system_us", "periods", "throttled_periods", "throttled_us")
    USAGE_US_FIELD_NUMBER: _ClassVar[int]
    USER_US_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_US_FIELD_NUMBER: _ClassVar[int]
    PERIODS_FIELD_NUMBER: _ClassVar[int]
    THROTTLED_PERIODS_FIELD_NUMBER: _ClassVar[int]
    THROTTLED_US_FIELD_NUMBER: _ClassVar[int]
    usage_us: int
    user_us: int
    system_us: int
    periods: int
    throttled_periods: int
    throttled_us: int
    def __init__(self, usage_us: _Optional[int] = ..., user_us: _Optional[int] = ..., system_us: _Optional[int] = ..., periods: _Optional[int] = ..., throttled_periods: _Optional[int] = ..., throttled_us: _Optional[int] = ...) -> None: ...

class MemoryUsage(_message.Message):
    __slots__ = ("anon_bytes", "file_bytes", "inactive_file_bytes", "shmem_bytes", "pgmajfault")
    ANON_BYTES_FIELD_NUMBER: _ClassVar[int]
    FILE_BYTES_FIELD_NUMBER: _ClassVar[int]
    INACTIVE_FILE_BYTES_FIELD_NUMBER: _ClassVar[int]
    SHMEM_BYTES_FIELD_NUMBER: _ClassVar[int]
    PGMAJFAULT_FIELD_NUMBER: _ClassVar[int]
    anon_bytes: int
    file_bytes: int
    inactive_file_bytes: int
    shmem_bytes: int
    pgmajfault: int
    def __init__(self, anon_bytes: _Optional[int] = ..., file_bytes: _Optional[int] = ..., inactive_file_bytes: _Optional[int] = ..., shmem_bytes: _Optional[int] = ..., pgmajfault: _Optional[int] = ...) -> None: ...

class MemoryEvents(_message.Message):
    __slots__ = ("low", "high", "max", "oom", "oom_kill")
    LOW_FIELD_NUMBER: _ClassVar[int]
    HIGH_FIELD_NUMBER: _ClassVar[int]
    MAX_FIELD_NUMBER: _ClassVar[int]
    OOM_FIELD_NUMBER: _ClassVar[int]
    OOM_KILL_FIELD_NUMBER: _ClassVar[int]
    low: int
    high: int
    max: int
    oom: int
    oom_kill: int
    def __init__(self, low: _Optional[int] = ..., high: _Optional[int] = ..., max: _Optional[int] = ..., oom: _Optional[int] = ..., oom_kill: _Optional[int] = ...) -> None: ...

class IoUsage(_message.Message):
    __slots__ = ("read_bytes", "written_bytes", "reads", "writes")
    READ_BYTES_FIELD_NUMBER: _ClassVar[int]
    WRITTEN_BYTES_FIELD_NUMBER: _ClassVar[int]
    READS_FIELD_NUMBER: _ClassVar[int]
    WRITES_FIELD_NUMBER: _ClassVar[int]
    read_bytes: int
    written_bytes: int
    reads: int
    writes: int
    def __init__(self, read_bytes: _Optional[int] = ..., written_bytes: _Optional[int] = ..., reads: _Optional[int] = ..., writes: _Optional[int] = ...) -> None: ...

class QosClaim(_message.Message):
    __slots__ = ("origin", "key", "raw", "qos")
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    RAW_FIELD_NUMBER: _ClassVar[int]
    QOS_FIELD_NUMBER: _ClassVar[int]
    origin: ClaimOrigin
    key: str
    raw: str
    qos: QosClass
    def __init__(self, origin: _Optional[_Union[ClaimOrigin, str]] = ..., key: _Optional[str] = ..., raw: _Optional[str] = ..., qos: _Optional[_Union[QosClass, str]] = ...) -> None: ...

class QosVerdict(_message.Message):
    __slots__ = ("qos", "rule", "claims", "problems")
    QOS_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    CLAIMS_FIELD_NUMBER: _ClassVar[int]
    PROBLEMS_FIELD_NUMBER: _ClassVar[int]
    qos: QosClass
    rule: str
    claims: _containers.RepeatedCompositeFieldContainer[QosClaim]
    problems: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, qos: _Optional[_Union[QosClass, str]] = ..., rule: _Optional[str] = ..., claims: _Optional[_Iterable[_Union[QosClaim, _Mapping]]] = ..., problems: _Optional[_Iterable[str]] = ...) -> None: ...

class SourceHealth(_message.Message):
    __slots__ = ("kind", "state", "since_monotonic_ns", "details", "dropped")
    KIND_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    SINCE_MONOTONIC_NS_FIELD_NUMBER: _ClassVar[int]
    DETAILS_FIELD_NUMBER: _ClassVar[int]
    DROPPED_FIELD_NUMBER: _ClassVar[int]
    kind: SourceKind
    state: SourceState
    since_monotonic_ns: int
    details: _containers.RepeatedScalarFieldContainer[str]
    dropped: int
    def __init__(self, kind: _Optional[_Union[SourceKind, str]] = ..., state: _Optional[_Union[SourceState, str]] = ..., since_monotonic_ns: _Optional[int] = ..., details: _Optional[_Iterable[str]] = ..., dropped: _Optional[int] = ...) -> None: ...

class Resources(_message.Message):
    __slots__ = ("cpu_milli", "memory_bytes")
    CPU_MILLI_FIELD_NUMBER: _ClassVar[int]
    MEMORY_BYTES_FIELD_NUMBER: _ClassVar[int]
    cpu_milli: int
    memory_bytes: int
    def __init__(self, cpu_milli: _Optional[int] = ..., memory_bytes: _Optional[int] = ...) -> None: ...

class OwnerRef(_message.Message):
    __slots__ = ("kind", "name", "labels", "annotations")
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    ANNOTATIONS_FIELD_NUMBER: _ClassVar[int]
    kind: str
    name: str
    labels: StringMap
    annotations: StringMap
    def __init__(self, kind: _Optional[str] = ..., name: _Optional[str] = ..., labels: _Optional[_Union[StringMap, _Mapping]] = ..., annotations: _Optional[_Union[StringMap, _Mapping]] = ...) -> None: ...

class StringMap(_message.Message):
    __slots__ = ("entries",)
    class EntriesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.ScalarMap[str, str]
    def __init__(self, entries: _Optional[_Mapping[str, str]] = ...) -> None: ...

class Container(_message.Message):
    __slots__ = ("name", "container_id", "requests", "limits", "devices", "init", "sidecar", "cgroup")
    class DevicesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    CONTAINER_ID_FIELD_NUMBER: _ClassVar[int]
    REQUESTS_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    DEVICES_FIELD_NUMBER: _ClassVar[int]
    INIT_FIELD_NUMBER: _ClassVar[int]
    SIDECAR_FIELD_NUMBER: _ClassVar[int]
    CGROUP_FIELD_NUMBER: _ClassVar[int]
    name: str
    container_id: str
    requests: Resources
    limits: Resources
    devices: _containers.ScalarMap[str, int]
    init: bool
    sidecar: bool
    cgroup: Cgroup
    def __init__(self, name: _Optional[str] = ..., container_id: _Optional[str] = ..., requests: _Optional[_Union[Resources, _Mapping]] = ..., limits: _Optional[_Union[Resources, _Mapping]] = ..., devices: _Optional[_Mapping[str, int]] = ..., init: _Optional[bool] = ..., sidecar: _Optional[bool] = ..., cgroup: _Optional[_Union[Cgroup, _Mapping]] = ...) -> None: ...

class Pod(_message.Message):
    __slots__ = ("uid", "cgroup_uid", "source", "namespace", "name", "labels", "annotations", "owners", "phase", "kube_qos", "priority", "requests", "limits", "terminating", "qos", "containers", "cgroup_path", "cgroup", "container_paths", "other_groups")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class AnnotationsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    UID_FIELD_NUMBER: _ClassVar[int]
    CGROUP_UID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    ANNOTATIONS_FIELD_NUMBER: _ClassVar[int]
    OWNERS_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    KUBE_QOS_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    REQUESTS_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    TERMINATING_FIELD_NUMBER: _ClassVar[int]
    QOS_FIELD_NUMBER: _ClassVar[int]
    CONTAINERS_FIELD_NUMBER: _ClassVar[int]
    CGROUP_PATH_FIELD_NUMBER: _ClassVar[int]
    CGROUP_FIELD_NUMBER: _ClassVar[int]
    CONTAINER_PATHS_FIELD_NUMBER: _ClassVar[int]
    OTHER_GROUPS_FIELD_NUMBER: _ClassVar[int]
    uid: str
    cgroup_uid: str
    source: SourceKind
    namespace: str
    name: str
    labels: _containers.ScalarMap[str, str]
    annotations: _containers.ScalarMap[str, str]
    owners: _containers.RepeatedCompositeFieldContainer[OwnerRef]
    phase: str
    kube_qos: KubeQos
    priority: int
    requests: Resources
    limits: Resources
    terminating: bool
    qos: QosVerdict
    containers: _containers.RepeatedCompositeFieldContainer[Container]
    cgroup_path: str
    cgroup: Cgroup
    container_paths: _containers.RepeatedScalarFieldContainer[str]
    other_groups: _containers.RepeatedCompositeFieldContainer[Cgroup]
    def __init__(self, uid: _Optional[str] = ..., cgroup_uid: _Optional[str] = ..., source: _Optional[_Union[SourceKind, str]] = ..., namespace: _Optional[str] = ..., name: _Optional[str] = ..., labels: _Optional[_Mapping[str, str]] = ..., annotations: _Optional[_Mapping[str, str]] = ..., owners: _Optional[_Iterable[_Union[OwnerRef, _Mapping]]] = ..., phase: _Optional[str] = ..., kube_qos: _Optional[_Union[KubeQos, str]] = ..., priority: _Optional[int] = ..., requests: _Optional[_Union[Resources, _Mapping]] = ..., limits: _Optional[_Union[Resources, _Mapping]] = ..., terminating: _Optional[bool] = ..., qos: _Optional[_Union[QosVerdict, _Mapping]] = ..., containers: _Optional[_Iterable[_Union[Container, _Mapping]]] = ..., cgroup_path: _Optional[str] = ..., cgroup: _Optional[_Union[Cgroup, _Mapping]] = ..., container_paths: _Optional[_Iterable[str]] = ..., other_groups: _Optional[_Iterable[_Union[Cgroup, _Mapping]]] = ...) -> None: ...

class Service(_message.Message):
    __slots__ = ("unit", "cgroup_path", "pattern", "qos", "cgroup")
    UNIT_FIELD_NUMBER: _ClassVar[int]
    CGROUP_PATH_FIELD_NUMBER: _ClassVar[int]
    PATTERN_FIELD_NUMBER: _ClassVar[int]
    QOS_FIELD_NUMBER: _ClassVar[int]
    CGROUP_FIELD_NUMBER: _ClassVar[int]
    unit: str
    cgroup_path: str
    pattern: str
    qos: QosVerdict
    cgroup: Cgroup
    def __init__(self, unit: _Optional[str] = ..., cgroup_path: _Optional[str] = ..., pattern: _Optional[str] = ..., qos: _Optional[_Union[QosVerdict, _Mapping]] = ..., cgroup: _Optional[_Union[Cgroup, _Mapping]] = ...) -> None: ...

class Process(_message.Message):
    __slots__ = ("pid", "name", "cgroup_path", "cpu_time_us", "rss_bytes", "threads")
    PID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    CGROUP_PATH_FIELD_NUMBER: _ClassVar[int]
    CPU_TIME_US_FIELD_NUMBER: _ClassVar[int]
    RSS_BYTES_FIELD_NUMBER: _ClassVar[int]
    THREADS_FIELD_NUMBER: _ClassVar[int]
    pid: int
    name: str
    cgroup_path: str
    cpu_time_us: int
    rss_bytes: int
    threads: int
    def __init__(self, pid: _Optional[int] = ..., name: _Optional[str] = ..., cgroup_path: _Optional[str] = ..., cpu_time_us: _Optional[int] = ..., rss_bytes: _Optional[int] = ..., threads: _Optional[int] = ...) -> None: ...

class Census(_message.Message):
    __slots__ = ("at_monotonic_ns", "processes", "threads", "rss_bytes", "in_pods", "top")
    AT_MONOTONIC_NS_FIELD_NUMBER: _ClassVar[int]
    PROCESSES_FIELD_NUMBER: _ClassVar[int]
    THREADS_FIELD_NUMBER: _ClassVar[int]
    RSS_BYTES_FIELD_NUMBER: _ClassVar[int]
    IN_PODS_FIELD_NUMBER: _ClassVar[int]
    TOP_FIELD_NUMBER: _ClassVar[int]
    at_monotonic_ns: int
    processes: int
    threads: int
    rss_bytes: int
    in_pods: int
    top: _containers.RepeatedCompositeFieldContainer[Process]
    def __init__(self, at_monotonic_ns: _Optional[int] = ..., processes: _Optional[int] = ..., threads: _Optional[int] = ..., rss_bytes: _Optional[int] = ..., in_pods: _Optional[int] = ..., top: _Optional[_Iterable[_Union[Process, _Mapping]]] = ...) -> None: ...

class AgentUsage(_message.Message):
    __slots__ = ("rss_bytes", "cpu_time_us", "open_descriptors", "descriptor_limit", "kernel_pinned_bytes")
    RSS_BYTES_FIELD_NUMBER: _ClassVar[int]
    CPU_TIME_US_FIELD_NUMBER: _ClassVar[int]
    OPEN_DESCRIPTORS_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTOR_LIMIT_FIELD_NUMBER: _ClassVar[int]
    KERNEL_PINNED_BYTES_FIELD_NUMBER: _ClassVar[int]
    rss_bytes: int
    cpu_time_us: int
    open_descriptors: int
    descriptor_limit: int
    kernel_pinned_bytes: int
    def __init__(self, rss_bytes: _Optional[int] = ..., cpu_time_us: _Optional[int] = ..., open_descriptors: _Optional[int] = ..., descriptor_limit: _Optional[int] = ..., kernel_pinned_bytes: _Optional[int] = ...) -> None: ...

class Finding(_message.Message):
    __slots__ = ("id", "status", "summary", "cost", "mend")
    ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    COST_FIELD_NUMBER: _ClassVar[int]
    MEND_FIELD_NUMBER: _ClassVar[int]
    id: str
    status: FindingStatus
    summary: str
    cost: str
    mend: str
    def __init__(self, id: _Optional[str] = ..., status: _Optional[_Union[FindingStatus, str]] = ..., summary: _Optional[str] = ..., cost: _Optional[str] = ..., mend: _Optional[str] = ...) -> None: ...
