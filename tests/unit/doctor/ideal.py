"""Facts of a host on which every check passes, and a short way to change one of them."""

from __future__ import annotations

from typing import Any

import msgspec

from fuyaod.model.cgroup import CgroupMode
from fuyaod.model.cpuset import CpuSet
from fuyaod.model.devices import DeviceKind, PciDevice
from fuyaod.model.facts import (
    AcceleratorFacts,
    AgentFacts,
    CgroupFacts,
    CgroupLevel,
    ClockFacts,
    CpuFacts,
    CpuManagerState,
    HostFacts,
    KernelFacts,
    KubeletFacts,
    Limit,
    MemoryFacts,
    MemoryManagerState,
    MemoryNode,
    ProcessFacts,
    PsiFacts,
    PsiState,
    ResctrlFacts,
    ResctrlResource,
    RuntimeFacts,
)
from fuyaod.model.topology import Hugepages

CONTROLLERS = ("cpuset", "cpu", "io", "memory", "pids")
GROUP_FILES = (
    "cgroup.freeze",
    "cgroup.kill",
    "cpu.idle",
    "cpu.pressure",
    "cpu.qos_level",
    "cpuset.cpus.exclusive",
    "memory.oom.group",
    "memory.reclaim",
)
CPUS = CpuSet.from_range(0, 7)
NPU = PciDevice(
    bdf="0000:01:00.0",
    kind=DeviceKind.NPU,
    vendor_id=0x19E5,
    device_id=0xD802,
    class_id=0x120000,
    numa_node=0,
    driver="devdrv_device_driver",
    path=(),
    link_speed_gts=None,
    link_width=None,
    max_link_speed_gts=None,
    max_link_width=None,
)
GPU = msgspec.structs.replace(
    NPU, bdf="0000:81:00.0", kind=DeviceKind.GPU, vendor_id=0x10DE, device_id=0x2330, class_id=0x030200, driver="nvidia"
)


def level(path: str, **changes: Any) -> CgroupLevel:
    """A group that has everything."""
    files = ("io.cost.qos",) if path == "/" else GROUP_FILES
    whole = CgroupLevel(path=path, controllers=CONTROLLERS, enabled=CONTROLLERS, files=files)
    return msgspec.structs.replace(whole, **changes)


def memory_node(node: int, **changes: Any) -> MemoryNode:
    """A node of four CPUs and 64 GiB with hugepages."""
    whole = MemoryNode(
        node=node,
        cpus=CpuSet.from_range(4 * node, 4 * node + 3),
        total_bytes=64 << 30,
        hugepages=(Hugepages(size_bytes=2 << 20, total=1024, free=1000, surplus=0),),
    )
    return msgspec.structs.replace(whole, **changes)


IDEAL = HostFacts(
    kernel=KernelFacts(
        release="6.12.9-generic",
        machine="x86_64",
        os_id="openEuler",
        os_name="openEuler 24.03 (LTS)",
        cmdline=("quiet", "psi=1"),
        hz=250,
        rt_group_sched=False,
        systemd_running=True,
        systemd_version="255",
    ),
    cgroup=CgroupFacts(
        mode=CgroupMode.UNIFIED,
        mount="sys/fs/cgroup",
        mount_options=("rw", "nsdelegate", "memory_recursiveprot"),
        levels=(level("/"), level("/kubepods.slice"), level("/kubepods.slice/kubepods-besteffort.slice")),
        others=(level("/system.slice"),),
        pod_roots=("/kubepods.slice",),
    ),
    psi=PsiFacts(
        system=dict.fromkeys(("cpu", "memory", "io", "irq"), PsiState.READABLE),
        cgroup=PsiState.READABLE,
        cgroup_path="/kubepods.slice",
    ),
    process=ProcessFacts(
        cap_eff=0x1FFFFFFFFFF,
        no_new_privs=False,
        pid_namespace=4026531836,
        memlock=Limit(soft=None, hard=None),
        nofile=Limit(soft=1024, hard=524288),
        rt_runtime_us=950000,
    ),
    resctrl=ResctrlFacts(
        known=True,
        mounted=True,
        flags=("cat_l3", "mba"),
        resources=(
            ResctrlResource(name="L3", num_closids=15, cbm_mask="7fff", min_cbm_bits=1, shareable_bits="c00"),
            ResctrlResource(name="MB", num_closids=8, min_bandwidth=10, bandwidth_gran=10),
        ),
        monitors=("llc_occupancy", "mbm_total_bytes", "mbm_local_bytes"),
        num_rmids=256,
    ),
    kubelet=KubeletFacts(
        folder=True,
        config={"cpuManagerPolicy": "none", "cgroupDriver": "systemd", "reservedSystemCPUs": "0-1"},
        cpu_state=CpuManagerState(policy="none", default=CpuSet(), exclusive=CpuSet(), containers=0),
        memory_state=MemoryManagerState(policy="None", containers=0),
        pod_resources_socket=True,
        device_plugins=("davinci.sock",),
    ),
    runtime=RuntimeFacts(sockets=("/run/containerd/containerd.sock",), nri_socket="/run/nri/nri.sock"),
    accelerators=AcceleratorFacts(
        devices=(NPU, GPU),
        davinci_nodes=("davinci0",),
        davinci_manager=True,
        ascend_version="24.1.rc3",
        libdcmi="/usr/local/dcmi/libdcmi.so",
        npu_smi="/usr/local/sbin/npu-smi",
        hccn_tool="/usr/local/Ascend/driver/tools/hccn_tool",
        nvidia_nodes=("nvidia0",),
        nvidia_version="550.54.15",
        libnvidia_ml="/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
    ),
    memory=MemoryFacts(
        nodes=(memory_node(0), memory_node(1)),
        transparent_hugepages="madvise",
        numa_balancing=0,
        swap_total_bytes=0,
        overcommit=1,
    ),
    cpu=CpuFacts(
        model="Kunpeng 920",
        present=CPUS,
        online=CPUS,
        isolated=CpuSet(),
        nohz_full=CpuSet(),
        smt="on",
        governors={"performance": CPUS},
        cpufreq_driver="cppc_cpufreq",
    ),
    clock=ClockFacts(
        source="tsc",
        available=("tsc", "hpet"),
        kernel_synchronised=True,
        sync_daemons=("chrony",),
        monotonic_offset_ns=0,
    ),
    agent=AgentFacts(state_dir="/run/fuyaod", writable=True),
)


def but(part: str = "", /, **changes: Any) -> HostFacts:
    """The ideal host with some fields of one part (`"kernel"`) changed, or of the whole without a part."""
    if not part:
        return msgspec.structs.replace(IDEAL, **changes)
    return msgspec.structs.replace(IDEAL, **{part: msgspec.structs.replace(getattr(IDEAL, part), **changes)})


def capabilities(*lost: int) -> int:
    """All capabilities without some."""
    mask = 0x1FFFFFFFFFF
    for bit in lost:
        mask &= ~(1 << bit)
    return mask
