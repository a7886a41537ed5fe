"""Writes /proc as far as the agent reads it.

Source: Linux Documentation/filesystems/proc.rst and an x86-64 machine.
"""

from __future__ import annotations

import errno

import msgspec

from tests.hosts.cgroup_v1 import HIERARCHIES
from tests.hosts.cgroup_values import pressure_text
from tests.hosts.expand import CpuFacts, threads_of
from tests.hosts.facts import GroupFact, NicFact, NodeFact, ProcessFact, ServiceFact
from tests.hosts.mounts import mounts_text
from tests.hosts.profiles import Profile
from tests.hosts.shape import Arch, Host, Layout, Psi
from tests.hosts.text import cpulist, table
from tests.hosts.writer import Tree

BOOT_TIME_S = 1_764_579_600
"""When every declared host booted: 2025-12-01 09:00 UTC."""

SELF_PID = 4711
"""The pid of the agent on a declared host."""


class ProcScene(msgspec.Struct, frozen=True, kw_only=True):
    """What /proc is made from."""

    host: Host
    profile: Profile
    layout: Layout
    psi: Psi
    cpus: CpuFacts
    nodes: tuple[NodeFact, ...]
    nics: tuple[NicFact, ...]
    processes: tuple[ProcessFact, ...]
    cmdline: str


class MemFact(msgspec.Struct, frozen=True, kw_only=True):
    """System memory in KiB: the sum of the nodes."""

    total_kib: int
    free_kib: int
    available_kib: int
    cached_kib: int
    swap_total_kib: int
    swap_free_kib: int


def mem_fact(host: Host, nodes: tuple[NodeFact, ...]) -> MemFact:
    """What /proc/meminfo says."""
    free, file = sum(n.free_kib for n in nodes), sum(n.file_kib for n in nodes)
    swap = host.swap_mib * 1024
    return MemFact(
        total_kib=sum(n.total_kib for n in nodes),
        free_kib=free,
        available_kib=free + file // 2,
        cached_kib=file - file // 32,
        swap_total_kib=swap,
        swap_free_kib=swap - swap // 8,
    )


def cpu_ticks(cpus: CpuFacts) -> tuple[int, ...]:
    """The ten numbers of the first line of /proc/stat, in 1/100 s, summed over the online CPUs."""
    rows = [_ticks(cpu) for cpu in cpus.online]
    return tuple(sum(column) for column in zip(*rows, strict=True))


def _ticks(cpu: int) -> tuple[int, ...]:
    return (81_370 + 3 * cpu, 12, 24_080 + cpu, 1_019_480 - 5 * cpu, 123, 0, 59 + cpu, 7, 2, 0)


def write_proc(tree: Tree, scene: ProcScene) -> None:
    """Writes /proc."""
    release = scene.profile.kernel_release(scene.host.arch)
    tree.put_all(
        "proc",
        {
            "cgroups": _cgroups(scene),
            "cmdline": scene.cmdline + "\n",
            "cpuinfo": _cpuinfo(scene),
            "filesystems": "nodev\tsysfs\nnodev\ttmpfs\nnodev\tproc\nnodev\tcgroup\nnodev\tcgroup2\n"
            + ("nodev\tresctrl\n" if "cat_l3" in scene.host.cpu.flags else "")
            + "nodev\thugetlbfs\n\text4\n",
            "loadavg": "0.52 0.58 0.59 3/1894 28114\n",
            "meminfo": _meminfo(scene),
            "stat": _stat(scene.cpus),
            "swaps": "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n",
            "uptime": "564853.85 1019494.12\n",
            "version": f"Linux version {release} (build@host) (gcc) #1 SMP\n",
        },
    )
    tree.link("proc/mounts", "self/mounts")
    mounts, mountinfo = mounts_text(scene.profile, scene.layout, resctrl=scene.host.resctrl is not None)
    for folder in ("proc/self", "proc/1"):
        tree.put_all(folder, {"mounts": mounts, "mountinfo": mountinfo})
    tree.put_all("proc/self", {"status": _status(scene), "cgroup": _cgroup_of("/system.slice/fuyaod.service", scene)})
    tree.put_all("proc/sys/kernel", {"osrelease": f"{release}\n", "hostname": f"{scene.host.name}\n"})
    tree.put_all("proc/sys/kernel", {"ostype": "Linux\n", "pid_max": "4194304\n"})
    tree.put("proc/sys/kernel/random/boot_id", "6c1f2a52-7d0a-4a52-9a41-3f0f6f1f9d11\n")
    tree.put("proc/net/dev", _net_dev(scene.nics))
    for process in scene.processes:
        _write_process(tree, process, scene)
    _write_pressure(tree, scene)


