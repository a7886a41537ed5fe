"""What goes wrong with kernel, cgroups, pressure, privileges and resctrl, and what must be said then."""

from __future__ import annotations

import msgspec

from fuyaod.model.cgroup import CgroupMode
from fuyaod.model.facts import Limit, PsiState
from tests.unit.doctor.case import (
    ARM_BARE,
    DEGRADED,
    HYBRID,
    MISSING,
    OK,
    ROOT_ALONE,
    STATE,
    Case,
    levels,
    psi,
    refused,
    replace,
    without,
)
from tests.unit.doctor.ideal import IDEAL, but, capabilities, level

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
    Case("cgroup.cpu_idle", "hybrid", HYBRID, MISSING, "cannot be used", "cgroup_no_v1=all"),
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
