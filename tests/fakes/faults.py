"""System calls that fail on order: an errno, half a write, or the death of the process."""

from __future__ import annotations

import enum
import errno
import os
from typing import Any

from fuyaod.hostfs.files import StoreFiles


class Crash(BaseException):
    """The process was killed; no code of ours may catch it."""


class Fault(enum.Enum):
    """What happens at one call. LATE: the call is carried out, and answers with an error all the same."""

    ERROR = "error"
    LATE = "late"
    SHORT = "short"
    CRASH_BEFORE = "crash_before"
    CRASH_AFTER = "crash_after"


class FaultyFiles:
    """Passes calls on, counts them, and fails where `faults` says so.

    `faults` maps the number of a call (from 0) to what happens at it. SHORT only means something for a write to a
    plain file; elsewhere the call passes. `number` is the errno of ERROR and LATE.
    """

    def __init__(self, inner: StoreFiles, faults: dict[int, Fault] | None = None, number: int = errno.EIO) -> None:
        self._inner = inner
        self._plain_fds: set[int] = set()
        self.faults = {} if faults is None else faults
        self.number = number
        self.calls: list[str] = []
        self.dead = False

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        """open(2)."""
        fd: int = self._do("open", path, flags, mode)
        if flags & os.O_APPEND:
            self._plain_fds.add(fd)
        return fd

    def close(self, fd: int) -> None:
        """close(2)."""
        self._plain_fds.discard(fd)
        self._do("close", fd)

    def pread(self, fd: int, length: int, offset: int) -> bytes:
        """pread(2)."""
        raw: bytes = self._do("pread", fd, length, offset)
        return raw

    def write(self, fd: int, data: bytes) -> int:
        """write(2)."""
        if self.faults.get(len(self.calls)) is Fault.SHORT and fd in self._plain_fds:
            data = data[: len(data) // 2]
        count: int = self._do("write", fd, data)
        return count

    def listdir(self, path: str) -> list[str]:
        """Names."""
        names: list[str] = self._do("listdir", path)
        return names

    def readlink(self, path: str) -> str:
        """Target."""
        target: str = self._do("readlink", path)
        return target

    def stat(self, path: str) -> os.stat_result:
        """stat(2)."""
        status: os.stat_result = self._do("stat", path)
        return status

    def fstat(self, fd: int) -> os.stat_result:
        """fstat(2)."""
        status: os.stat_result = self._do("fstat", fd)
        return status

    def fsync(self, fd: int) -> None:
        """fsync(2)."""
        self._do("fsync", fd)

    def rename(self, source: str, target: str) -> None:
        """rename(2)."""
        self._do("rename", source, target)

    def unlink(self, path: str) -> None:
        """unlink(2)."""
        self._do("unlink", path)

    def lock(self, fd: int) -> None:
        """flock(2)."""
        self._do("lock", fd)

    def _do(self, call: str, *arguments: Any) -> Any:
        if self.dead:
            raise Crash
        fault = self.faults.get(len(self.calls))
        self.calls.append(call)
        if fault is Fault.ERROR:
            raise OSError(self.number, os.strerror(self.number))
        if fault is Fault.CRASH_BEFORE:
            self.dead = True
            raise Crash
        answer = getattr(self._inner, call)(*arguments)
        if fault is Fault.LATE:
            raise OSError(self.number, os.strerror(self.number))
        if fault is Fault.CRASH_AFTER:
            self.dead = True
            raise Crash
        return answer