def _pressure_names(profile: Profile, psi: Psi) -> tuple[str, ...]:
    if psi in (Psi.OFF, Psi.ABSENT):
        return ()
    return ("cpu", "io", "memory", "irq") if profile.has((6, 1), "irq_time") else ("cpu", "io", "memory")


def pressure_faults(profile: Profile, psi: Psi) -> dict[str, int]:
    """Files of /proc/pressure whose reading gives EOPNOTSUPP."""
    if psi is not Psi.REFUSED:
        return {}
    return {f"proc/pressure/{name}": errno.EOPNOTSUPP for name in _pressure_names(profile, psi)}


def _write_pressure(tree: Tree, scene: ProcScene) -> None:
    full = scene.profile.has((5, 13))
    for name in _pressure_names(scene.profile, scene.psi):
        refused = scene.psi is Psi.REFUSED
        tree.put(f"proc/pressure/{name}", "" if refused else pressure_text("", name, 0, cpu_full=full))


def _cgroups(scene: ProcScene) -> str:
    names = ["cpuset", "cpu", "cpuacct", "blkio", "memory", "devices", "freezer", "perf_event", "pids"]
    names += [name for name in ("hugetlb", "rdma", "misc") if name in scene.profile.features]
    on_v1 = {c: number for number, group in enumerate(HIERARCHIES.values(), start=1) for c in group}
    if scene.layout is Layout.UNIFIED:
        on_v1 = {}
    head = "#subsys_name\thierarchy\tnum_cgroups\tenabled\n"
    return head + "".join(f"{name}\t{on_v1.get(name, 0)}\t131\t1\n" for name in names)


def _cpuinfo(scene: ProcScene) -> str:
    cpu, x86 = scene.host.cpu, scene.host.arch is Arch.X86
    online = frozenset(scene.cpus.online)
    lines = []
    for thread, fact in zip(threads_of(scene.host), scene.cpus.cpus, strict=True):
        if fact.cpu not in online:
            continue
        if x86:
            vendor = "AuthenticAMD" if "AMD" in cpu.model else "GenuineIntel"
            lines.append(
                f"processor\t: {fact.cpu}\nvendor_id\t: {vendor}\nmodel name\t: {cpu.model}\n"
                f"physical id\t: {fact.package_id}\nsiblings\t: {len(fact.package_cpus)}\ncore id\t\t: {fact.core_id}\n"
                f"cpu cores\t: {len(fact.package_cpus) // thread.block.threads}\nflags\t\t: {cpu.flags}\n"
                f"bogomips\t: 5192.24\n\n"
            )
        else:
            lines.append(
                f"processor\t: {fact.cpu}\nBogoMIPS\t: 200.00\nFeatures\t: {cpu.flags}\n"
                f"CPU implementer\t: 0x{cpu.implementer:02x}\nCPU architecture: 8\nCPU variant\t: 0x1\n"
                f"CPU part\t: 0x{cpu.part:03x}\nCPU revision\t: 0\n\n"
            )
    return "".join(lines)


