"""What the machine is and runs."""

from __future__ import annotations

import os
from collections.abc import Iterable

from fuyaod.errors import FuyaodError
from fuyaod.hostfs import HostRoot
from fuyaod.model.snapshot import HostIdentity


def observe_identity(host: HostRoot, node_name: str) -> HostIdentity:
    """Names and versions; what cannot be read is None. An empty `node_name` takes the host's own name."""
    release = dict(_os_release_pairs(_text(host, "etc/os-release") or _text(host, "usr/lib/os-release") or ""))
    return HostIdentity(
        node_name=node_name or _text(host, "proc/sys/kernel/hostname") or "unknown",
        kernel_release=_text(host, "proc/sys/kernel/osrelease"),
        machine=_machine(host),
        os_id=release.get("ID"),
        os_version=release.get("VERSION_ID"),
        boot_time_s=_boot_time(host),
    )


def _text(host: HostRoot, relative: str) -> str | None:
    try:
        return host.read_text(relative) or None
    except FuyaodError:
        return None


def _os_release_pairs(text: str) -> Iterable[tuple[str, str]]:
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        if equals:
            yield key.strip(), value.strip().strip("\"'")


def _machine(host: HostRoot) -> str | None:
    arch = _text(host, "proc/sys/kernel/arch")  # kernel >= 6.1
    if arch:
        return arch
    cpuinfo = _text(host, "proc/cpuinfo") or ""
    if "CPU implementer" in cpuinfo:
        return "aarch64"
    if "vendor_id" in cpuinfo:
        return "x86_64"
    return os.uname().machine if host.is_this_machine else None


def _boot_time(host: HostRoot) -> int | None:
    for line in (_text(host, "proc/stat") or "").splitlines():
        key, _, value = line.partition(" ")
        if key == "btime" and value.isdigit():
            return int(value)
    return None
