"""The one seam to the operating system: tests and `capture` put their own `Files` here instead of patching `open`."""

from __future__ import annotations

import errno
import os
from typing import Final, Protocol

VANISHED: Final = frozenset({errno.ENOENT, errno.ENODEV, errno.ENOTDIR, errno.ENXIO})
"""What a file that is not there (any more) answers; ENODEV comes from a kernfs file whose directory was removed."""

READ_FLAGS: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
"""O_NONBLOCK: a FIFO or a device in a hostile tree must not hold the agent."""


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


class OsFiles:
    """The operating system itself."""

    open = staticmethod(os.open)
    close = staticmethod(os.close)
    pread = staticmethod(os.pread)
    write = staticmethod(os.write)
    listdir = staticmethod(os.listdir)
    readlink = staticmethod(os.readlink)
    stat = staticmethod(os.stat)
