"""The write-ahead journal: what the agent changed in the kernel, and what has to come back.

A record is written before the first touch of the file that it speaks of. It has to outlive the process, not the
kernel: a new boot starts from the kernel's own defaults and the journal is void then (told by the boot id). So a
record is safe once write(2) has returned, and only what makes the boot id readable (a new file) is synced.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from typing import Final

from fuyaod.errors import FuyaodError, HostFileError, JournalError
from fuyaod.hostfs.files import OsFiles, StoreFiles, close_quietly
from fuyaod.hostfs.journal_lines import FORMAT, Entry, EntryKey, Header, Retired, decode_journal, encode_record
from fuyaod.hostfs.root import BOOT_ID, HostRoot, read_whole

COMPACT_ABOVE_BYTES: Final = 262_144
"""The file is rewritten when it is larger than this and has doubled since it was rewritten last."""

MAX_JOURNAL_BYTES: Final = 64 << 20
"""Largest journal read; 5000 pods with 20 changed files each take about 20 MiB."""

_COMMON_FLAGS: Final = os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY


class Journal:
    """The journal of one host root, held by one writer; made by `Journal.open`. Not for several threads.

    `host` is the root whose files the entries name. `voided` tells that a journal of an earlier boot (or an
    empty one of another root) was found and dropped.
    """

    def __init__(self, host: HostRoot, path: str, files: StoreFiles, lock_fd: int, boot_id: str) -> None:
        self.host = host
        self.path = path
        self.voided = False
        self._files = files
        self._lock_fd = lock_fd
        self._boot_id = boot_id
        self._fd = -1
        self._entries: dict[EntryKey, Entry] = {}
        self._bytes = 0
        self._bytes_rewritten = 0
        self._torn = False

    @classmethod
    def open(cls, host: HostRoot, path: str, files: StoreFiles | None = None) -> Journal:
        """Opens or makes the journal and locks it.

        Args:
            host: root of the files that will be changed.
            path: the journal, absolute, in a directory that exists; on tmpfs. `<path>.lock` and `<path>.new` are its
                own too.
            files: the system calls to use.

        Raises:
            JournalError: another process has it, it is damaged before its last line, it belongs to another user or
                host root or may be written by others, or the directory refuses it.
        """
        files = OsFiles() if files is None else files
        try:
            boot_id = host.read_text(BOOT_ID) or ""
        except FuyaodError as error:
            raise JournalError(f"cannot open the journal {path}: the boot id is unknown: {error}") from error
        journal = cls(host, path, files, _lock(files, path), boot_id)
        try:
            journal._load()
        except OSError as error:
            journal.close()
            raise _refused("open", path, error) from error
        except BaseException:
            journal.close()
            raise
        return journal

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def entries(self) -> tuple[Entry, ...]:
        """What has to come back, in the order of the first touch."""
        return tuple(self._entries.values())

    def entry(self, key: EntryKey) -> Entry | None:
        """What is known of one file."""
        return self._entries.get(key)

    def hold(self, entry: Entry) -> None:
        """Takes the entry on, in place of an older one of its key; it is safe against our death on return.

        Raises:
            JournalError: it could not be written; the older entry stands, and the file must not be touched.
        """
        older = self._entries.get(entry.key)
        if older == entry:
            return
        line = encode_record(entry)
        self._entries[entry.key] = entry
        try:
            self._store(line)
        except OSError as error:
            self._put_back(entry.key, older)
            raise _refused("write", self.path, error) from error

    def settle(self, entry: Entry) -> None:
        """As `hold`, for an entry that says less than the older one: when it cannot be written now, the older record
        stays in the file and is as safe."""
        self._entries[entry.key] = entry
        with contextlib.suppress(OSError):
            self._store(encode_record(entry))

    def retire(self, key: EntryKey) -> None:
        """Nothing has to come back for this key any more. As `settle`, this may reach the file later."""
        if self._entries.pop(key, None) is None:
            return
        with contextlib.suppress(OSError):
            self._store(encode_record(Retired(path=key[0], inode=key[1])))

    def compact(self) -> None:
        """Drops the entries of groups that are gone and rewrites the file; happens by itself when the file has grown.

        Raises:
            JournalError: the new file could not be written; the old one stands.
        """
        self._drop_vanished()
        try:
            self._rewrite()
        except OSError as error:
            raise _refused("compact", self.path, error) from error

    def close(self) -> None:
        """Closes the file and lets the lock go."""
        for fd in (self._fd, self._lock_fd):
            if fd >= 0:
                close_quietly(self._files, fd)
        self._fd = self._lock_fd = -1

    def _load(self) -> None:
        try:
            self._fd = self._files.open(self.path, os.O_RDWR | _COMMON_FLAGS)
        except FileNotFoundError:
            self._rewrite()
            return
        _check_trusted(self._files.fstat(self._fd), self.path)
        raw = read_whole(self._files, self._fd, MAX_JOURNAL_BYTES)
        found = decode_journal(raw, self.path, self._boot_id, self.host.path)
        if found is None:
            self.voided = True
            self._rewrite()
            return
        # Not rewritten here: what must come back has to come back on a full tmpfs too.
        self._entries, self._torn = found
        self._bytes = self._bytes_rewritten = len(raw)

    def _store(self, line: bytes) -> None:
        """Brings the file up to `_entries`, of which `line` is the last change. Raises OSError."""
        if self._torn:
            self._rewrite()
            return
        self._torn = True  # until the whole line is there
        _write_all(self._files, self._fd, line)
        self._torn = False
        self._bytes += len(line)
        if self._bytes > max(COMPACT_ABOVE_BYTES, 2 * self._bytes_rewritten):
            with contextlib.suppress(JournalError):  # the line itself is safe
                self.compact()

    def _rewrite(self) -> None:
        """A new file with the entries as they are, in place of the old one in one step. Raises OSError."""
        fresh = f"{self.path}.new"
        with contextlib.suppress(FileNotFoundError):
            self._files.unlink(fresh)
        raw = encode_record(Header(format=FORMAT, boot_id=self._boot_id, root=self.host.path))
        raw += b"".join(map(encode_record, self._entries.values()))
        fd = self._files.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _COMMON_FLAGS, 0o600)
        try:
            _write_all(self._files, fd, raw)
            self._files.fsync(fd)
            self._torn = True  # a rename that fails leaves open which file has the name
            self._files.rename(fresh, self.path)
        except OSError:
            close_quietly(self._files, fd)
            raise
        old, self._fd = self._fd, fd
        self._bytes = self._bytes_rewritten = len(raw)
        self._torn = False
        if old >= 0:
            close_quietly(self._files, old)
        with contextlib.suppress(OSError):  # the old file coming back takes a power cut, and then both are void
            self._sync_directory()

    def _sync_directory(self) -> None:
        fd = self._files.open(self.path.rpartition("/")[0], os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self._files.fsync(fd)
        finally:
            self._files.close(fd)

    def _drop_vanished(self) -> None:
        for path, inode in tuple(self._entries):
            with contextlib.suppress(HostFileError):
                if self.host.directory_inode(path) != inode:
                    del self._entries[path, inode]

    def _put_back(self, key: EntryKey, older: Entry | None) -> None:
        if older is None:
            del self._entries[key]
        else:
            self._entries[key] = older


def _lock(files: StoreFiles, path: str) -> int:
    """A descriptor that holds the lock. The lock has a file of its own because the journal's is replaced."""
    lock_path = f"{path}.lock"
    try:
        fd = files.open(lock_path, os.O_RDWR | os.O_CREAT | _COMMON_FLAGS, 0o600)
    except OSError as error:
        raise _refused("open", lock_path, error) from error
    try:
        files.lock(fd)
    except OSError as error:
        close_quietly(files, fd)
        if isinstance(error, BlockingIOError):
            raise JournalError(f"cannot open the journal {path}: another process has it (fuser {lock_path})") from error
        raise _refused("lock", lock_path, error) from error
    return fd


def _check_trusted(status: os.stat_result, path: str) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise JournalError(f"cannot trust the journal {path}: it is no plain file")
    if status.st_uid != os.geteuid() or status.st_mode & 0o022:
        raise JournalError(
            f"cannot trust the journal {path}: owner {status.st_uid}, mode {stat.S_IMODE(status.st_mode):o}; "
            f"it must belong to user {os.geteuid()} and be writable by nobody else"
        )


def _write_all(files: StoreFiles, fd: int, raw: bytes) -> None:
    left = memoryview(raw)
    while left:
        count = files.write(fd, bytes(left))
        if count <= 0:
            raise OSError(errno.EIO, os.strerror(errno.EIO))  # no progress and no reason
        left = left[count:]


def _refused(doing: str, path: str, error: OSError) -> JournalError:
    return JournalError(f"cannot {doing} {path}: {error.strerror} (errno {error.errno})")
