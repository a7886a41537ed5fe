"""What each distribution's kernel has and lacks, on arm64 and x86-64.

Marks: [s] read in source, [d] documentation, [i] inferred and not checked on such a machine.
"""

from __future__ import annotations

import msgspec

from tests.hosts.shape import Arch, Layout, Psi

Version = tuple[int, int]


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """A distribution as it boots.

    `features` are files that the kernel version alone does not tell: `config` options and backports.
    """

    name: str
    os_id: str
    os_version: str
    os_name: str
    kernel: Version
    release: str
    layout: Layout
    psi: Psi
    systemd: int
    features: frozenset[str]
    cmdline: str = ""

    def has(self, since: Version, feature: str | None = None) -> bool:
        """Whether a thing that came with Linux `since` is there, and, where it hangs on a build option, was built."""
        return self.kernel >= since and (feature is None or feature in self.features)

    def kernel_release(self, arch: Arch) -> str:
        """`uname -r`."""
        return self.release.format(machine=arch.value, debian={"aarch64": "arm64", "x86_64": "amd64"}[arch.value])

    def page_kib(self, arch: Arch) -> int:
        """Base page size."""
        return 64 if arch is Arch.ARM64 and "arm64_64k" in self.features else 4

    def hugepage_kib(self, arch: Arch) -> tuple[int, ...]:
        """Hugepage sizes with a folder in sysfs, default size first.

        Source: Linux arch/arm64/mm/hugetlbpage.c (contiguous PTE and PMD sizes), arch/x86/mm/hugetlbpage.c.
        """
        if arch is Arch.X86:
            return (2048, 1048576)
        if self.page_kib(arch) == 64:
            return (524288, 2048)
        return (2048, 64, 32768, 1048576)

    def topology_files(self, arch: Arch) -> frozenset[str]:
        """Which of core_cpus, die_id, die_cpus, package_cpus, cluster are in cpu*/topology.

        Sources: [s] Linux drivers/base/topology.c: die_id, core_cpus, die_cpus, package_cpus since 5.3; cluster since
        5.16; since 5.17 die only where the architecture knows dies, which arm64 does not (before: -1 and the CPU
        itself). [s] openEuler's 4.19 branch of that file: die_id is backported, core_cpus and package_cpus are not.
        """
        found = {"core_cpus", "package_cpus"} if self.has((5, 3)) else set()
        if self.has((5, 3)) and (arch is Arch.X86 or not self.has((5, 17))):
            found |= {"die_id", "die_cpus"}
        if "die_id" in self.features:
            found.add("die_id")
        if self.has((5, 16)) or (arch is Arch.ARM64 and "arm64_cluster" in self.features):
            found.add("cluster")
        return frozenset(found)

    def cache_ids(self, arch: Arch) -> bool:
        """Whether cache/index*/id exists.

        Sources: [s] Linux arch/x86/kernel/cpu/cacheinfo.c since 4.9; on arm64 the id needs a version 3 PPTT table and
        a kernel that reads it, or openEuler's MPAM series [i].
        """
        return arch is Arch.X86 or "arm64_cache_id" in self.features


# CONFIG_PSI_DEFAULT_DISABLED=y, no UCLAMP_TASK, no CGROUP_MISC, IRQ_TIME_ACCOUNTING=y, 4 KiB pages:
# Source: [s] openEuler kernel, branch OLK-6.6, arch/arm64/configs/openeuler_defconfig.
# psi_proc_init() makes /proc/pressure only when PSI is enabled: Source: [s] Linux 5.10 and OLK-6.6 kernel/sched/psi.c.
# systemd is built with -Ddefault-hierarchy=legacy: Source: [s] openEuler systemd.spec 249 (for 20.03 and 24.03 [i]).
_OPENEULER = frozenset({"qos_v1", "iocost", "hugetlb", "rdma"})

# 64 KiB pages on arm64: [i] openEuler 20.03 release kernels.
_20_03 = Profile(
    name="openeuler-20.03",
    os_id="openEuler",
    os_version="20.03",
    os_name="openEuler 20.03 (LTS-SP3)",
    kernel=(4, 19),
    release="4.19.90-2112.8.0.0131.oe1.{machine}",
    layout=Layout.LEGACY,
    psi=Psi.REFUSED,
    systemd=243,
    features=frozenset({"die_id", "arm64_64k", "rdma", "qos_v1"}),
)
# cpu.qos_level, memory.qos_level exist on v1 alone. Source: [s] openEuler kernel/sched/core.c (cpu_legacy_files),
# [d] rubik's documents ("openEuler-22.03+"). Cluster topology on Kunpeng: [d] hikunpeng.com cluster tuning guide, [i].
_22_03 = Profile(
    name="openeuler-22.03",
    os_id="openEuler",
    os_version="22.03",
    os_name="openEuler 22.03 (LTS-SP3)",
    kernel=(5, 10),
    release="5.10.0-182.0.0.95.oe2203sp3.{machine}",
    layout=Layout.LEGACY,
    psi=Psi.OFF,
    systemd=249,
    features=_OPENEULER | {"arm64_cluster", "arm64_cache_id"},
)
# memory.qos_level on v2 as well: [d] notes on the OLK-6.6 defconfig.
_24_03 = Profile(
    name="openeuler-24.03",
    os_id="openEuler",
    os_version="24.03",
    os_name="openEuler 24.03 (LTS-SP1)",
    kernel=(6, 6),
    release="6.6.0-72.0.0.76.oe2403sp1.{machine}",
    layout=Layout.LEGACY,
    psi=Psi.OFF,
    systemd=255,
    features=_OPENEULER | {"arm64_cache_id", "irq_time", "qos_v2"},
)
# Ubuntu: PSI on, UCLAMP_TASK_GROUP, CGROUP_MISC, BLK_CGROUP_IOCOST, BLK_CGROUP_IOPRIO on [i].
_UBUNTU = Profile(
    name="ubuntu-22.04",
    os_id="ubuntu",
    os_version="22.04",
    os_name="Ubuntu 22.04.5 LTS",
    kernel=(5, 15),
    release="5.15.0-130-generic",
    layout=Layout.UNIFIED,
    psi=Psi.ON,
    systemd=249,
    features=frozenset({"uclamp", "misc", "iocost", "ioprio", "hugetlb", "rdma", "zswap", "irq_time"}),
)
# Debian kernels lack uclamp. Source: node QoS measurements on 6.12 (cpu.uclamp.* absent).
_DEBIAN = Profile(
    name="debian-13",
    os_id="debian",
    os_version="13",
    os_name="Debian GNU/Linux 13 (trixie)",
    kernel=(6, 12),
    release="6.12.63+deb13-{debian}",
    layout=Layout.UNIFIED,
    psi=Psi.ON,
    systemd=257,
    features=frozenset({"misc", "iocost", "ioprio", "hugetlb", "rdma", "zswap", "irq_time"}),
)


def _unified(profile: Profile) -> Profile:
    """The same system booted for cgroup v2, as this product asks for."""
    return msgspec.structs.replace(
        profile,
        name=f"{profile.name}-unified",
        layout=Layout.UNIFIED,
        cmdline="systemd.unified_cgroup_hierarchy=1 cgroup_no_v1=all",
    )


PROFILES: dict[str, Profile] = {
    p.name: p for p in (_20_03, _unified(_20_03), _22_03, _unified(_22_03), _24_03, _unified(_24_03), _UBUNTU, _DEBIAN)
}
