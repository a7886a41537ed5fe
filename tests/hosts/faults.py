"""Makes reading of chosen files fail, which a plain tree cannot do."""

from __future__ import annotations

import os
from collections.abc import Mapping

from fuyaod.hostfs.files import OsFiles


class FaultyFiles(OsFiles):
    """System calls where reading the given files fails, as the kernel fails it: opening works, reading does not.

    Args:
        root: the root of the tree.
        faults: errno by path relative to the root, as in `Materialised.faults`.
    """

    def __init__(self, root: str | os.PathLike[str], faults: Mapping[str, int]) -> None:
        self._by_path = {os.path.realpath(os.path.join(root, path)): number for path, number in faults.items()}
        self._by_fd: dict[int, tuple[int, str]] = {}

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:  # type: ignore[override]
        """open(2), remembering which descriptor must fail."""
        fd = os.open(path, flags, mode)
        number = self._by_path.get(os.path.realpath(path))
        if number is not None:
            self._by_fd[fd] = number, path
        return fd

    def close(self, fd: int) -> None:
        """close(2)."""
        self._by_fd.pop(fd, None)
        os.close(fd)

    def pread(self, fd: int, length: int, offset: int) -> bytes:
        """pread(2), or the fault."""
        if fd in self._by_fd:
            number, path = self._by_fd[fd]
            raise OSError(number, os.strerror(number), path)
        return os.pread(fd, length, offset)
