"""Kernel, distribution, command line and build configuration."""

from __future__ import annotations

import os
import re
import zlib
from typing import Final

from fuyaod.doctor.observe.reader import Reader
from fuyaod.errors import HostParseError
from fuyaod.model.facts import KernelFacts

CONFIG_LIMIT_BYTES: Final = 4 << 20
"""A kernel configuration has about 300 KiB; what unpacks to more than this is none."""


def observe_kernel(reader: Reader) -> KernelFacts:
    """What the host runs. The configuration is that of `/proc/config.gz`, else of `/boot/config-RELEASE`."""
    release = reader.line("proc/sys/kernel/osrelease")
    system = os_release(reader.text("etc/os-release") or reader.text("usr/lib/os-release") or "")
    config = kernel_config(reader, release)
    hz = re.search(r"^CONFIG_HZ=(\d{1,5})$", config or "", re.MULTILINE)
    return KernelFacts(
        release=release,
        machine=machine(reader),
        os_id=system.get("ID"),
        os_name=system.get("PRETTY_NAME") or system.get("NAME"),
        cmdline=reader.words("proc/cmdline") or (),
        hz=int(hz[1]) if hz else None,
        rt_group_sched=None if config is None else "\nCONFIG_RT_GROUP_SCHED=y\n" in config,
        systemd_running=reader.there("run/systemd/system"),
        systemd_version=systemd_version(reader),
    )


def os_release(text: str) -> dict[str, str]:
    """The assignments of an os-release file, without quotes. Source: os-release(5)."""
    pairs = (line.partition("=") for line in text.splitlines() if not line.startswith("#"))
    return {key.strip(): value.strip().strip("\"'")[:80] for key, equals, value in pairs if equals}


def machine(reader: Reader) -> str | None:
    """Machine type as `uname -m` says it; told by the shape of `/proc/cpuinfo` where no file names it."""
    if arch := reader.line("proc/sys/kernel/arch"):  # kernel >= 6.1
        return arch
    if reader.host.is_this_machine:
        return os.uname().machine
    cpuinfo = reader.text("proc/cpuinfo") or ""
    if "CPU implementer" in cpuinfo:
        return "aarch64"
    return "x86_64" if "vendor_id" in cpuinfo else None


def kernel_config(reader: Reader, release: str | None) -> str | None:
    """The configuration the kernel was built with, None where no file tells."""
    packed = reader.raw("proc/config.gz")
    if packed is not None:
        return unpack(reader, packed)
    if not release or "/" in release:
        return None
    return reader.text(f"boot/config-{release}")


def unpack(reader: Reader, packed: bytes) -> str | None:
    """gzip to text, None (and a note) for anything else."""
    try:
        raw = zlib.decompressobj(wbits=31).decompress(packed, CONFIG_LIMIT_BYTES)
        return raw.decode()
    except (zlib.error, UnicodeDecodeError):
        path = "proc/config.gz"
        reader.note(path, HostParseError(reader.host.absolute(path), packed[:20], "a gzip file of text"))
        return None


def systemd_version(reader: Reader) -> str | None:
    """The number in the name of systemd's private library, the one file that tells its version without running it."""
    folders = ["usr/lib/systemd", "usr/lib64/systemd", "lib/systemd"]
    folders += [f"usr/lib/{arch}-linux-gnu/systemd" for arch in ("x86_64", "aarch64")]
    for folder in folders:
        if not reader.there(folder):
            continue
        for name in reader.names(folder):
            if found := re.fullmatch(r"libsystemd-shared-(\d+)[^/]*\.so", name):
                return found[1]
    return None
