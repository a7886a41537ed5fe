"""The one seam to the operating system: tests and `capture` put their own `Files` here instead of patching `open`."""

from __future__ import annotations

import errno
import fcntl
import os
from typing import Final, Protocol

VANISHED: Final = frozenset({errno.ENOENT, errno.ENODEV, errno.ENOTDIR, errno.ENXIO, errno.ESRCH})
"""What a file that is not there (any more) answers; ENODEV comes from a kernfs file whose directory was removed,
ESRCH from a file of a process that ended."""

READ_FLAGS: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
"""O_NONBLOCK, O_NOCTTY: a FIFO or a terminal in a hostile tree must neither hold the agent nor become its terminal."""

WRITE_FLAGS: Final = os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW
"""O_TRUNC: kernfs passes over it; in a declared tree of plain files a short value must not keep the tail of a long
one. O_NOFOLLOW: no kernel file that is written is a link."""


class Files(Protocol):
    """System calls on absolute paths and descriptors; every one raises OSError as the kernel does."""

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        """open(2)."""
        ...

    def close(self, fd: int) -> None:
        """close(2)."""
        ...

    def pread(self, fd: int, length: int, offset: int) -> bytes:
        """pread(2): at most `length` bytes from `offset`."""
        ...

    def write(self, fd: int, data: bytes) -> int:
        """write(2)."""
        ...

    def listdir(self, path: str) -> list[str]:
        """Names in a directory, any order."""
        ...

    def readlink(self, path: str) -> str:
        """Target of a symbolic link."""
        ...

    def stat(self, path: str) -> os.stat_result:
        """stat(2), following links."""
        ...


class StoreFiles(Files, Protocol):
    """What a file of our own needs on top: the journal is kept with these."""

    def fstat(self, fd: int) -> os.stat_result:
        """fstat(2)."""
        ...

    def fsync(self, fd: int) -> None:
        """fsync(2)."""
        ...

    def rename(self, source: str, target: str) -> None:
        """rename(2): takes the place of `target` in one step."""
        ...

    def unlink(self, path: str) -> None:
        """unlink(2)."""
        ...

    def lock(self, fd: int) -> None:
        """flock(2), exclusive, without waiting: BlockingIOError when another open file has it."""
        ...


def close_quietly(files: Files, fd: int) -> None:
    """Closes; Linux frees the descriptor even where it answers with an error."""
    try:
        files.close(fd)
    except OSError:
        return


class OsFiles:
    """The operating system itself."""

    open = staticmethod(os.open)
    close = staticmethod(os.close)
    pread = staticmethod(os.pread)
    write = staticmethod(os.write)
    listdir = staticmethod(os.listdir)
    readlink = staticmethod(os.readlink)
    stat = staticmethod(os.stat)
    fstat = staticmethod(os.fstat)
    fsync = staticmethod(os.fsync)
    rename = staticmethod(os.rename)
    unlink = staticmethod(os.unlink)

    @staticmethod
    def lock(fd: int) -> None:
        """flock(2), exclusive, without waiting."""
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
