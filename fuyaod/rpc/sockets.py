"""Who may listen on a Unix socket path: stale files go, living servers stay."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import socket
import stat
import struct
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

from fuyaod.errors import FuyaodError

MAX_PATH_BYTES: Final = 107
"""Source: unix(7), sun_path has 108 bytes with the closing zero."""

LOCK_WITHIN_S: Final = 5.0
"""How long another process may take to claim a socket in the same folder."""

PROBE_S: Final = 1.0


def absolute_path(path: str) -> str:
    """The path without `.` and `..`, from the current folder on."""
    return os.path.abspath(path)


def grpc_target(path: str) -> str:
    """The path as gRPC names it; gRPC takes the name for a URI and decodes percent signs."""
    return "unix:" + quote(os.path.abspath(path))


@asynccontextmanager
async def claim(path: str) -> AsyncIterator[None]:
    """Within the context nobody else claims a socket in the same folder, and `path` is free to be bound.

    gRPC itself unlinks whatever socket it finds at the path, a living server's too, and two processes that start at
    once would both find a stale file: hence the lock, which the context holds until the new server listens.

    Raises:
        FuyaodError: the path is too long, its folder cannot be made or is open to everyone, something that is no socket
            is in the way, or a living process listens there; the text names it and what to do.
    """
    if len(os.fsencode(path)) > MAX_PATH_BYTES:
        raise FuyaodError(f"cannot listen on {path}: longer than the {MAX_PATH_BYTES} bytes of a Unix socket path")
    folder = Path(absolute_path(path)).parent
    try:
        descriptor = _open_folder(folder)
    except OSError as error:
        raise FuyaodError(f"cannot use {folder} for {path}: {error.strerror}") from error
    try:
        await _lock(descriptor, folder)
        _remove_stale(path)
        yield
    finally:
        os.close(descriptor)


def identity(path: str) -> tuple[int, int] | None:
    """What tells the file at the path from a later one; None when there is none or it cannot be looked at."""
    try:
        seen = os.lstat(path)
    except OSError:
        return None
    return seen.st_dev, seen.st_ino


@contextmanager
def spare(path: str, ours: tuple[int, int] | None) -> Iterator[None]:
    """For the end of a server, when gRPC unlinks its path: a socket that is not `ours` any more is there afterwards.

    Somebody took ours away and another agent has taken its place since.
    """
    kept = f"{path}.{os.getpid()}"
    found = identity(path)
    linked = False
    if found is not None and found != ours:
        with contextlib.suppress(OSError):
            os.link(path, kept)
            linked = True
    try:
        yield
    finally:
        if linked:
            with contextlib.suppress(OSError):  # it is still there
                os.link(kept, path)
            with contextlib.suppress(OSError):
                Path(kept).unlink()


def _open_folder(folder: Path) -> int:
    # Root's folder is open for all to pass: the socket's own mode decides who may connect.
    folder.mkdir(mode=0o755 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    seen = os.fstat(descriptor)
    reason = why_unsafe(seen.st_mode, seen.st_uid, os.geteuid())
    if reason is None and not os.access(folder, os.W_OK | os.X_OK):
        reason = f"user {os.geteuid()} may not write there"
    if reason is not None:
        os.close(descriptor)
        raise FuyaodError(f"cannot use {folder} for the socket: {reason}; take another path with rpc.socket")
    return descriptor


def why_unsafe(mode: int, owner: int, uid: int) -> str | None:
    """Why user `uid` cannot rely on what is in a folder of this mode and owner; None when it can."""
    if owner not in (0, uid):
        return f"it belongs to user {owner}, who could put another socket in its place"
    if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        return "everyone may write there and put another socket in its place"
    return None


async def _lock(descriptor: int, folder: Path) -> None:
    try:
        async with asyncio.timeout(LOCK_WITHIN_S):
            while not _try_lock(descriptor):  # noqa: ASYNC110 a file lock rings no bell
                await asyncio.sleep(0.02)
    except TimeoutError:
        raise FuyaodError(f"cannot lock {folder}: another process has held it for {LOCK_WITHIN_S:g} s") from None


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _remove_stale(path: str) -> None:
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise FuyaodError(f"cannot listen on {path}: a file that is no socket is in the way; remove it")
    owner = _listener(path)
    if owner is not None:
        raise FuyaodError(
            f"cannot listen on {path}: {owner} does already; stop it, or take another path with rpc.socket "
            "(FUYAOD_RPC__SOCKET)"
        )
    Path(path).unlink()


def _listener(path: str) -> str | None:
    """Who listens on the socket, None when nobody does."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(PROBE_S)
        try:
            probe.connect(path)
        except (ConnectionRefusedError, FileNotFoundError):
            return None
        except OSError as error:
            # EAGAIN: its queue is full; EACCES: it is another user's. Neither is ours to remove.
            return f"another process ({error.strerror or error})"
        raw = probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid, uid, _ = struct.unpack("3i", raw)
    # 0: a process of another PID namespace.
    return f"process {pid} of user {uid}" if pid else f"a process of user {uid} in another container"