def _meminfo(scene: ProcScene) -> str:
    mem, nodes = mem_fact(scene.host, scene.nodes), scene.nodes
    anon, file = sum(n.anon_kib for n in nodes), sum(n.file_kib for n in nodes)
    rows = [("MemTotal", mem.total_kib), ("MemFree", mem.free_kib), ("MemAvailable", mem.available_kib)]
    rows += [("Buffers", file - mem.cached_kib), ("Cached", mem.cached_kib), ("SwapCached", 0)]
    rows += [("Active", anon // 2), ("Inactive", file // 2), ("Unevictable", 0), ("Mlocked", 0)]
    rows += [("SwapTotal", mem.swap_total_kib), ("SwapFree", mem.swap_free_kib), ("Dirty", 608), ("Writeback", 0)]
    rows += [("AnonPages", anon), ("Mapped", file // 4), ("Shmem", file // 16), ("Slab", mem.total_kib // 64)]
    rows += [("CommitLimit", mem.total_kib // 2), ("Committed_AS", anon)]
    text = "".join(f"{name + ':':<15} {value:>8} kB\n" for name, value in rows)
    sizes = scene.profile.hugepage_kib(scene.host.arch)
    pages = [page for node in nodes for page in node.hugepages if page.size_kib == sizes[0]]
    counts = (("Total", sum(p.total for p in pages)), ("Free", sum(p.free for p in pages)), ("Rsvd", 0))
    for name, count in (*counts, ("Surp", sum(p.surplus for p in pages))):
        text += f"HugePages_{name}:   {count:>5}\n"
    pooled = sum(page.size_kib * page.total for node in nodes for page in node.hugepages)
    return text + f"Hugepagesize:   {sizes[0]:>8} kB\nHugetlb:        {pooled:>8} kB\n"


def _stat(cpus: CpuFacts) -> str:
    lines = ["cpu  " + " ".join(map(str, cpu_ticks(cpus)))]
    lines += [f"cpu{cpu} " + " ".join(map(str, _ticks(cpu))) for cpu in cpus.online]
    tail = table((("ctxt", 248081), ("btime", BOOT_TIME_S), ("processes", 7179), ("procs_running", 3)))
    return "\n".join(lines) + "\nintr 172365 0 0 0\n" + tail + "procs_blocked 0\nsoftirq 122768 0 17092 11\n"


def _status(scene: ProcScene) -> str:
    cap, online = scene.host.capabilities, scene.cpus.online
    mems = [node.node for node in scene.nodes if node.total_kib]
    return (
        f"Name:\tfuyaod\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t{SELF_PID}\nPid:\t{SELF_PID}\nPPid:\t1\n"
        f"Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nVmRSS:\t   41728 kB\nThreads:\t3\nCapInh:\t0000000000000000\n"
        f"CapPrm:\t{cap}\nCapEff:\t{cap}\nCapBnd:\t000001ffffffffff\nCapAmb:\t0000000000000000\nNoNewPrivs:\t0\n"
        f"Seccomp:\t0\nCpus_allowed_list:\t{cpulist(online)}\nMems_allowed_list:\t{cpulist(mems)}\n"
    )


def _cgroup_of(path: str, scene: ProcScene) -> str:
    lines = []
    if scene.layout is not Layout.UNIFIED:
        lines = [f"4:memory:{path}\n", f"3:cpuset:{path}\n", f"2:cpu,cpuacct:{path}\n", f"1:name=systemd:{path}\n"]
    if scene.layout is not Layout.LEGACY:
        lines.append(f"0::{path}\n")
    return "".join(lines)


def process_facts(services: tuple[ServiceFact, ...], groups: tuple[GroupFact, ...]) -> tuple[ProcessFact, ...]:
    """The processes of services, and those in the groups of pods."""
    found = [_process(s.pid, s.comm, s.path, s.threads, in_pod=False) for s in services]
    for group in groups:
        if group.kind in ("container", "inner", "conmon"):
            found += [_process(pid, "python3", group.path, group.threads, in_pod=True) for pid in group.pids]
    return tuple(found)


def _process(pid: int, comm: str, path: str, threads: int, *, in_pod: bool) -> ProcessFact:
    ticks = 100 + pid
    return ProcessFact(
        pid=pid,
        comm=comm,
        path=path,
        threads=threads,
        cpu_us=(ticks + ticks // 3) * 10_000,
        rss_kib=(900 + 7 * pid) * 4,
        in_pod=in_pod,
    )


def _write_process(tree: Tree, process: ProcessFact, scene: ProcScene) -> None:
    pid, comm = process.pid, process.comm
    ticks, pages = 100 + pid, process.rss_kib // 4
    tail = f"20 0 {process.threads} 0 {1000 + pid} 104857600 {pages}" + " 0" * 28
    tree.put_all(
        f"proc/{pid}",
        {
            "comm": f"{comm}\n",
            "cmdline": f"/usr/bin/{comm}\0",
            "cgroup": _cgroup_of(process.path, scene),
            "stat": f"{pid} ({comm}) S 1 {pid} {pid} 0 -1 4194560 100 0 0 0 {ticks} {ticks // 3} 0 0 {tail}\n",
            "statm": f"25600 {pages} 120 40 0 500 0\n",
            "status": f"Name:\t{comm}\nTgid:\t{pid}\nPid:\t{pid}\nPPid:\t1\n"
            f"Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nVmRSS:\t{pages * 4:>8} kB\nThreads:\t{process.threads}\n",
        },
    )


def _net_dev(nics: tuple[NicFact, ...]) -> str:
    text = (
        "Inter-|   Receive                                                |  Transmit\n"
        " face |bytes    packets errs drop fifo frame compressed multicast"
        "|bytes    packets errs drop fifo colls carrier compressed\n"
    )
    for nic in nics:
        c = nic.counters
        rx = f"{c['rx_bytes']} {c['rx_packets']} {c['rx_errors']} {c['rx_dropped']} 0 0 0 {c['multicast']}"
        tx = f"{c['tx_bytes']} {c['tx_packets']} {c['tx_errors']} {c['tx_dropped']} 0 {c['collisions']} 0 0"
        text += f"{nic.name:>6}: {rx} {tx}\n"
    return text
