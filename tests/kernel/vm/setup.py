"""Fetch what the virtual machine is made of: `python -m tests.kernel.vm.setup [--refresh]`.

Needs root on Debian 12 amd64. Ordinary packages are installed; the newer emulator and the guest's kernel come from
the backports suite of the same mirror and are unpacked into the cache folder. Which versions those are is for the
suite to say. A complete folder is left alone.
"""

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.kernel.vm.apt import AptError, Backports, install, missing_packages
from tests.kernel.vm.ground import FORMAT, VIRTIOFSD, Ground, Stamp, cache_folder, find_ground, locked, write_stamp
from tests.kernel.vm.host import Unmet, read_host_facts, unmet_requirement
from tests.kernel.vm.kernel_image import KernelImageError, unpack
from tests.kernel.vm.resctrl_image import offer_resctrl

EXIT_SKIPPED = 77
"""Exit status of a program that this machine cannot run. Source: automake's test protocol."""

_PACKAGES = (
    "qemu-system-x86",  # the release's own emulator: libraries, and the file server that later versions dropped
    "kmod",
    "zstd",
    "systemd",
    "dbus",
    "iproute2",
    "numactl",
)
_EMULATOR_PACKAGES = ("qemu-system-x86", "qemu-system-common", "qemu-system-data", "seabios")
_KERNEL_META_PACKAGE = "linux-image-cloud-amd64"
_KERNEL_PREFIX = "linux-image-"

Say = Callable[[str], None]


@contextlib.contextmanager
def prepared(cache: Path, say: Say, *, refresh: bool = False) -> Iterator[Ground | Unmet]:
    """Make the cache folder complete and hold its lock.

    Args:
        cache: the folder.
        say: told what takes time.
        refresh: fetch anew what is there already.

    Yields:
        The ground, or why this machine cannot have one.

    Raises:
        KernelImageError: the kernel that was fetched is not usable.
    """
    if unmet := unmet_requirement(read_host_facts()):
        yield unmet
        return
    with locked(cache, on_wait=lambda: say(f"waiting for another process that uses {cache}")):
        yield _find_or_build(cache, say, refresh=refresh)


def _find_or_build(cache: Path, say: Say, *, refresh: bool) -> Ground | Unmet:
    ground = None if refresh else find_ground(cache)
    if ground is not None and not missing_packages(_PACKAGES):
        return ground
    try:
        return _build(cache, say, keep=ground)
    except AptError as error:
        return Unmet(reason=str(error))


def _build(cache: Path, say: Say, *, keep: Ground | None) -> Ground:
    if missing := missing_packages(_PACKAGES):
        say(f"installing {', '.join(missing)}")
        install(missing)
    if not VIRTIOFSD.exists():
        raise AptError(f"cannot find {VIRTIOFSD}: is an emulator newer than the release's own installed?")
    if keep is not None:
        return keep
    for left_over in cache.glob("new-*"):
        shutil.rmtree(left_over)
    with tempfile.TemporaryDirectory(prefix="new-", dir=cache) as name:
        new = Path(name)
        _fill(new / "ground", new / "apt", say)
        shutil.rmtree(cache / "ground", ignore_errors=True)
        os.rename(new / "ground", cache / "ground")
    ground = find_ground(cache)
    if ground is None:
        raise AptError(f"cannot use {cache / 'ground'} although it was just filled")
    return ground


def _fill(root: Path, apt_folder: Path, say: Say) -> None:
    say("reading the package lists of backports")
    apt_folder.mkdir()
    backports = Backports(apt_folder)
    kernel_package = backports.dependency(_KERNEL_META_PACKAGE, _KERNEL_PREFIX)
    release = kernel_package.removeprefix(_KERNEL_PREFIX)
    say(f"fetching kernel {release} and the emulator")
    backports.unpack(_EMULATOR_PACKAGES, root / "qemu")
    backports.unpack([kernel_package], root / "kernel")
    ground = Ground(root=root, kernel_release=release)
    no_resctrl = _install_kernel(ground, root / "kernel")
    shutil.rmtree(root / "kernel")
    shutil.rmtree(root / "qemu/usr/share/doc", ignore_errors=True)
    version = _emulator_version(ground)
    write_stamp(root, Stamp(format=FORMAT, kernel_release=release, qemu_version=version, no_resctrl=no_resctrl))


def _install_kernel(ground: Ground, package: Path) -> str | None:
    """Lay the kernel's files out. Returns why there is no image with resctrl, None when there is one."""
    kernel = unpack((package / "boot" / f"vmlinuz-{ground.kernel_release}").read_bytes())
    ground.kernel(rdt=False).write_bytes(kernel)
    trees = [tree for top in ("lib", "usr/lib") if (tree := package / top / "modules").is_dir()]
    if not trees:
        raise KernelImageError(f"cannot find kernel modules in the package of {ground.kernel_release}")
    shutil.move(trees[0], ground.modules.parent)
    subprocess.run(["depmod", "--basedir", str(ground.root), ground.kernel_release], check=True)
    # The suite may bring a kernel that is built differently: the other tests can do without this image.
    try:
        ground.kernel(rdt=True).write_bytes(offer_resctrl(kernel))
    except KernelImageError as error:
        return str(error)
    return None


def _emulator_version(ground: Ground) -> str:
    """Also shows that the emulator finds its libraries on this machine."""
    done = subprocess.run([str(ground.qemu), "--version"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise AptError(f"cannot run {ground.qemu}: {done.stderr.strip()}")
    return done.stdout.splitlines()[0]


def main() -> int:
    """Entry point. Exit status 0 when the folder is complete, 77 when this machine cannot have one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--refresh", action="store_true", help="fetch emulator and kernel anew")
    refresh: bool = parser.parse_args().refresh
    with prepared(cache_folder(os.environ), print, refresh=refresh) as ground:
        if isinstance(ground, Unmet):
            print(f"SKIPPED kernel tests: {ground.reason}")
            return EXIT_SKIPPED
        print(f"{ground.root} is complete: kernel {ground.kernel_release}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
