"""A process that changes values in a random walk until it is killed; run as `-m tests.property.journal_walker ROOT
JOURNAL SEED`. It prints one byte per plan."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

from fuyaod.hostfs import HostRoot
from fuyaod.hostfs.files import OsFiles
from fuyaod.hostfs.journal import Journal
from fuyaod.hostfs.restore import restore
from fuyaod.hostfs.write import act
from fuyaod.model.action import Reason, WriteFile

VALUES = {
    "cgroup.freeze": ("0", "1"),
    "cpu.idle": ("0", "1"),
    "cpu.max": ("max 100000", "10000 100000", "20000 100000"),
    "cpuset.cpus": ("0-3", "0", "1-2", "3,2,1"),
    "memory.high": ("max", "4096", "8192"),
}
GROUPS = ("be", "be/pod-a", "be/pod-b")
WHY = Reason(code="walk", text="random walk")


class WholeWrites(OsFiles):
    """Takes a value whole or not at all, as a kernel file does; a plain file that is cut and then written does not."""

    def __init__(self) -> None:
        self._paths: dict[int, str] = {}

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:  # type: ignore[override]
        """Opens without cutting, and remembers values by descriptor."""
        fd = os.open(path, flags & ~os.O_TRUNC, mode)
        self._paths.pop(fd, None)
        if flags & os.O_TRUNC:
            self._paths[fd] = path
        return fd

    def write(self, fd: int, data: bytes) -> int:  # type: ignore[override]
        """Replaces a value in one step."""
        path = self._paths.get(fd)
        if path is None:
            return os.write(fd, data)
        fresh = Path(f"{path}.fresh")
        fresh.write_bytes(data)
        fresh.replace(path)
        return len(data)


def main(root: str, journal_path: str, seed: str) -> None:
    """Walks until it is killed."""
    walk = random.Random(seed)
    with Journal.open(HostRoot(root, WholeWrites()), journal_path) as journal:
        while True:
            if walk.random() < 0.05:
                restore(journal)
            files = walk.choices(sorted(VALUES), k=walk.randint(1, 4))
            act(
                tuple(
                    WriteFile(path=f"{walk.choice(GROUPS)}/{file}", value=walk.choice(VALUES[file]), reason=WHY)
                    for file in files
                ),
                journal,
            )
            os.write(1, b".")


if __name__ == "__main__":
    main(*sys.argv[1:])
