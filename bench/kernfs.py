"""What reading costs on a real cgroup file system, which formats its answer at each read: tmpfs only copies it."""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from fuyaod.hostfs import DescriptorBudget, HostRoot, KeptFile
from fuyaod.hostfs.budget import raise_descriptor_limit

MOUNTS = ("/sys/fs/cgroup", "/sys/fs/cgroup/unified")
GROUP = "fuyaod-bench"
FILES = ("cpu.stat", "cpu.pressure")


def real_mount() -> Path:
    """Where this machine's v2 hierarchy is. Raises SystemExit where there is none."""
    for mount in MOUNTS:
        if os.path.exists(f"{mount}/cgroup.controllers"):
            return Path(mount)
    raise SystemExit(f"cannot measure: no cgroup v2 at {' or '.join(MOUNTS)}")


@contextmanager
def real_groups(mount: Path, count: int) -> Iterator[list[str]]:
    """Empty groups in one group of our own. They go at the end, on SIGTERM and SIGINT, and what a killed bench left
    goes at the start.

    Raises:
        SystemExit: no group may be made here, or another bench is at work.
    """
    top = mount / GROUP
    try:
        top.mkdir(exist_ok=True)
        lock = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise SystemExit(f"cannot measure: cannot make {top}: {error.strerror}") from error
    before = signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        _lock(lock, top)
        try:
            _remove_children(top)
            for number in range(count):
                (top / f"{number}").mkdir()
            yield [str(top / f"{number}") for number in range(count)]
        finally:
            _remove_children(top)
            top.rmdir()
    finally:
        signal.signal(signal.SIGTERM, before)
        os.close(lock)


def _lock(fd: int, top: Path) -> None:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise SystemExit(f"cannot measure: another bench uses {top}") from error


def _remove_children(top: Path) -> None:
    for child in top.iterdir():
        if child.is_dir():
            child.rmdir()


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
