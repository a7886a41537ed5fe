"""The folder that keeps the guest kernel and the emulator, and the lock around it."""

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec

FORMAT = 1
"""Raised whenever setup writes something else than before: an older folder is then built anew."""

VIRTIOFSD = Path("/usr/lib/qemu/virtiofsd")


class Stamp(msgspec.Struct, frozen=True, kw_only=True):
    """Written last: a folder with a stamp is complete.

    Args:
        format: `FORMAT` of the code that filled it.
        kernel_release: of the guest's kernel.
        qemu_version: what the emulator says of itself.
        no_resctrl: why there is no kernel that enumerates resctrl features; None when there is one.
    """

    format: int
    kernel_release: str
    qemu_version: str
    no_resctrl: str | None = None


class Ground(msgspec.Struct, frozen=True, kw_only=True):
    """Paths inside a folder that setup has filled.

    Args:
        root: the folder.
        kernel_release: what `uname -r` prints in the guest.
        no_resctrl: why machines with `rdt` cannot be booted; None when they can.
    """

    root: Path
    kernel_release: str
    no_resctrl: str | None = None

    @property
    def qemu(self) -> Path:
        """The emulator."""
        return self.root / "qemu/usr/bin/qemu-system-x86_64"

    @property
    def firmware(self) -> tuple[Path, ...]:
        """Folders where the emulator looks for firmware."""
        return (self.root / "qemu/usr/share/qemu", self.root / "qemu/usr/share/seabios")

    @property
    def modules(self) -> Path:
        """The kernel's module tree, as found below `/lib/modules`."""
        return self.root / "lib/modules" / self.kernel_release

    def kernel(self, *, rdt: bool) -> Path:
        """The uncompressed kernel; with `rdt` the one whose CPUs enumerate resctrl features."""
        return self.root / ("vmlinux-rdt" if rdt else "vmlinux")


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Where kernel and emulator are kept: `$FUYAOD_VM_CACHE`, else `fuyaod-vm` in the user's cache folder."""
    if chosen := environ.get("FUYAOD_VM_CACHE"):
        return Path(chosen).absolute()
    if base := environ.get("XDG_CACHE_HOME"):
        return Path(base).absolute() / "fuyaod-vm"
    return Path(environ.get("HOME", "/root")) / ".cache/fuyaod-vm"


def find_ground(cache: Path, *, file_server: Path = VIRTIOFSD) -> Ground | None:
    """The complete ground in this cache folder, or None when there is none or it has an older format.

    Args:
        cache: the folder.
        file_server: must exist too; it belongs to an installed package.
    """
    root = cache / "ground"
    try:
        stamp = msgspec.json.decode((root / "ground.json").read_bytes(), type=Stamp)
    except (FileNotFoundError, msgspec.DecodeError):
        return None
    if stamp.format != FORMAT or not file_server.exists():
        return None
    return Ground(root=root, kernel_release=stamp.kernel_release, no_resctrl=stamp.no_resctrl)


def write_stamp(root: Path, stamp: Stamp) -> None:
    """Mark a folder as complete."""
    (root / "ground.json").write_bytes(msgspec.json.encode(stamp))


@contextlib.contextmanager
def locked(cache: Path, on_wait: Callable[[], None]) -> Iterator[None]:
    """Have the cache folder for oneself: two machines at once would only slow each other down.

    Args:
        cache: the folder, made when it is missing.
        on_wait: called once when another process has it.
    """
    cache.mkdir(parents=True, exist_ok=True)
    lock = os.open(cache / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_wait()
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
