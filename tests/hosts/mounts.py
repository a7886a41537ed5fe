"""Mount tables as the kernel prints them. Source: Linux fs/proc_namespace.c; option strings from systemd's mounts."""

from __future__ import annotations

from tests.hosts.cgroup_v1 import HIERARCHIES
from tests.hosts.profiles import Profile
from tests.hosts.shape import Layout

_QUIET = "rw,nosuid,nodev,noexec,relatime"


def _cgroups(profile: Profile, layout: Layout) -> list[tuple[str, str, str, str]]:
    v2 = ("cgroup2", "cgroup2", _QUIET)
    options = "nsdelegate,memory_recursiveprot" if profile.has((5, 7)) else "nsdelegate"
    if layout is Layout.UNIFIED:
        return [("/sys/fs/cgroup", *v2[:2], f"{_QUIET},{options}")]
    found = [("/sys/fs/cgroup", "tmpfs", "tmpfs", "ro,nosuid,nodev,noexec,mode=755")]
    if layout is Layout.HYBRID:
        found.append(("/sys/fs/cgroup/unified", *v2[:2], f"{_QUIET},nsdelegate"))
    for name in HIERARCHIES:
        controllers = "xattr,name=systemd" if name == "systemd" else name
        found.append((f"/sys/fs/cgroup/{name}", "cgroup", "cgroup", f"{_QUIET},{controllers}"))
    return found


def mounts_text(profile: Profile, layout: Layout, *, resctrl: bool) -> tuple[str, str]:
    """The texts of /proc/self/mounts and /proc/self/mountinfo."""
    rows = [
        ("/", "/dev/vda2", "ext4", "rw,relatime"),
        ("/proc", "proc", "proc", _QUIET),
        ("/sys", "sysfs", "sysfs", _QUIET),
        ("/dev", "devtmpfs", "devtmpfs", "rw,nosuid,size=4096k,mode=755"),
        ("/run", "tmpfs", "tmpfs", "rw,nosuid,nodev,mode=755"),
        *_cgroups(profile, layout),
        ("/dev/hugepages", "hugetlbfs", "hugetlbfs", "rw,relatime,pagesize=2M"),
    ]
    if resctrl:
        rows.append(("/sys/fs/resctrl", "resctrl", "resctrl", "rw,relatime"))
    mounts = "".join(f"{source} {target} {kind} {options} 0 0\n" for target, source, kind, options in rows)
    info = ""
    for number, (target, source, kind, options) in enumerate(rows, start=22):
        parent = 1 if target == "/" else 22
        own = "rw,relatime" if target == "/" else _QUIET
        info += f"{number} {parent} 0:{number} / {target} {own} shared:{number} - {kind} {source} {options}\n"
    return mounts, info
