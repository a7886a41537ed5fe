"""The operating system, but chosen files answer with an errno: what a plain tree read by root cannot do."""

from __future__ import annotations

import os
from collections.abc import Mapping

from fuyaod.hostfs.files import OsFiles


class RefusingFiles(OsFiles):
    """System calls that fail on the paths whose ending is named, each call by its own table of ending to errno.

    The tables may be changed at any time; an emptied one refuses nothing any more.

    Args:
        at_open: open(2) fails.
        at_read: open(2) works and read(2) fails, as with a pressure file of a kernel without PSI.
        at_list: the folder cannot be listed.
        at_stat: stat(2) fails.
    """

    def __init__(
        self,
        *,
        at_open: Mapping[str, int] | None = None,
        at_read: Mapping[str, int] | None = None,
        at_list: Mapping[str, int] | None = None,
        at_stat: Mapping[str, int] | None = None,
    ) -> None:
        self.at_open = dict(at_open or {})
        self.at_read = dict(at_read or {})
        self.at_list = dict(at_list or {})
        self.at_stat = dict(at_stat or {})
        self._paths: dict[int, str] = {}

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:  # type: ignore[override]
        """open(2), or the refusal."""
        _refuse(self.at_open, path)
        fd = os.open(path, flags, mode)
        self._paths[fd] = path
        return fd

    def close(self, fd: int) -> None:
        """close(2)."""
        self._paths.pop(fd, None)
        os.close(fd)

    def pread(self, fd: int, length: int, offset: int) -> bytes:
        """pread(2), or the refusal."""
        _refuse(self.at_read, self._paths[fd])
        return os.pread(fd, length, offset)

    def listdir(self, path: str) -> list[str]:  # type: ignore[override]
        """Names in a directory, or the refusal."""
        _refuse(self.at_list, path.rstrip("/"))
        return os.listdir(path)

    def stat(self, path: str) -> os.stat_result:  # type: ignore[override]
        """stat(2), or the refusal."""
        _refuse(self.at_stat, path.rstrip("/"))
        return os.stat(path)


def _refuse(table: dict[str, int], path: str) -> None:
    if not path.endswith(tuple(table)):
        return
    number = next(number for ending, number in table.items() if path.endswith(ending))
    raise OSError(number, os.strerror(number), path)
