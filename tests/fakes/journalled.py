"""A fake host with an agent on it that can be killed and started again."""

from __future__ import annotations

from fuyaod.hostfs import HostRoot
from fuyaod.hostfs.journal import Journal
from fuyaod.model.action import Reason, WriteFile
from tests.fakes.faults import Fault, FaultyFiles
from tests.fakes.kernelfs import KernelFs

ROOT = "/sys/fs/cgroup"
PATH = "/run/fuyaod/cgroups.journal"
WHY = Reason(code="test", text="a test wants it")


def open_journal(kernel: KernelFs, faults: dict[int, Fault] | None = None) -> tuple[Journal, FaultyFiles]:
    """An agent's journal; all its system calls, those on the journal and those on the groups, go through the answer's
    second part."""
    files = FaultyFiles(kernel, faults)
    return Journal.open(HostRoot("/", files), PATH, files), files


def write(path: str, value: str, inode: int | None = None) -> WriteFile:
    """An action on a file below the cgroup root."""
    return WriteFile(path=f"{ROOT}/{path}".removeprefix("/"), value=value, inode=inode, reason=WHY)
