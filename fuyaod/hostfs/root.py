"""`HostRoot`: reads of host files relative to one root, which is `/`, a container's `/host`, or a declared tree."""

from __future__ import annotations

import errno
import os
import re
from functools import cached_property
from typing import Final

from fuyaod.errors import FuyaodError, HostFileError, HostParseError, host_error
from fuyaod.hostfs.budget import DescriptorBudget
from fuyaod.hostfs.files import READ_FLAGS, VANISHED, Files, OsFiles, close_quietly
from fuyaod.hostfs.rooted import RootedFiles, follow
from fuyaod.model.cpuset import CpuSet
from fuyaod.model.values import parse_cpulist

BOOT_ID: Final = "proc/sys/kernel/random/boot_id"
"""A random number per boot. Source: random(4)."""

MAX_BYTES: Final = 4 << 20
"""Largest file read whole; a cpuinfo of 1024 CPUs has about 1.5 MiB. A larger one is no kernel file."""

CHUNK: Final = 65_536
PAGE: Final = 4096
WHOLE_BELOW: Final = 1024
"""A first answer shorter than this is the whole file. Files of many records (`cgroup.procs`) hand out as many whole
records as fit into the page, so a longer answer may be followed by more although the page was not full.

Source: Linux fs/seq_file.c, seq_read_iter().
"""

LIST_BYTES: Final = 65_536
"""Longest CPU list read: every second one of 8192 CPUs takes 20 KiB."""

_NUMBER: Final = re.compile(r"-?[0-9]{1,20}|0[xX][0-9a-fA-F]{1,16}").fullmatch


class HostRoot:
    """Host files below one root. Paths are relative and have no leading slash: `sys/devices/system/cpu/online`.

    Every reader returns None for what is not there and raises `HostDenied` for what may not be read. Links are
    followed inside the root, as in a chroot: nothing outside it is read or written whatever a tree's links say.

    Args:
        path: the root, absolute. `/` is this machine itself.
        files: the system calls to use; by default the kernel's own for `/`, and `RootedFiles` for any other root.
        budget: for descriptors that are kept.
    """

    def __init__(
        self, path: str | os.PathLike[str] = "/", files: Files | None = None, budget: DescriptorBudget | None = None
    ) -> None:
        self.path = os.path.abspath(path)
        self.files: Files = files or (OsFiles() if self.path == "/" else RootedFiles(self.path))
        self.budget = DescriptorBudget(1024) if budget is None else budget
        self._prefix = self.path.rstrip("/") + "/"

    @cached_property
    def is_this_machine(self) -> bool:
        """Whether the root is this very machine, at `/` or mounted elsewhere (`/host` in a container): only then do
        netlink, udev and psutil speak of the same host. Told by the boot id of the kernel behind its `/proc`."""
        if self.path == "/":
            return True
        try:
            there = self.read(BOOT_ID)
            return there is not None and there == HostRoot("/").read(BOOT_ID)
        except FuyaodError:
            return False

    def absolute(self, relative: str) -> str:
        """Absolute path for messages and system calls. Raises ValueError for a path that leaves the root by `..`, or
        that no system call can take."""
        if relative.startswith("/") or ".." in relative.split("/") or "\0" in relative:
            raise ValueError(f"cannot use host path {relative!r}: it must be relative and without '..' and NUL")
        return self._prefix + relative

    def read(self, relative: str, limit: int = MAX_BYTES) -> bytes | None:
        """The whole file, None when it is not there.

        Raises:
            HostDenied: no permission.
            HostFileError: any other errno (EOPNOTSUPP, EIO), or EFBIG for a file above `limit` bytes.
        """
        path = self.absolute(relative)
        try:
            fd = self.files.open(path, READ_FLAGS)
        except OSError as error:
            raise_unless_vanished("read", path, error)
            return None
        try:
            return read_whole(self.files, fd, limit)
        except OSError as error:
            raise_unless_vanished("read", path, error)
            return None
        finally:
            close_quietly(self.files, fd)

    def read_text(self, relative: str, limit: int = MAX_BYTES) -> str | None:
        """The file as text without the blanks around it. Raises as `read`, and HostParseError for bytes that are no
        UTF-8."""
        raw = self.read(relative, limit)
        if raw is None:
            return None
        try:
            return raw.decode().strip()
        except UnicodeDecodeError:
            raise HostParseError(self.absolute(relative), raw[:40], "text") from None

    def read_int(self, relative: str) -> int | None:
        """The file as a decimal or 0x-prefixed number, at most 20 digits, the decimal one perhaps negative.

        Raises as `read`, and HostParseError for anything else.
        """
        text = self.read_text(relative, PAGE)
        if text is None:
            return None
        if _NUMBER(text) is None:
            raise HostParseError(self.absolute(relative), text, "a number")
        return int(text, 16 if text[1:2] in ("x", "X") else 10)

    def read_cpulist(self, relative: str) -> CpuSet | None:
        """The file as a CPU or node list. Raises as `read`, and HostParseError for a malformed list."""
        text = self.read_text(relative, LIST_BYTES)
        if text is None:
            return None
        try:
            return parse_cpulist(text)
        except ValueError as error:
            raise HostParseError(self.absolute(relative), text, f"a CPU list ({error})") from None

    def list(self, relative: str) -> tuple[str, ...] | None:
        """Names in a directory, sorted; None when it is not there. Raises HostDenied, HostFileError.

        A name that is no UTF-8 (anyone with a delegated group can make one) is left out: it fits into no message, no
        JSON and no metric label.
        """
        path = self.absolute(relative)
        try:
            return tuple(sorted(name for name in self.files.listdir(path) if name.isascii() or _is_utf8(name)))
        except OSError as error:
            raise_unless_vanished("list", path, error)
            return None

    def readlink(self, relative: str) -> str | None:
        """Target of a link as it is written; None for what is missing or no link. Raises HostDenied, HostFileError."""
        path = self.absolute(relative)
        try:
            return self.files.readlink(path)
        except OSError as error:
            if error.errno == errno.EINVAL:  # exists, and is no link
                return None
            raise_unless_vanished("read link", path, error)
            return None

    def resolve(self, relative: str) -> str | None:
        """The path with every link followed inside the root, as `realpath` would inside a chroot; None when a part is
        missing.

        Raises:
            HostDenied: a folder may not be searched.
            HostFileError: ELOOP after 40 links.
        """
        try:
            return follow(self._prefix, relative, self.files.readlink)
        except OSError as error:
            raise_unless_vanished("resolve", self._prefix + relative, error)
            return None

    def stat(self, relative: str) -> os.stat_result | None:
        """stat(2); None when it is not there. Raises HostDenied, HostFileError."""
        path = self.absolute(relative)
        try:
            return self.files.stat(path)
        except OSError as error:
            raise_unless_vanished("stat", path, error)
            return None

    def directory_inode(self, relative: str) -> int | None:
        """Inode of the directory that a file lies in, None when it is not there. It tells a group from a later one of
        the same name. Raises HostDenied, HostFileError."""
        found = self.stat(relative.rpartition("/")[0])
        return None if found is None else found.st_ino

    def exists(self, relative: str) -> bool:
        """Whether something is there, for a caller that does the same about what may not be looked at, which counts as
        not there; where the two differ, ask `stat`."""
        try:
            return self.stat(relative) is not None
        except HostFileError:
            return False

    def keep(self, relative: str) -> KeptFile:
        """The file with its descriptor kept open between reads, as far as the budget allows."""
        return KeptFile(self, relative)


