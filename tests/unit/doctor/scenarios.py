"""What goes wrong: for each finding the facts that break it, and what must be said then."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from fuyaod.model.cgroup import CgroupMode
from fuyaod.model.cpuset import CpuSet
from fuyaod.model.facts import CgroupLevel, CpuManagerState, HostFacts, Limit, MemoryManagerState, PsiState, Refusal
from fuyaod.model.findings import FindingStatus
from tests.unit.doctor.ideal import CPUS, GPU, GROUP_FILES, IDEAL, NPU, but, capabilities, level, memory_node

OK, DEGRADED, MISSING = FindingStatus.OK, FindingStatus.DEGRADED, FindingStatus.MISSING


class Case(NamedTuple):
    """Facts under which `id` has `status`; `says` stands in the summary, `mends` in the mend."""

    id: str
    name: str
    facts: HostFacts
    status: FindingStatus
    says: str
    mends: str = ""


def levels(**of_pods: Any) -> tuple[CgroupLevel, ...]:
    """The way down, with the pods' group changed."""
    return (level("/"), level("/kubepods.slice", **of_pods))


def without(file: str) -> HostFacts:
    """A kernel that lacks one file of a group."""
    files = tuple(name for name in GROUP_FILES if name != file)
    return but("cgroup", levels=levels(files=files), others=())


def static(default: CpuSet, exclusive: CpuSet) -> dict[str, Any]:
    """kubelet's state under policy static."""
    state = CpuManagerState(policy="static", default=default, exclusive=exclusive, containers=2)
    return {"cpu_state": state, "config": {"cpuManagerPolicy": "static"}}


def refused(path: str, *, denied: bool) -> Refusal:
    """A file that could not be read."""
    return Refusal(path=path, text=f"cannot read {path}: why", denied=denied)


def psi(state: PsiState) -> dict[str, PsiState]:
    """All system pressure files in one state."""
    return dict.fromkeys(("cpu", "memory", "io", "irq"), state)


def replace(facts: HostFacts, part: str, **changes: Any) -> HostFacts:
    """Any facts with some fields of one part changed."""
    return msgspec.structs.replace(facts, **{part: msgspec.structs.replace(getattr(facts, part), **changes)})


STATE = "/var/lib/kubelet/cpu_manager_state"
NO_NODES = tuple(msgspec.structs.replace(device, numa_node=None) for device in (NPU, GPU))
A3 = msgspec.structs.replace(NPU, device_id=0xD803, numa_node=None)
UNBOUND = tuple(msgspec.structs.replace(device, driver=None) for device in (NPU, GPU))
HYBRID = but(
    "cgroup", mode=CgroupMode.HYBRID, mount="sys/fs/cgroup/unified", v1_controllers=("cpu",), levels=(), others=()
)
ARM_BARE = replace(but("kernel", machine="aarch64"), "resctrl", known=False, mounted=False, flags=())
ROOT_ALONE = but("cgroup", levels=(level("/"),), others=())

