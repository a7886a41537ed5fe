"""What reading costs on a real cgroup file system, which formats its answer at each read: tmpfs only copies it."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from fuyaod.hostfs import DescriptorBudget, HostRoot, KeptFile
from fuyaod.hostfs.budget import raise_descriptor_limit

MOUNTS = ("/sys/fs/cgroup", "/sys/fs/cgroup/unified")
FILES = ("cpu.stat", "cpu.pressure")


@contextmanager
def real_groups(count: int) -> Iterator[list[str] | None]:
    """Empty groups of our own; None where this process may not make any."""
    mount = next((mount for mount in MOUNTS if os.path.exists(f"{mount}/cgroup.controllers")), None)
    if mount is None or not os.access(mount, os.W_OK):
        yield None
        return
    top = Path(mount) / f"fuyaod-bench-{secrets.token_hex(4)}"
    try:
        top.mkdir()
    except OSError:
        yield None
        return
    folders = [top / f"{number}" for number in range(count)]
    try:
        for folder in folders:
            folder.mkdir()
        yield [str(folder) for folder in folders]
    finally:
        for folder in [*folders, top]:
            if folder.exists():
                folder.rmdir()


def read_cost_us(folders: Sequence[str], rounds: int = 20) -> float:
    """CPU microseconds of one kept read of `cpu.stat` or `cpu.pressure`, the mean over both and all folders."""
    host = HostRoot("/", budget=DescriptorBudget(raise_descriptor_limit()))
    kept: list[KeptFile] = [host.keep(f"{folder.lstrip('/')}/{name}") for folder in folders for name in FILES]
    for file in kept:
        file.read()
    began = time.process_time_ns()
    for _ in range(rounds):
        for file in kept:
            file.read()
    spent = time.process_time_ns() - began
    for file in kept:
        file.close()
    return spent / 1000 / rounds / len(kept)
