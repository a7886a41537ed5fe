"""What a cgroup v2 kernel makes of a written value, for the files that the agent writes."""

from __future__ import annotations

import errno
import os

from fuyaod.model import CpuSet
from fuyaod.model.values import parse_cpulist

PAGE = 4096
DEFAULTS = {
    "cgroup.freeze": "0",
    "cpu.idle": "0",
    "cpu.weight": "100",
    "cpu.max": "max 100000",
    "cpuset.cpus": "",
    "memory.high": "max",
}


def refuse(number: int) -> OSError:
    """The kernel's error."""
    return OSError(number, os.strerror(number))


class Group:
    """One cgroup: its values, and whether tasks are in it.

    `idle_weight` is what `cpu.weight` reads while the group is idle: "0" on 6.1, "1" on 6.12.
    """

    def __init__(self, inode: int, populated: bool) -> None:
        self.inode = inode
        self.populated = populated
        self.idle_weight = "0"
        self.values = dict(DEFAULTS)

    def take(self, name: str, text: str, online: CpuSet) -> None:
        """A write of `text` to the file `name`. Raises OSError as the kernel does."""
        value = text.strip()
        match name:
            case "cgroup.freeze" | "cpu.idle":
                self._take_switch(name, value)
            case "cpu.weight":
                self._take_weight(value)
            case "cpu.max":
                self._take_max(value)
            case "cpuset.cpus":
                self._take_cpus(value, online)
            case "memory.high":
                self.values[name] = value if value == "max" else str(_whole(value) // PAGE * PAGE)
            case _:
                raise refuse(errno.EACCES)

    def _take_switch(self, name: str, value: str) -> None:
        if value not in ("0", "1"):
            raise refuse(errno.ERANGE)
        if name == "cpu.idle" and value != self.values[name]:
            self.values["cpu.weight"] = self.idle_weight if value == "1" else "100"
        self.values[name] = value

    def _take_weight(self, value: str) -> None:
        if self.values["cpu.idle"] == "1":
            raise refuse(errno.EINVAL)
        if not 1 <= _whole(value) <= 10_000:
            raise refuse(errno.ERANGE)
        self.values["cpu.weight"] = str(_whole(value))

    def _take_max(self, value: str) -> None:
        words = value.split()
        period = words[1] if len(words) > 1 else self.values["cpu.max"].split()[1]
        if words[0] != "max" and _whole(words[0]) < 1000:
            raise refuse(errno.EINVAL)
        self.values["cpu.max"] = f"{words[0]} {_whole(period)}"

    def _take_cpus(self, value: str, online: CpuSet) -> None:
        try:
            cpus = parse_cpulist(value)
        except ValueError:
            raise refuse(errno.EINVAL) from None
        if not cpus <= online:
            raise refuse(errno.ERANGE)
        if not cpus and self.populated:
            raise refuse(errno.ENOSPC)
        self.values["cpuset.cpus"] = str(cpus)


def _whole(text: str) -> int:
    if not text.isdigit():
        raise refuse(errno.EINVAL)
    return int(text)
