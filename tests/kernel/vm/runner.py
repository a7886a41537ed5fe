"""Boot a virtual machine, run one command in it, bring back what it wrote."""

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from tests.kernel.vm.console import GuestEnd, Limits, follow
from tests.kernel.vm.ground import VIRTIOFSD, Ground
from tests.kernel.vm.guest_files import Command, write_guest_files
from tests.kernel.vm.processes import child, raise_open_files, talking_child
from tests.kernel.vm.qemu import EXCHANGE_SHARE, ROOT_SHARE, Files, qemu_argv
from tests.kernel.vm.spec import Vm

_LOG_TAIL_LINES = 60
_POWER_OFF_WITHIN_S = 20

# Short and without white space: socket paths end at 108 bytes, a path on the kernel command line at the first blank.
_WORK_PARENT = Path("/tmp")
_WORK_PREFIX = "fuyaod-vm-"


class GuestRun(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of one boot.

    Args:
        end: how it ended.
        exit_code: of the command; None unless it finished.
        boot_s: from the start of the emulator to the command; None when it never started.
        total_s: from the start of the emulator to its end.
        kernel_log: last lines of kernel and process 1.
    """

    end: GuestEnd
    exit_code: int | None
    boot_s: float | None
    total_s: float
    kernel_log: str


def run_in_guest(
    vm: Vm, ground: Ground, command: Command, *, results: Path, limits: Limits, on_line: Callable[[str], None]
) -> GuestRun:
    """Boot, run the command, power off. Everything started here is gone afterwards, also when this process is killed.

    Args:
        vm: the machine.
        ground: kernel and emulator; the caller holds its lock.
        command: what to run, as root.
        results: folder that receives what the command wrote to `$VM_OUT`, plus `console.log` and `kernel.log`.
        limits: when to give up.
        on_line: called with each line that the command prints.
    """
    results.mkdir(parents=True, exist_ok=True)
    _remove_left_overs()
    with tempfile.TemporaryDirectory(prefix=f"{_WORK_PREFIX}{os.getpid()}-", dir=_WORK_PARENT) as name:
        work = Path(name)
        exchange = work / EXCHANGE_SHARE
        exchange.mkdir()
        write_guest_files(exchange, vm, ground, command, raise_open_files())
        outcome = _boot(vm, ground, work, console=results / "console.log", limits=limits, on_line=on_line)
        shutil.copytree(exchange / "out", results, dirs_exist_ok=True, symlinks=True)
        shutil.copyfile(work / "kernel.log", results / "kernel.log")
    return outcome


def _boot(
    vm: Vm, ground: Ground, work: Path, *, console: Path, limits: Limits, on_line: Callable[[str], None]
) -> GuestRun:
    exchange = work / EXCHANGE_SHARE
    with contextlib.ExitStack() as stack:
        sockets = {
            ROOT_SHARE: stack.enter_context(_file_server(Path("/"), ROOT_SHARE, work, cache="always")),
            EXCHANGE_SHARE: stack.enter_context(_file_server(exchange, EXCHANGE_SHARE, work, cache="none")),
        }
        disk = _make_disk(work, vm.disk_mib)
        files = Files(init=exchange / "in/init.sh", sockets=sockets, kernel_log=work / "kernel.log", disk=disk)
        files.kernel_log.touch()
        log = stack.enter_context(console.open("w"))

        def pass_on(line: str) -> None:
            print(line, file=log, flush=True)
            on_line(line)

        start = time.monotonic()
        qemu = stack.enter_context(talking_child(qemu_argv(vm, ground, files), log=work / "qemu.log"))
        assert qemu.stdout is not None
        seen = follow(qemu.stdout, limits, pass_on)
        if seen.gave_up is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                qemu.wait(_POWER_OFF_WITHIN_S)
        total_s = time.monotonic() - start
    status = _read_status(exchange / "status")
    end = seen.gave_up or (GuestEnd.DIED if status is None else GuestEnd.FINISHED)
    return GuestRun(
        end=end,
        exit_code=status if end is GuestEnd.FINISHED else None,
        boot_s=seen.boot_s,
        total_s=total_s,
        kernel_log=_tail(work / "kernel.log") + _tail(work / "qemu.log"),
    )


def _remove_left_overs() -> None:
    """Remove work folders whose process was killed before it could."""
    for folder in _WORK_PARENT.glob(f"{_WORK_PREFIX}*-*"):
        pid = folder.name.removeprefix(_WORK_PREFIX).partition("-")[0]
        if not Path("/proc", pid).exists():
            shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _file_server(source: Path, share: str, work: Path, *, cache: str) -> Iterator[Path]:
    """Serve a folder. The socket listens before the server runs, so nobody has to wait for it."""
    path = work / f"{share}.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(1)
        argv = [str(VIRTIOFSD), f"--fd={listener.fileno()}", "--thread-pool-size=0", "--rlimit-nofile=0"]
        for option in (f"source={source}", f"cache={cache}", "sandbox=chroot", "log_level=err"):
            argv += ["-o", option]
        with child(argv, log=work / f"{share}.log", keep_fd=listener.fileno()):
            yield path


def _make_disk(work: Path, disk_mib: int) -> Path | None:
    if not disk_mib:
        return None
    disk = work / "disk.raw"
    disk.touch()
    os.truncate(disk, disk_mib << 20)
    return disk


def _read_status(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (FileNotFoundError, ValueError):
        return None


def _tail(path: Path) -> str:
    lines = path.read_text(errors="replace").splitlines(keepends=True)
    return "".join(lines[-_LOG_TAIL_LINES:])
