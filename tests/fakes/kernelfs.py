"""A host in memory: cgroups that behave as the kernel's, plain files beside them, and descriptors that die with the
process."""

from __future__ import annotations

import errno
import os
import stat

from fuyaod.model import CpuSet
from fuyaod.model.values import parse_cpulist
from tests.fakes.cgroupfiles import Group, refuse

EFFECTIVE = "cpuset.cpus.effective"


class PlainFile:
    """Content of a file on tmpfs; it lives on without a name."""

    def __init__(self, content: bytes = b"", mode: int = 0o600) -> None:
        self.content = bytearray(content)
        self.mode = stat.S_IFREG | mode
        self.uid = os.geteuid()
        self.locked_by: int | None = None


class KernelFs:
    """`StoreFiles` over groups and plain files, all by absolute path.

    Args:
        online: CPUs of the host, as a list.
    """

    def __init__(self, online: str = "0-7") -> None:
        self.online: CpuSet = parse_cpulist(online)
        self.groups: dict[str, Group] = {}
        self.plain: dict[str, PlainFile] = {}
        self.writes: list[tuple[str, str]] = []
        """Writes to files of groups that were accepted, in order."""
        self._open: dict[int, tuple[str, Group | PlainFile]] = {}
        self._next_fd = 100
        self._next_inode = 1000

    def make_group(self, path: str, *, populated: bool = False, **values: str) -> Group:
        """A group; values by file name with `_` for the dot. One of the same path is another group from then on."""
        self._next_inode += 1
        group = Group(self._next_inode, populated)
        group.values.update({name.replace("_", ".", 1): value for name, value in values.items()})
        self.groups[path] = group
        return group

    def put(self, path: str, text: str) -> None:
        """A write by somebody else. Raises OSError as the kernel does."""
        folder, _, name = path.rpartition("/")
        self.groups[folder].take(name, text, self.online)

    def value(self, path: str) -> str:
        """What a reader sees, without the newline."""
        folder, _, name = path.rpartition("/")
        return self._text(folder, self.groups[folder], name)

    def effective_cpus(self, folder: str) -> CpuSet:
        """CPUs that a group's tasks may use: its own within its parent's, the parent's where that leaves none."""
        parent = folder.rpartition("/")[0]
        above = self.effective_cpus(parent) if parent in self.groups else self.online
        return parse_cpulist(self.groups[folder].values["cpuset.cpus"]) & above or above

    @property
    def open_descriptors(self) -> int:
        """How many descriptors are open."""
        return len(self._open)

    def end_process(self) -> None:
        """Closes all descriptors, and with them the locks."""
        for fd in tuple(self._open):
            self.close(fd)

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        """open(2)."""
        folder, _, name = path.rpartition("/")
        target: Group | PlainFile
        if folder in self.groups and (name in self.groups[folder].values or name == EFFECTIVE):
            target = self.groups[folder]
        elif flags & os.O_DIRECTORY:
            target = PlainFile()
        elif flags & os.O_CREAT:
            if flags & os.O_EXCL and path in self.plain:
                raise refuse(errno.EEXIST)
            target = self.plain.setdefault(path, PlainFile(mode=mode))
        elif path in self.plain:
            target = self.plain[path]
        else:
            raise refuse(errno.ENOENT)
        self._next_fd += 1
        self._open[self._next_fd] = (path, target)
        return self._next_fd

    def close(self, fd: int) -> None:
        """close(2)."""
        _, target = self._open.pop(fd)
        if isinstance(target, PlainFile) and target.locked_by == fd:
            target.locked_by = None

    def pread(self, fd: int, length: int, offset: int) -> bytes:
        """pread(2)."""
        path, target = self._open[fd]
        if isinstance(target, PlainFile):
            return bytes(target.content[offset : offset + length])
        folder, _, name = path.rpartition("/")
        if self.groups.get(folder) is not target:
            raise refuse(errno.ENODEV)
        return (self._text(folder, target, name) + "\n").encode()[offset : offset + length]

    def write(self, fd: int, data: bytes) -> int:
        """write(2); plain files are always appended to."""
        path, target = self._open[fd]
        if isinstance(target, PlainFile):
            target.content += data
            return len(data)
        folder, _, name = path.rpartition("/")
        if self.groups.get(folder) is not target:
            raise refuse(errno.ENODEV)
        target.take(name, data.decode(), self.online)
        self.writes.append((path, data.decode().strip()))
        return len(data)

    def listdir(self, path: str) -> list[str]:
        """Names of the files in a group."""
        return [*self.groups[path].values]

    def readlink(self, path: str) -> str:
        """There are no links."""
        raise refuse(errno.EINVAL)

    def stat(self, path: str) -> os.stat_result:
        """stat(2) of a group."""
        if path not in self.groups:
            raise refuse(errno.ENOENT)
        return _status(stat.S_IFDIR | 0o755, self.groups[path].inode, 0)

    def fstat(self, fd: int) -> os.stat_result:
        """fstat(2) of a plain file."""
        _, target = self._open[fd]
        assert isinstance(target, PlainFile)
        return _status(target.mode, 1, target.uid)

    def fsync(self, fd: int) -> None:
        """fsync(2)."""

    def rename(self, source: str, target: str) -> None:
        """rename(2)."""
        self.plain[target] = self.plain.pop(source)

    def unlink(self, path: str) -> None:
        """unlink(2)."""
        if path not in self.plain:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        del self.plain[path]

    def lock(self, fd: int) -> None:
        """flock(2)."""
        _, target = self._open[fd]
        assert isinstance(target, PlainFile)
        if target.locked_by is not None:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        target.locked_by = fd

    def _text(self, folder: str, group: Group, name: str) -> str:
        return str(self.effective_cpus(folder)) if name == EFFECTIVE else group.values[name]


def _status(mode: int, inode: int, uid: int) -> os.stat_result:
    return os.stat_result((mode, inode, 0, 1, uid, 0, 0, 0, 0, 0))
