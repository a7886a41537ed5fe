"""One group: its nine kept files, and how they become a `CgroupSample`."""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import Generic, TypeVar

from fuyaod.cgroups.observe.parse import (
    parse_counter,
    parse_cpu_stat,
    parse_io_stat,
    parse_memory_events,
    parse_memory_stat,
)
from fuyaod.errors import FuyaodError, HostFileError, HostParseError
from fuyaod.hostfs import HostRoot, KeptFile
from fuyaod.hostfs.parse import parse_pressure
from fuyaod.model.cgroup import CgroupId, CgroupSample, CgroupSlow

T = TypeVar("T", covariant=True)


class StatFile(KeptFile, Generic[T]):
    """One file of a group, read and parsed. A subclass, not an owner, because a node has thousands of them.

    `silent`: it is missing or refused and is left alone until `rearm`. `problem` is why there is no value though there
    is a file; None while all is well.
    """

    __slots__ = ("_parse", "problem", "silent")

    def __init__(self, host: HostRoot, folder: str, name: str, parse: Callable[[bytes, str], T]) -> None:
        super().__init__(host, folder, name)
        self._parse = parse
        self.silent = False
        self.problem: FuyaodError | None = None

    def value(self) -> T | None:
        """What the file says now; None when it is missing, refused or makes no sense."""
        if self.silent:
            return None
        try:
            raw = self.read()
        except HostFileError as error:
            # Asking a thousand groups again each tick would cost more than all the rest.
            self.close()
            # EOPNOTSUPP: PSI is built in and switched off, which `doctor` explains once and is nothing wrong here.
            self.silent, self.problem = True, None if error.errno == errno.EOPNOTSUPP else error
            return None
        if raw is None:
            self.silent, self.problem = True, None
            return None
        try:
            found = self._parse(raw, self._name)
        except HostParseError:
            self.problem = HostParseError(self._host.absolute(self.relative), raw[:60], "its usual format")
            return None
        self.problem = None
        return found

    @property
    def is_kept(self) -> bool:
        """Whether a descriptor is open: it stays with its group, while a path may lead to another one."""
        return self._fd >= 0

    def rearm(self) -> None:
        """Lets the next read try a missing or refused file again: controllers and PSI can be switched on later."""
        self._gone = self.silent = False


class Group:
    """One observed group. `troubles`: how many of its files gave no value at the last read though they are there.

    Args:
        host: where the files are.
        folder: the group's folder relative to the host root.
        id: what the group is; `id.inode` tells whether it is still the same one.
    """

    __slots__ = (
        "_cpu",
        "_cpu_pressure",
        "_folder",
        "_host",
        "_io",
        "_io_pressure",
        "_memory",
        "_memory_events",
        "_memory_pressure",
        "_memory_stat",
        "_pids",
        "_silent",
        "_slow",
        "_slow_at_ns",
        "id",
        "troubles",
    )

    def __init__(self, host: HostRoot, folder: str, id: CgroupId) -> None:
        self.id = id
        self._host = host
        self._folder = folder
        self._cpu = StatFile(host, folder, "cpu.stat", parse_cpu_stat)
        self._cpu_pressure = StatFile(host, folder, "cpu.pressure", parse_pressure)
        self._memory = StatFile(host, folder, "memory.current", parse_counter)
        self._memory_stat = StatFile(host, folder, "memory.stat", parse_memory_stat)
        self._memory_events = StatFile(host, folder, "memory.events", parse_memory_events)
        self._memory_pressure = StatFile(host, folder, "memory.pressure", parse_pressure)
        self._io = StatFile(host, folder, "io.stat", parse_io_stat)
        self._io_pressure = StatFile(host, folder, "io.pressure", parse_pressure)
        self._pids = StatFile(host, folder, "pids.current", parse_counter)
        self._slow: CgroupSlow | None = None
        self._slow_at_ns = 0
        self._silent = 0
        self.troubles = 0

    @property
    def files(self) -> tuple[StatFile[object], ...]:
        """All nine."""
        return (
            self._cpu,
            self._cpu_pressure,
            self._memory,
            self._memory_stat,
            self._memory_events,
            self._memory_pressure,
            self._io,
            self._io_pressure,
            self._pids,
        )

    def read(self, at_ns: int, whole: bool) -> CgroupSample:
        """The group now; with `whole`, and at the first time, the slow files too.

        `gone` is set when it vanished before or while it was read.
        """
        if not self._cpu.is_kept and self._is_another():
            return self.last_words()
        cpu = self._cpu.value()
        cpu_pressure = self._cpu_pressure.value()
        current = self._memory.value()
        whole = whole or self._slow is None
        if whole:
            self._slow = CgroupSlow(
                memory_stat=self._memory_stat.value(),
                memory_events=self._memory_events.value(),
                memory_pressure=self._memory_pressure.value(),
                io_stat=self._io.value(),
                io_pressure=self._io_pressure.value(),
                pids_current=self._pids.value(),
            )
            self._slow_at_ns = at_ns
        doubtful = whole or cpu is None or cpu_pressure is None or current is None or self.troubles > 0
        if doubtful:
            self.troubles = sum(file.problem is not None for file in self.files)
        return CgroupSample(
            id=self.id,
            cpu=cpu,
            cpu_pressure=cpu_pressure,
            memory_current_bytes=current,
            slow=self._slow,
            slow_at_ns=self._slow_at_ns,
            gone=doubtful and self._vanished(),
        )

    def last_words(self) -> CgroupSample:
        """What is left to say of a group that vanished between two ticks: its last slow values, with their time."""
        return CgroupSample(
            id=self.id,
            cpu=None,
            cpu_pressure=None,
            memory_current_bytes=None,
            slow=self._slow,
            slow_at_ns=self._slow_at_ns,
            gone=True,
        )

    def problems(self) -> list[tuple[str, FuyaodError]]:
        """Files that are there and gave no value: path below the host root, and why."""
        return [(file.relative, file.problem) for file in self.files if file.problem is not None]

    def rearm(self) -> None:
        """Lets missing and refused files be tried again."""
        for file in self.files:
            file.rearm()
        self._silent = 0

    def close(self) -> None:
        """Gives all descriptors back."""
        for file in self.files:
            file.close()

    def _vanished(self) -> bool:
        """Whether the group itself is gone, asked only when one more file than before is missing.

        One missing file proves nothing: `cgroup.pressure=0` hides the pressure files of a living group.
        """
        silent = sum(file.silent for file in self.files)
        if silent == self._silent:
            return False
        self._silent = silent
        return self._is_another()

    def _is_another(self) -> bool:
        """Whether the folder is gone or has become another group's."""
        try:
            found = self._host.stat(self._folder)
        except HostFileError:
            return False
        return found is None or found.st_ino != self.id.inode
