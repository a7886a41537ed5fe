"""Child processes that never outlive this one."""

import contextlib
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

_WANTED_OPEN_FILES = 1 << 20
_END_WITHIN_S = 3
_KILLED_BY = 128

# The parent may die before setpriv has asked to be killed with it; then the child has another parent by now.
_IF_PARENT_LIVES = '[ "$PPID" = "$0" ] && exec "$@"'


def exit_when_asked() -> None:
    """Make SIGTERM and SIGHUP an ordinary exit, so that children end and folders are removed."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _exit)


def _exit(number: int, _frame: object) -> None:
    sys.exit(_KILLED_BY + number)


def raise_open_files() -> int:
    """Raise the limit of open files as far as the machine allows. Children inherit it.

    The file server holds one descriptor per inode that the guest remembers.

    Returns:
        The limit now.
    """
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    for limit in (_WANTED_OPEN_FILES, hard):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, max(limit, hard)))
            return limit
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


@contextlib.contextmanager
def child(argv: Sequence[str], *, log: Path, keep_fd: int | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program until the block ends. Its output goes to a file.

    The kernel kills it when this process dies, whatever the cause. It has a session of its own, so that Ctrl-C
    reaches this process alone, which then ends its children in order.

    Args:
        argv: program and arguments.
        log: file for stdout and stderr.
        keep_fd: a descriptor the program inherits.
    """
    with log.open("wb") as out, _started(argv, out.fileno(), out.fileno(), keep_fd, _END_WITHIN_S) as process:
        yield process


@contextlib.contextmanager
def talking_child(
    argv: Sequence[str], *, log: Path, end_within_s: float = _END_WITHIN_S
) -> Iterator[subprocess.Popen[bytes]]:
    """Like `child`, but stdout is a pipe to read from and only stderr goes to the file.

    Args:
        argv: program and arguments.
        log: file for stderr.
        end_within_s: how long it may take to end when asked; then it is killed.
    """
    with log.open("wb") as err, _started(argv, subprocess.PIPE, err.fileno(), None, end_within_s) as process:
        yield process


@contextlib.contextmanager
def _started(
    argv: Sequence[str], out: int, err: int, keep_fd: int | None, end_within_s: float
) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", "--", "sh", "-c", _IF_PARENT_LIVES, str(os.getpid()), *argv],
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=err,
        pass_fds=() if keep_fd is None else (keep_fd,),
        start_new_session=True,
    )
    try:
        yield process
    finally:
        _end(process, end_within_s)


def _end(process: subprocess.Popen[bytes], end_within_s: float) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(end_within_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if process.stdout is not None:
        process.stdout.close()
