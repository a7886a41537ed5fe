"""System calls that fail on order: an errno, half a write, or the death of the process."""

from __future__ import annotations

import enum
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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


@dataclass
class _Order:
    """A fault by name. `nth` counts from 1; None means every such call."""

    call: str
    ending: str
    nth: int | None
    fault: Fault
    number: int
    seen: int = 0
    hit: int = 0

    def takes(self, call: str, path: str) -> bool:
        if call != self.call or not path.endswith(self.ending):
            return False
        self.seen += 1
        if self.nth not in (None, self.seen):
            return False
        self.hit += 1
        return True


class FaultyFiles:
    """Passes calls on, remembers their names, and fails where it is told to: `failing` names the call and the file.

    `faults` maps the number of a call (from 0) to what happens at it, for tests that go through all calls of a run.
    SHORT only means something for a write to a plain file; elsewhere the call passes. `number` is the errno of ERROR
    and LATE in `faults`.
    """

    def __init__(self, inner: StoreFiles, faults: dict[int, Fault] | None = None, number: int = errno.EIO) -> None:
        self._inner = inner
        self._plain_fds: set[int] = set()
        self._paths: dict[int, str] = {}
        self._orders: list[_Order] = []
        self.faults = {} if faults is None else faults
        self.number = number
        self.calls: list[str] = []
        self.dead = False

    @contextmanager
    def failing(
        self, call: str, ending: str, number: int = errno.EIO, *, nth: int | None = 1, fault: Fault = Fault.ERROR
    ) -> Iterator[None]:
        """Within it the `nth` call of that name, on a path with that ending, fails; every one with None.

        Calls on a descriptor count for the path that its file has. That nothing came to fail is an error of the
        test: the code under it no longer makes that call.
        """
        order = _Order(call, ending, nth, fault, number)
        self._orders.append(order)
        try:
            yield
        finally:
            self._orders.remove(order)
        assert order.hit, f"{call} of ...{ending} was seen {order.seen} times, and was to fail at {nth}"

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        """open(2)."""
        fd: int = self._do("open", path, path, flags, mode)
        self._paths[fd] = path
        if flags & os.O_APPEND:
            self._plain_fds.add(fd)
        return fd

    def close(self, fd: int) -> None:
        """close(2)."""
        self._plain_fds.discard(fd)
        self._do("close", self._paths.pop(fd, ""), fd)

    def pread(self, fd: int, length: int, offset: int) -> bytes:
        """pread(2)."""
        raw: bytes = self._do("pread", self._paths[fd], fd, length, offset)
        return raw

    def write(self, fd: int, data: bytes) -> int:
        """write(2)."""
        count: int = self._do("write", self._paths[fd], fd, data)
        return count

    def listdir(self, path: str) -> list[str]:
        """Names."""
        names: list[str] = self._do("listdir", path, path)
        return names

    def readlink(self, path: str) -> str:
        """Target."""
        target: str = self._do("readlink", path, path)
        return target

    def stat(self, path: str) -> os.stat_result:
        """stat(2)."""
        status: os.stat_result = self._do("stat", path, path)
        return status

    def fstat(self, fd: int) -> os.stat_result:
        """fstat(2)."""
        status: os.stat_result = self._do("fstat", self._paths[fd], fd)
        return status

    def fsync(self, fd: int) -> None:
        """fsync(2)."""
        self._do("fsync", self._paths[fd], fd)

    def rename(self, source: str, target: str) -> None:
        """rename(2)."""
        self._do("rename", source, source, target)
        self._paths = {fd: target if path == source else path for fd, path in self._paths.items()}

    def unlink(self, path: str) -> None:
        """unlink(2)."""
        self._do("unlink", path, path)

    def lock(self, fd: int) -> None:
        """flock(2)."""
        self._do("lock", self._paths[fd], fd)

    def _do(self, call: str, path: str, *arguments: Any) -> Any:
        if self.dead:
            raise Crash
        fault, number = self._fault_of(call, path)
        self.calls.append(call)
        if fault is Fault.ERROR:
            raise OSError(number, os.strerror(number))
        if fault is Fault.CRASH_BEFORE:
            self.dead = True
            raise Crash
        if fault is Fault.SHORT and call == "write" and arguments[0] in self._plain_fds:
            fd, data = arguments
            arguments = fd, data[: len(data) // 2]
        answer = getattr(self._inner, call)(*arguments)
        if fault is Fault.LATE:
            raise OSError(number, os.strerror(number))
        if fault is Fault.CRASH_AFTER:
            self.dead = True
            raise Crash
        return answer

    def _fault_of(self, call: str, path: str) -> tuple[Fault | None, int]:
        taken = [order for order in self._orders if order.takes(call, path)]
        if taken:
            return taken[0].fault, taken[0].number
        return self.faults.get(len(self.calls)), self.number