class KeptFile:
    """A file that is read again and again: one pread per read instead of open, read, close (12 times cheaper on
    kernfs).

    After the file vanished every read gives None; keep a new one for a group of the same name.
    """

    __slots__ = ("_fd", "_folder", "_gone", "_host", "_name", "_pread")

    def __init__(self, host: HostRoot, folder: str, name: str = "") -> None:
        """`folder` may be the whole path; thousands of files in a few folders share its text."""
        self._host = host
        self._pread = host.files.pread
        self._fd = -1
        self._gone = False
        self._folder = folder
        self._name = name

    @property
    def relative(self) -> str:
        """Path below the host root."""
        return f"{self._folder}/{self._name}" if self._name else self._folder

    def read(self) -> bytes | None:
        """The whole file, at most `MAX_BYTES`. None when it vanished. Raises as `HostRoot.read`."""
        if self._fd < 0:
            return self._first_read()
        try:
            raw = self._pread(self._fd, PAGE, 0)
            return raw if len(raw) < WHOLE_BELOW else read_on(self._host.files, self._fd, raw, MAX_BYTES)
        except OSError as error:
            self.close()
            self._gone = error.errno in VANISHED
            raise_unless_vanished("read", self._host.absolute(self.relative), error)
            return None

    def _first_read(self) -> bytes | None:
        if self._gone:
            return None
        if not self._host.budget.take():
            raw = self._host.read(self.relative)
            self._gone = raw is None
            return raw
        path = self._host.absolute(self.relative)
        try:
            self._fd = self._host.files.open(path, READ_FLAGS)
        except OSError as error:
            self._host.budget.give_back()
            self._gone = error.errno in VANISHED
            raise_unless_vanished("read", path, error)
            return None
        return self.read()

    def close(self) -> None:
        """Closes the descriptor; the next read opens it again."""
        if self._fd >= 0:
            self._host.budget.give_back()
            close_quietly(self._host.files, self._fd)
            self._fd = -1


def read_whole(files: Files, fd: int, limit: int) -> bytes:
    """Everything from the start of `fd`. Raises OSError, EFBIG above `limit` bytes."""
    first = files.pread(fd, PAGE, 0)
    return first if not first else read_on(files, fd, first, limit)


def read_on(files: Files, fd: int, first: bytes, limit: int) -> bytes:
    """`first` and everything behind it; only an empty answer is the end. Raises OSError, EFBIG above `limit` bytes."""
    parts, size, ask = [first], len(first), PAGE
    while size <= limit and (chunk := files.pread(fd, ask, size)):
        parts.append(chunk)
        size += len(chunk)
        ask = CHUNK
    if size > limit:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return b"".join(parts)


def _is_utf8(name: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in name)


def raise_unless_vanished(doing: str, path: str, error: OSError) -> None:
    """Nothing when the file is not there; our error for everything else."""
    if error.errno not in VANISHED:
        raise host_error(doing, path, error) from error
