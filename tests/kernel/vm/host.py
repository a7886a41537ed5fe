"""Can this machine run the kernel tests at all?"""

import os
import platform
import resource
import shutil

import msgspec

MIN_OPEN_FILES = 10_000
"""The guest's file server holds one per inode that the guest remembers; forgetting is a matter of seconds."""

_UNLIMITED = 1 << 30


class Unmet(msgspec.Struct, frozen=True, kw_only=True):
    """Why the virtual machine cannot be used here. A value, because a test run goes on without it."""

    reason: str


class HostFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What decides whether the machine will do."""

    system: str
    machine: str
    os_id: str
    os_version: str
    uid: int
    has_apt: bool
    open_files: int


def read_host_facts() -> HostFacts:
    """Facts about the machine this runs on."""
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        release = {}
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return HostFacts(
        system=platform.system(),
        machine=platform.machine(),
        os_id=release.get("ID", "unknown"),
        os_version=release.get("VERSION_ID", ""),
        uid=os.geteuid(),
        has_apt=shutil.which("apt-get") is not None,
        open_files=_UNLIMITED if hard == resource.RLIM_INFINITY else hard,
    )


def unmet_requirement(facts: HostFacts) -> Unmet | None:
    """The first requirement that the machine does not meet, or None when it meets them all."""
    if facts.system != "Linux" or facts.machine != "x86_64":
        return Unmet(reason=f"needs Linux on x86-64, this is {facts.system} on {facts.machine}")
    if (facts.os_id, facts.os_version) != ("debian", "12"):
        return Unmet(reason=f"needs Debian 12, this is {facts.os_id} {facts.os_version}".rstrip())
    if facts.uid != 0:
        return Unmet(reason=f"needs root (packages, file server of the guest), this is uid {facts.uid}")
    if not facts.has_apt:
        return Unmet(reason="needs apt-get, which is not installed")
    if facts.open_files < MIN_OPEN_FILES:
        return Unmet(reason=f"needs {MIN_OPEN_FILES} open files, the hard limit is {facts.open_files}")
    return None
