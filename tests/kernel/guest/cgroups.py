"""Making and removing cgroups with processes in them."""

import contextlib
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.kernel.guest.waiting import wait_until

SLEEP = ("/bin/sleep", "infinity")
BUSY = ("/bin/sh", "-c", "while :; do :; done")


def read_pids(cgroup: Path) -> list[int]:
    """Processes of a cgroup, those of its children not included."""
    return [int(line) for line in (cgroup / "cgroup.procs").read_text().split()]


def is_populated(cgroup: Path) -> bool:
    """Does a process live in the cgroup or below it?"""
    return "populated 1" in (cgroup / "cgroup.events").read_text()


def enable_controllers(cgroup: Path) -> None:
    """Give the children of a cgroup every controller that it has itself."""
    for controller in (cgroup / "cgroup.controllers").read_text().split():
        (cgroup / "cgroup.subtree_control").write_text(f"+{controller}")


def remove_tree(cgroup: Path) -> None:
    """Kill everything in a cgroup and remove it with all that is below. A cgroup that is gone is fine."""
    with contextlib.suppress(FileNotFoundError):
        (cgroup / "cgroup.kill").write_text("1")
        wait_until(lambda: not is_populated(cgroup), f"the end of the processes in {cgroup}")
        for child in sorted(cgroup.rglob("*/"), reverse=True):
            child.rmdir()
        cgroup.rmdir()


@contextlib.contextmanager
def process_in(cgroup: Path, argv: Sequence[str] = SLEEP) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program in a cgroup until the block ends.

    It enters the cgroup before its first instruction, so all its CPU time and memory are charged there.
    """
    enter = ["/bin/sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec "$@"', str(cgroup), *argv]
    process = subprocess.Popen(enter, stdin=subprocess.DEVNULL)
    try:
        wait_until(lambda: process.pid in read_pids(cgroup), f"process {process.pid} in {cgroup}")
        yield process
    finally:
        process.kill()
        process.wait()