HOST = (
    Case("host.readable", "denied", but(refused=(refused(STATE, denied=True),)), DEGRADED, STATE, "sudo"),
    Case("host.readable", "damaged", but(refused=(refused("/x", denied=False),)), DEGRADED, "cannot read /x", "disk"),
    Case("kernel.release", "old", but("kernel", release="4.19.90-2112.8"), DEGRADED, "4.19.90", "openEuler 22.03"),
    Case("kernel.release", "unknown", but("kernel", release=None), MISSING, "no /proc", "--root"),
    Case("kernel.release", "garbage", but("kernel", release="x.y"), MISSING, "'x.y'", "--root"),
    Case("kernel.machine", "untested", but("kernel", machine="riscv64"), DEGRADED, "riscv64", "lscpu"),
    Case("kernel.distribution", "unknown", but("kernel", os_id=None, os_name=None), DEGRADED, "os-release", "hostPath"),
    Case("systemd.running", "absent", but("kernel", systemd_running=False), MISSING, "/run/systemd", "DaemonSet"),
    Case("systemd.running", "old", but("kernel", systemd_version="239"), DEGRADED, "239", "update"),
    Case("systemd.running", "unversioned", but("kernel", systemd_version=None), OK, "not told"),
)
CGROUP = (
    Case(
        "cgroup.hierarchy", "hybrid", HYBRID, DEGRADED, "(cpu)", "systemd.unified_cgroup_hierarchy=1 cgroup_no_v1=all"
    ),
    Case("cgroup.hierarchy", "v1", but("cgroup", mode=CgroupMode.LEGACY, mount=None), MISSING, "v1 only", "no_v1=all"),
    Case("cgroup.hierarchy", "none", but("cgroup", mode=CgroupMode.NONE, mount=None), MISSING, "no cgroup", "mount -t"),
    Case(
        "cgroup.controllers",
        "no io",
        but("cgroup", levels=(level("/", controllers=("cpu", "cpuset", "memory", "pids")),)),
        DEGRADED,
        "not io",
        "cgroup_disable=",
    ),
    Case("cgroup.controllers", "hybrid", HYBRID, MISSING, "no controller", "cgroup_no_v1=all"),
    Case(
        "cgroup.delegation",
        "systemd took cpuset",
        but("cgroup", levels=levels(enabled=("cpu", "io", "memory", "pids"))),
        DEGRADED,
        "/kubepods.slice does not pass on cpuset",
        "echo '+cpuset' > /sys/fs/cgroup/kubepods.slice/cgroup.subtree_control",
    ),
    Case(
        "cgroup.delegation",
        "bare root",
        but("cgroup", levels=(level("/", enabled=()),)),
        DEGRADED,
        "/ does not",
        "echo '+cpu +cpuset +memory +io +pids' > /sys/fs/cgroup/cgroup.subtree_control",
    ),
    Case("cgroup.writable", "ro", but("cgroup", mount_options=("ro",)), MISSING, "read-only", "remount,rw"),
    Case("cgroup.memory_recursiveprot", "off", but("cgroup", mount_options=("rw",)), DEGRADED, "without", "remount"),
    Case("cgroup.freeze", "lacking", without("cgroup.freeze"), MISSING, "5.2", "5.2"),
    Case("cgroup.freeze", "no group", ROOT_ALONE, OK, "no group to look"),
    Case("cgroup.kill", "lacking", without("cgroup.kill"), MISSING, "5.14", "openEuler 24.03"),
    Case(
        "cgroup.kill", "no group, old", replace(ROOT_ALONE, "kernel", release="5.10.0"), MISSING, "no group", "cgroup."
    ),
    Case("cgroup.cpu_idle", "lacking", without("cpu.idle"), MISSING, "since 5.15", "5.15"),
    Case(
        "cgroup.cpu_idle",
        "no controller",
        but("cgroup", levels=levels(controllers=("memory",)), others=()),
        MISSING,
        "no group below the root has the cpu controller",
        "cgroup.delegation",
    ),
    Case("cgroup.cpu_idle", "hybrid", HYBRID, MISSING, "cannot be used", "cgroup.hierarchy"),
    Case("cgroup.cpuset_exclusive", "lacking", without("cpuset.cpus.exclusive"), MISSING, "6.7", "6.7"),
    Case("cgroup.memory_reclaim", "lacking", without("memory.reclaim"), MISSING, "5.19", "5.19"),
    Case("cgroup.memory_oom_group", "lacking", without("memory.oom.group"), MISSING, "4.19", "4.19"),
    Case("cgroup.io_cost", "lacking", but("cgroup", levels=(level("/", files=()),)), MISSING, "not in /:", "IOCOST"),
    Case(
        "cgroup.qos_level",
        "neither",
        replace(without("cpu.idle"), "cgroup", levels=(level("/"),)),
        MISSING,
        "neither",
        "24.03",
    ),
    Case("cgroup.qos_level", "idle does it", without("cpu.qos_level"), OK, "not needed"),
    Case("cgroup.qos_level", "v1", replace(HYBRID, "cgroup", v1_qos_level=True), OK, "is there"),
)
PRESSURE = (
    Case("psi.system", "absent", but("psi", system={}), MISSING, "no /proc/pressure", "`psi=1`"),
    Case("psi.system", "EOPNOTSUPP", but("psi", system=psi(PsiState.SWITCHED_OFF)), MISSING, "EOPNOTSUPP", "`psi=1`"),
    Case("psi.system", "denied", but("psi", system=psi(PsiState.REFUSED)), DEGRADED, "cannot be read", "root"),
    Case("psi.cgroup", "absent", but("psi", cgroup=PsiState.ABSENT), MISSING, "no cpu.pressure", "cgroup.pressure"),
    Case("psi.cgroup", "EOPNOTSUPP", but("psi", cgroup=PsiState.SWITCHED_OFF), MISSING, "EOPNOTSUPP", "`psi=1`"),
    Case("psi.cgroup", "denied", but("psi", cgroup=PsiState.REFUSED), DEGRADED, "cannot be read", "root"),
    Case("psi.trigger", "unprivileged", but("process", cap_eff=capabilities(24)), DEGRADED, "2 s", "SYS_RESOURCE"),
    Case("psi.trigger", "old kernel", but("kernel", release="6.3.9"), DEGRADED, "500 ms", "6.4"),
    Case("psi.trigger", "first with short windows", but("kernel", release="6.4.0"), OK, "any window"),
    Case("psi.jiffy", "unknown", but("kernel", hz=None), DEGRADED, "not known", "modprobe configs"),
    Case("psi.jiffy", "slow", but("kernel", hz=100), DEGRADED, "HZ=100", "CONFIG_HZ_250"),
)
NAMES = {
    "dac_override": 1,
    "kill": 5,
    "net_admin": 12,
    "ipc_lock": 14,
    "sys_admin": 21,
    "sys_nice": 23,
    "sys_resource": 24,
    "perfmon": 38,
}
SMALL = Limit(soft=65536, hard=65536)
PRIVILEGE = (
    *(
        Case(
            f"privilege.{name}", "lost", but("process", cap_eff=capabilities(bit)), MISSING, name.upper(), name.upper()
        )
        for name, bit in NAMES.items()
    ),
    Case("privilege.memlock", "little", but("process", cap_eff=0, memlock=SMALL), DEGRADED, "64 KiB", "LimitMEMLOCK"),
    Case("privilege.memlock", "CAP_IPC_LOCK", but("process", memlock=SMALL), OK, "CAP_IPC_LOCK"),
    Case(
        "privilege.nofile", "few", but("process", nofile=Limit(soft=1024, hard=4096)), DEGRADED, "4096", "LimitNOFILE"
    ),
    Case("privilege.realtime", "none", but("process", rt_runtime_us=0), MISSING, "= 0", "950000"),
    Case("privilege.realtime", "v1 group", but("process", rt_group_runtime_us=0), MISSING, "0 us", "cpu.rt_runtime_us"),
    Case("privilege.realtime", "unthrottled", but("process", rt_runtime_us=-1), DEGRADED, "-1", "950000"),
    Case(
        "privilege.realtime",
        "rt groups",
        but("kernel", rt_group_sched=True),
        DEGRADED,
        "GROUP_SCHED",
        "rt_group_sched=0",
    ),
    Case("privilege.realtime", "off", but("kernel", rt_group_sched=True, cmdline=("rt_group_sched=0",)), OK, "950000"),
    Case("privilege.pid_namespace", "own", but("process", pid_namespace=4026532000), DEGRADED, "4026532000", "hostPID"),
    Case(
        "privilege.no_new_privs",
        "set and lacking",
        but("process", no_new_privs=True, cap_eff=0),
        DEGRADED,
        "8 capabilities",
        "allowPrivilegeEscalation",
    ),
    Case("privilege.no_new_privs", "set, nothing lacking", but("process", no_new_privs=True), OK, "nothing is lost"),
)
BARE = {"known": False, "mounted": False}
RESCTRL = (
    Case("resctrl.capable", "no RDT", but("resctrl", **BARE, flags=()), MISSING, "no RDT", "NUMA node"),
    Case("resctrl.capable", "no kernel", but("resctrl", **BARE), MISSING, "cat_l3 mba", "CONFIG_X86_CPU_RESCTRL"),
    Case("resctrl.capable", "MPAM off", ARM_BARE, MISSING, "MPAM is off", "--args=arm64.mpam"),
    Case(
        "resctrl.capable",
        "MPAM asked",
        replace(ARM_BARE, "kernel", cmdline=("arm64.mpam",)),
        MISSING,
        "is on",
        "firmware",
    ),
    Case("resctrl.mounted", "not", but("resctrl", mounted=False), MISSING, "not mounted", "mount -t resctrl"),
    Case(
        "resctrl.classes",
        "three",
        but("resctrl", resources=(msgspec.structs.replace(IDEAL.resctrl.resources[0], num_closids=3),)),
        DEGRADED,
        "3 classes",
        "cdp",
    ),
    Case(
        "resctrl.cache", "bandwidth only", but("resctrl", resources=IDEAL.resctrl.resources[1:]), MISSING, "no", "l3cat"
    ),
    Case(
        "resctrl.bandwidth", "cache only", but("resctrl", resources=IDEAL.resctrl.resources[:1]), MISSING, "no", "mba"
    ),
    Case("resctrl.monitoring", "none", but("resctrl", monitors=()), MISSING, "no monitoring", "mbmtotal"),
    Case("resctrl.monitoring", "occupancy", but("resctrl", monitors=("llc_occupancy",)), MISSING, "llc_occ", "cqm"),
)
KUBELET = (
    Case(
        "kubelet.present", "bare metal", replace(but("kubelet", folder=False), "cgroup", pod_roots=()), OK, "no kubelet"
    ),
    Case("kubelet.present", "not mounted", but("kubelet", folder=False), MISSING, "/kubepods.slice", "mount /var/lib"),
    Case(
        "kubelet.present",
        "denied",
        msgspec.structs.replace(but("kubelet", folder=False), refused=(refused("/var/lib/kubelet", denied=True),)),
        DEGRADED,
        "cannot read",
        "sudo",
    ),
    Case("kubelet.config", "elsewhere", but("kubelet", config=None), DEGRADED, "--config", "link"),
    Case(
        "kubelet.config",
        "denied",
        msgspec.structs.replace(
            but("kubelet", config=None), refused=(refused("/var/lib/kubelet/config.yaml", denied=True),)
        ),
        DEGRADED,
        "cannot read",
        "sudo",
    ),
    Case("kubelet.state", "denied", but(refused=(refused(STATE, denied=True),)), DEGRADED, "cannot read", "sudo"),
    Case(
        "kubelet.state", "damaged", but(refused=(refused(STATE, denied=False),)), DEGRADED, "cannot read", "rm " + STATE
    ),
    Case(
        "kubelet.state",
        "not restarted",
        but("kubelet", config={"cpuManagerPolicy": "static"}),
        DEGRADED,
        "says none",
        "systemctl start kubelet",
    ),
    Case(
        "kubelet.cpu_policy",
        "static",
        but("kubelet", **static(CpuSet((0, 1)), CpuSet.from_range(4, 7))),
        DEGRADED,
        "CPUs 4-7 of 2",
        "cpuManagerPolicy: none",
    ),
    Case(
        "kubelet.cpu_policy",
        "static, none given",
        but("kubelet", **static(CPUS, CpuSet())),
        DEGRADED,
        "no CPUs so far",
        "none",
    ),
    Case(
        "kubelet.memory_policy",
        "static",
        but("kubelet", memory_state=MemoryManagerState(policy="Static", containers=3)),
        DEGRADED,
        "3 containers",
        "memoryManagerPolicy: None",
    ),
    Case(
        "kubelet.topology_policy",
        "restricted",
        but("kubelet", config={"topologyManagerPolicy": "restricted"}),
        DEGRADED,
        "restricted, scope container",
        "best-effort",
    ),
    Case(
        "kubelet.offline_cpus",
        "gone",
        but("kubelet", **static(CPUS, CpuSet((8,)))),
        DEGRADED,
        "CPUs 8 of",
        "rm " + STATE,
    ),
    Case(
        "kubelet.offline_cpus",
        "added",
        but("kubelet", **static(CpuSet((0,)), CpuSet())),
        DEGRADED,
        "1-7 are online",
        "rm",
    ),
    Case("kubelet.offline_cpus", "none", but("kubelet", **static(CPUS, CpuSet())), OK, "0-7"),
    Case(
        "kubelet.cgroup_driver",
        "both",
        but("cgroup", pod_roots=("/kubepods", "/kubepods.slice")),
        DEGRADED,
        "both",
        "rmdir",
    ),
    Case("kubelet.cgroup_driver", "mismatch", but("cgroup", pod_roots=("/kubepods",)), DEGRADED, "systemd", "cgroupfs"),
    Case("kubelet.reserved_cpus", "none", but("kubelet", config={}), DEGRADED, "no reserved", "reservedSystemCPUs"),
    Case("kubelet.pod_resources", "absent", but("kubelet", pod_resources_socket=False), MISSING, "no /var", "hostPath"),
    Case(
        "kubelet.device_plugins",
        "none",
        but("kubelet", device_plugins=()),
        MISSING,
        "no device plugin",
        "ascend-device",
    ),
    Case("kubelet.device_plugins", "no folder", but("kubelet", device_plugins=None), MISSING, "no /var", "mount"),
    Case("runtime.socket", "absent", but("runtime", sockets=()), MISSING, "no socket", "/run/containerd"),
    Case("runtime.nri", "containerd", but("runtime", nri_socket=None), MISSING, "nri.sock", "disable = false"),
    Case(
        "runtime.nri",
        "cri-o",
        but("runtime", nri_socket=None, sockets=("/run/crio/crio.sock",)),
        MISSING,
        "nri",
        "enable_nri",
    ),
)
NO_DRIVER = {"davinci_nodes": (), "davinci_manager": False}
DEVICES = (
    Case("npu.present", "dropped", but("accelerators", devices=(GPU,)), DEGRADED, "24.1.rc3", "lspci -d 19e5:"),
    Case(
        "npu.present",
        "none expected",
        but("accelerators", devices=(), **NO_DRIVER, ascend_version=None),
        OK,
        "no Ascend",
    ),
    Case(
        "npu.driver",
        "not installed",
        but("accelerators", **NO_DRIVER, ascend_version=None),
        MISSING,
        "no /dev/davinci*",
        ".run --full",
    ),
    Case("npu.driver", "not loaded", but("accelerators", **NO_DRIVER), MISSING, "Ascend 910B on 1 PCI", "dmesg"),
    Case("npu.driver", "one unbound", but("accelerators", devices=UNBOUND), DEGRADED, "0000:01:00.0", "drivers_probe"),
    Case("npu.version", "absent", but("accelerators", ascend_version=None), DEGRADED, "version.info", "mount"),
    Case("npu.dcmi", "absent", but("accelerators", libdcmi=None), MISSING, "libdcmi.so", "/usr/local/dcmi"),
    Case("npu.npu_smi", "absent", but("accelerators", npu_smi=None), DEGRADED, "no npu-smi", "npu-smi"),
    Case("npu.hccn_tool", "absent", but("accelerators", hccn_tool=None), DEGRADED, "no hccn_tool", "mount"),
    Case("npu.affinity", "sparse", but("accelerators", devices=NO_NODES), DEGRADED, "1 of 1 devices on 2", "BIOS"),
    Case("npu.affinity", "A3", but("accelerators", devices=(A3,)), OK, "switch board"),
    Case("gpu.driver", "absent", but("accelerators", nvidia_nodes=()), MISSING, "10de:2330", "modprobe nvidia"),
    Case("gpu.driver", "one unbound", but("accelerators", devices=UNBOUND), DEGRADED, "0000:81:00.0", "drivers_probe"),
    Case(
        "gpu.nvml", "absent", but("accelerators", libnvidia_ml=None), MISSING, "libnvidia-ml.so.1", "libnvidia-compute"
    ),
    Case("gpu.affinity", "none", but("accelerators", devices=NO_NODES), DEGRADED, "0000:81:00.0", "BIOS"),
    Case(
        "gpu.affinity",
        "one node",
        replace(but("accelerators", devices=NO_NODES), "memory", nodes=(memory_node(0),)),
        OK,
        "one NUMA node",
    ),
)
MEMORY = (
    Case(
        "memory.nodes",
        "no memory",
        but("memory", nodes=(memory_node(0), memory_node(1, total_bytes=0))),
        DEGRADED,
        "1 (CPUs 4-7)",
        "DIMM",
    ),
    Case(
        "memory.nodes",
        "no CPUs",
        but("memory", nodes=(memory_node(0), memory_node(1, cpus=CpuSet()))),
        OK,
        "without CPUs",
    ),
    Case(
        "memory.hugepages",
        "none",
        but("memory", nodes=(memory_node(0, hugepages=()),)),
        DEGRADED,
        "none",
        "nr_hugepages",
    ),
    Case(
        "memory.hugepages",
        "uneven",
        but("memory", nodes=(memory_node(0), memory_node(1, hugepages=()))),
        DEGRADED,
        "2 MiB not on node 1",
        "hugepages=0:<n>,1:<n>",
    ),
    Case(
        "memory.hugepages",
        "none, no device",
        replace(but("memory", nodes=(memory_node(0, hugepages=()),)), "accelerators", devices=()),
        OK,
        "none reserved",
    ),
    Case(
        "memory.hugepages",
        "none on a node without CPUs",
        but("memory", nodes=(memory_node(0), memory_node(1, cpus=CpuSet(), hugepages=()))),
        OK,
        "1024 × 2 MiB",
    ),
    Case(
        "memory.transparent_hugepages",
        "always",
        but("memory", transparent_hugepages="always"),
        DEGRADED,
        "always",
        "madvise",
    ),
    Case("memory.numa_balancing", "on", but("memory", numa_balancing=1), DEGRADED, "= 1", "numa_balancing=0"),
    Case("memory.numa_balancing", "tiering", but("memory", numa_balancing=2), OK, "= 2"),
    Case("memory.numa_balancing", "one node", but("memory", numa_balancing=1, nodes=(memory_node(0),)), OK, "= 1"),
    Case("memory.swap", "on", but("memory", swap_total_bytes=1 << 30), DEGRADED, "1024 MiB", "swapoff -a"),
    Case(
        "memory.swap",
        "on bare metal",
        replace(replace(but("memory", swap_total_bytes=1 << 30), "kubelet", folder=False), "cgroup", pod_roots=()),
        OK,
        "1024 MiB",
    ),
    Case("memory.overcommit", "strict", but("memory", overcommit=2), DEGRADED, "= 2", "overcommit_memory=1"),
)
CPU = (
    Case("cpu.model", "unknown", but("cpu", model=None), DEGRADED, "not known, 8 online", "lscpu"),
    Case("cpu.smt", "off", but("cpu", smt="notsupported"), OK, "notsupported"),
    Case("cpu.offline", "two", but("cpu", online=CpuSet.from_range(0, 5)), DEGRADED, "CPUs 6-7", "$(seq 6 7)"),
    Case("cpu.offline", "SMT off", but("cpu", online=CpuSet.from_range(0, 3), smt="off"), OK, "because SMT is off"),
    Case("cpu.isolated", "one", but("cpu", isolated=CpuSet((3,))), DEGRADED, "CPUs 3", "isolcpus="),
    Case("cpu.nohz_full", "one", but("cpu", nohz_full=CpuSet((3,))), DEGRADED, "CPUs 3", "nohz_full="),
    Case(
        "cpu.governor",
        "powersave",
        but("cpu", governors={"powersave": CPUS}),
        DEGRADED,
        "powersave on CPUs 0-7",
        "cpupower",
    ),
    Case(
        "cpu.governor",
        "some ondemand",
        but("cpu", governors={"performance": CpuSet((0,)), "ondemand": CpuSet((1,))}),
        DEGRADED,
        "ondemand on CPUs 1, performance on CPUs 0",
        "cpupower",
    ),
    Case("cpu.governor", "none", but("cpu", governors={}), OK, "firmware or VM"),
    Case("clock.source", "hpet", but("clock", source="hpet"), DEGRADED, "hpet", "echo tsc >"),
    Case(
        "clock.source",
        "no TSC",
        but("clock", source="acpi_pm", available=("acpi_pm",)),
        DEGRADED,
        "acpi_pm",
        "tsc=reliable",
    ),
    Case("clock.source", "arm64", but("clock", source="arch_sys_counter"), OK, "arch_sys_counter"),
    Case("clock.source", "kvm", but("clock", source="kvm-clock"), OK, "paravirtual"),
    Case(
        "clock.sync",
        "free running",
        but("clock", kernel_synchronised=False, sync_daemons=()),
        DEGRADED,
        "no time",
        "chrony",
    ),
    Case("clock.sync", "other root", but("clock", kernel_synchronised=None), OK, "not asked"),
    Case(
        "clock.monotonic", "namespace", but("clock", monotonic_offset_ns=5 * 10**9), DEGRADED, "5 s", "time namespace"
    ),
    Case("agent.state_dir", "read-only", but("agent", writable=False), MISSING, "/run/fuyaod", "[state] dir"),
)
CASES = HOST + CGROUP + PRESSURE + PRIVILEGE + RESCTRL + KUBELET + DEVICES + MEMORY + CPU
