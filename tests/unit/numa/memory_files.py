"""Host files in memory: one damaged machine per example without writing hundreds of files."""

from __future__ import annotations

import errno
import os
import stat
from collections import defaultdict

from tests.unit.numa.trees import Tree

ROOT = "/declared/"


class MemoryFiles:
    """Files, folders and links from dicts with paths relative to `/declared`; `refused` maps a path to an errno."""

    def __init__(self, tree: Tree, links: dict[str, str], refused: dict[str, int]) -> None:
        self._files = {
            path: text if isinstance(text, bytes) else text.encode() for path, text in tree.items() if text is not None
        }
        self._links = links
        self._refused = refused
        self._folders: dict[str, set[str]] = defaultdict(set)
        for path in (*self._files, *links):
            while path:
                folder, _, name = path.rpartition("/")
                self._folders[folder].add(name)
                path = folder
        self._open: dict[int, bytes] = {}

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        """open(2)."""
        here = self._real(path)
        if here in self._refused:
            raise _error(self._refused[here])
        if here not in self._files:
            raise _error(errno.EISDIR if here in self._folders else errno.ENOENT)
        fd = len(self._open) + 3
        self._open[fd] = self._files[here]
        return fd

    def close(self, fd: int) -> None:
        """close(2), which these files do not need."""

    def pread(self, fd: int, length: int, offset: int) -> bytes:
        """pread(2)."""
        return self._open[fd][offset : offset + length]

    def write(self, fd: int, data: bytes) -> int:
        """write(2), always refused."""
        raise _error(errno.EROFS)

    def listdir(self, path: str) -> list[str]:
        """Names in a folder."""
        here = self._real(path)
        if here in self._refused:
            raise _error(self._refused[here])
        if here not in self._folders:
            raise _error(errno.ENOTDIR if here in self._files else errno.ENOENT)
        return list(self._folders[here])

    def readlink(self, path: str) -> str:
        """readlink(2)."""
        folder, _, name = path.rstrip("/").rpartition("/")
        here = f"{self._real(folder)}/{name}".lstrip("/")
        if here in self._links:
            return self._links[here]
        raise _error(errno.EINVAL if here in self._files or here in self._folders else errno.ENOENT)

    def stat(self, path: str) -> os.stat_result:
        """stat(2)."""
        here = self._real(path)
        if here not in self._files and here not in self._folders:
            raise _error(errno.ENOENT)
        mode = stat.S_IFREG if here in self._files else stat.S_IFDIR
        return os.stat_result((mode | 0o444, 1, 1, 1, 0, 0, 0, 0, 0, 0))

    def _real(self, path: str) -> str:
        here = (path + "/").removeprefix(ROOT).strip("/")
        for _ in range(40):
            link = next((link for link in self._links if here == link or here.startswith(link + "/")), None)
            if link is None:
                return here
            target = os.path.normpath(os.path.join(os.path.dirname(link), self._links[link]))
            here = target + here[len(link) :]
        raise _error(errno.ELOOP)


def _error(number: int) -> OSError:
    return OSError(number, os.strerror(number))
