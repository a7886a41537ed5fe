"""Host files on tape: `RecordingFiles` writes down what was read, `CapturedFiles` gives it back without a host."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from fuyaod.errors import FuyaodError
from fuyaod.hostfs.files import Files
from fuyaod.model.values import Value

MAX_RECORDED_BYTES: Final = 64 << 20
"""A tape above 64 MiB is a mistake; a host of 1024 CPUs and 5000 groups makes about 30 MiB."""

MAX_FILE_BYTES: Final = 4 << 20
"""Of one file no more is recorded than just above what `HostRoot.read` accepts, so that a replay refuses it too."""

_READ: Final = 1 << 20

T = TypeVar("T")


class StatRecord(Value, frozen=True, kw_only=True):
    """What is used of stat(2)."""

    mode: int
    inode: int
    links: int
    size: int
    mtime_ns: int


class Tape(Value, frozen=True, kw_only=True):
    """Answers of the host by path relative to its root. `errors` holds the errno of calls that failed, by `call path`.

    `text` are files that are UTF-8, `binary` all others.
    """

    text: dict[str, str] = {}
    binary: dict[str, bytes] = {}
    folders: dict[str, tuple[str, ...]] = {}
    links: dict[str, str] = {}
    stats: dict[str, StatRecord] = {}
    errors: dict[str, int] = {}


class RecordingFiles:
    """Passes calls on and remembers each answer, errors included. A second call for the same path gets the first one's
    answer, so that what is recorded is what was decided on.

    Args:
        inner: the system calls.
        root: absolute root that paths are recorded relative to.
    """

    def __init__(self, inner: Files, root: str) -> None:
        self._inner = inner
        self._prefix = root.rstrip("/") + "/"
        self._bytes = 0
        self._read: dict[str, bytes] = {}
        self._folders: dict[str, tuple[str, ...]] = {}
        self._links: dict[str, str] = {}
        self._stats: dict[str, os.stat_result] = {}
        self._errors: dict[str, int] = {}
        self._open = _OpenFiles()

    def tape(self) -> Tape:
        """All that was read so far. Raises FuyaodError when some was left out for the sake of the size."""
        if self._bytes > MAX_RECORDED_BYTES:
            raise FuyaodError(
                f"cannot record {self._prefix}: the files read are larger than {MAX_RECORDED_BYTES} bytes"
            )
        text, binary = {}, {}
        for path, raw in sorted(self._read.items()):
            try:
                text[path] = raw.decode()
            except UnicodeDecodeError:
                binary[path] = raw
        return Tape(
            text=text,
            binary=binary,
            folders=dict(sorted(self._folders.items())),
            links=dict(sorted(self._links.items())),
            stats={path: _stat_record(seen) for path, seen in sorted(self._stats.items())},
            errors=dict(sorted(self._errors.items())),
        )

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        """Reads the whole file once; later opens read from memory. Raises OSError, EROFS for writing."""
        if flags & (os.O_WRONLY | os.O_RDWR):
            raise OSError(errno.EROFS, "cannot write while recording", path)
        return self._open.add(self._once("read", path, self._read, lambda: self._slurp(path, flags, mode)))

    def listdir(self, path: str) -> list[str]:
        """Names in a folder. Raises OSError."""
        names: tuple[str, ...] = self._once("list", path, self._folders, lambda: self._names(path))
        return list(names)

    def readlink(self, path: str) -> str:
        """Target of a link. Raises OSError."""
        return self._once("readlink", path, self._links, lambda: self._inner.readlink(path))

    def stat(self, path: str) -> os.stat_result:
        """Kind, inode and times. Raises OSError."""
        return self._once("stat", path, self._stats, lambda: self._inner.stat(path))

    def close(self, fd: int) -> None:
        """Forgets the descriptor."""
        self._open.close(fd)

    def pread(self, fd: int, length: int, offset: int) -> bytes:
        """From memory."""
        return self._open.pread(fd, length, offset)

    def write(self, fd: int, data: bytes) -> int:
        """Never. Raises OSError EROFS."""
        raise OSError(errno.EROFS, "cannot write while recording")

    def _once(self, call: str, path: str, answers: dict[str, T], ask: Callable[[], T]) -> T:
        key = path.removeprefix(self._prefix)
        if key in answers:
            return answers[key]
        number = self._errors.get(f"{call} {key}")
        if number is not None:
            raise OSError(number, os.strerror(number), path)
        try:
            answers[key] = ask()
        except OSError as error:
            self._errors[f"{call} {key}"] = error.errno or errno.EIO
            raise
        return answers[key]

    def _names(self, path: str) -> tuple[str, ...]:
        names = self._inner.listdir(path)
        return tuple(sorted(name for name in names if _is_utf8(name)))  # `HostRoot.list` gives no others either

    def _slurp(self, path: str, flags: int, mode: int) -> bytes:
        fd = self._inner.open(path, flags, mode)
        try:
            parts, size = [], 0
            while size <= MAX_FILE_BYTES and (chunk := self._inner.pread(fd, _READ, size)):
                parts.append(chunk)
                size += len(chunk)
        finally:
            self._inner.close(fd)
        self._bytes += size
        if self._bytes > MAX_RECORDED_BYTES:
            raise OSError(errno.EFBIG, "recording is too large", path)
        return b"".join(parts)


class CapturedFiles:
    """A tape as a host. What was not recorded does not exist.

    Args:
        tape: what was recorded.
        root: absolute root that the paths asked for stand below; it need not exist.
    """

    def __init__(self, tape: Tape, root: str) -> None:
        self._tape = tape
        self._prefix = root.rstrip("/") + "/"
        self._open = _OpenFiles()

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        """A recorded file. Raises OSError as recorded, ENOENT for the rest, EROFS for writing."""
        if flags & (os.O_WRONLY | os.O_RDWR):
            raise OSError(errno.EROFS, "a recording cannot be written", path)
        key = self._key("read", path)
        if key in self._tape.text:
            return self._open.add(self._tape.text[key].encode())
        if key in self._tape.binary:
            return self._open.add(self._tape.binary[key])
        raise FileNotFoundError(errno.ENOENT, "not recorded", path)

    def close(self, fd: int) -> None:
        """Forgets the descriptor."""
        self._open.close(fd)

    def pread(self, fd: int, length: int, offset: int) -> bytes:
        """Recorded bytes."""
        return self._open.pread(fd, length, offset)

    def write(self, fd: int, data: bytes) -> int:
        """Never. Raises OSError EROFS."""
        raise OSError(errno.EROFS, "a recording cannot be written")

    def listdir(self, path: str) -> list[str]:
        """A recorded folder. Raises OSError."""
        return list(self._look("list", path, self._tape.folders))

    def readlink(self, path: str) -> str:
        """A recorded link. Raises OSError."""
        return self._look("readlink", path, self._tape.links)

    def stat(self, path: str) -> os.stat_result:
        """A recorded stat. Raises OSError."""
        seen = self._look("stat", path, self._tape.stats)
        seconds = seen.mtime_ns // 1_000_000_000
        times = {"st_atime_ns": seen.mtime_ns, "st_mtime_ns": seen.mtime_ns, "st_ctime_ns": seen.mtime_ns}
        plain = (seen.mode, seen.inode, 0, seen.links, 0, 0, seen.size, seconds, seconds, seconds)
        return os.stat_result(plain, times)

    def _look(self, call: str, path: str, answers: Mapping[str, T]) -> T:
        key = self._key(call, path)
        if key not in answers:
            raise FileNotFoundError(errno.ENOENT, "not recorded", path)
        return answers[key]

    def _key(self, call: str, path: str) -> str:
        key = path.removeprefix(self._prefix)
        number = self._tape.errors.get(f"{call} {key}")
        if number is not None:
            raise OSError(number, os.strerror(number), path)
        return key


class _OpenFiles:
    """Descriptors of files that live in memory. The numbers mean nothing to the operating system."""

    def __init__(self) -> None:
        self._contents: dict[int, bytes] = {}
        self._next = 1 << 20

    def add(self, content: bytes) -> int:
        self._next += 1
        self._contents[self._next] = content
        return self._next

    def pread(self, fd: int, length: int, offset: int) -> bytes:
        return self._contents[fd][offset : offset + length]

    def close(self, fd: int) -> None:
        self._contents.pop(fd, None)


def _stat_record(seen: os.stat_result) -> StatRecord:
    return StatRecord(
        mode=seen.st_mode, inode=seen.st_ino, links=seen.st_nlink, size=seen.st_size, mtime_ns=seen.st_mtime_ns
    )


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
