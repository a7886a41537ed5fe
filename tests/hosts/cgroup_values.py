"""Numbers behind the files of control groups: distinct per group, growing with each step, and summing up the tree.

Everything is a function of the path and the step, so a test can ask what a file must say.
"""

from __future__ import annotations

import operator
import zlib
from collections.abc import Iterable
from typing import NamedTuple

from tests.hosts.facts import GroupFact

PAGE = 4096


class Psi4(NamedTuple):
    """One line of a pressure file; averages in hundredths of a percent, total in microseconds."""

    avg10: int
    avg60: int
    avg300: int
    total_us: int

    def line(self, name: str) -> str:
        """As the kernel prints it."""
        tens, minutes, fives = (f"{v // 100}.{v % 100:02d}" for v in self[:3])
        return f"{name} avg10={tens} avg60={minutes} avg300={fives} total={self.total_us}\n"


class Numbers(NamedTuple):
    """Counters that the kernel sums over a group and all below it. Memory in bytes."""

    usage_us: int = 0
    user_us: int = 0
    system_us: int = 0
    periods: int = 0
    throttled: int = 0
    throttled_us: int = 0
    anon: int = 0
    file: int = 0
    inactive_file: int = 0
    shmem: int = 0
    kernel: int = 0
    swap: int = 0
    pgfault: int = 0
    pgmajfault: int = 0
    low: int = 0
    high: int = 0
    max: int = 0
    oom: int = 0
    oom_kill: int = 0
    read_bytes: int = 0
    written_bytes: int = 0
    reads: int = 0
    writes: int = 0
    pids: int = 0

    @property
    def current(self) -> int:
        """`memory.current`."""
        return self.anon + self.file + self.kernel

    def plus(self, other: Numbers) -> Numbers:
        """Sum of both."""
        return Numbers(*map(operator.add, self, other))


def salt_of(path: str) -> int:
    """A number from 3 to 9999 that tells groups apart."""
    return zlib.crc32(path.encode()) % 9997 + 3


def own_numbers(group: GroupFact, step: int) -> Numbers:
    """What the processes in the group itself account for after `step` steps."""
    if not group.pids:
        return Numbers()
    k = salt_of(group.path)
    user = 1_000_000 + zlib.crc32(group.path.encode()) + step * (7_000 + 13 * (k % 997))
    system = user // 3 + k
    throttled = k % 50 + step
    anon, file = 2_000 + k + step * 17 % 4_096, 3_000 + 2 * k + step * 29 % 2_048
    return Numbers(
        usage_us=user + system,
        user_us=user,
        system_us=system,
        periods=100 + k + 10 * step,
        throttled=throttled,
        throttled_us=throttled * 1_357,
        anon=anon * PAGE,
        file=file * PAGE,
        inactive_file=file // 2 * PAGE,
        shmem=k % 100 * PAGE,
        kernel=(40 + k % 64) * PAGE,
        swap=(k % 5 + step % 64) * PAGE,
        pgfault=50_000 + 3 * k + 211 * step,
        pgmajfault=k % 300 + step,
        low=step,
        high=k % 7 + step,
        max=k % 3 + step,
        oom=int(k % 11 == 0) + step // 64,
        oom_kill=int(k % 11 == 0),
        read_bytes=512 * (8 * k + 16 * step),
        written_bytes=512 * (5 * k + 24 * step),
        reads=k + 2 * step,
        writes=k // 2 + 3 * step,
        pids=group.threads + step % 7,
    )


def numbers_of(groups: Iterable[GroupFact], step: int) -> dict[str, Numbers]:
    """Numbers of every group after `step` steps, those of inner groups being the sum of what is below."""
    ordered = tuple(groups)
    found = {group.path: own_numbers(group, step) for group in ordered}
    for group in reversed(ordered):  # children stand behind their parents
        if group.path != "/":
            above = group.path.rpartition("/")[0] or "/"
            found[above] = found[above].plus(found[group.path])
    return found


def pressure_of(path: str, resource: str, step: int) -> tuple[Psi4, Psi4]:
    """The `some` and `full` lines of a group's (or, for path "", the system's) pressure file."""
    k = salt_of(f"{path}:{resource}")
    avg10, avg60, avg300 = (k * 7 + step * 31) % 6_000, (k * 5 + step * 11) % 5_000, (k * 3 + step * 3) % 4_000
    total = 10_007 * k + 1_700 * step
    some = Psi4(avg10, avg60, avg300, total)
    return some, Psi4(avg10 // 2, avg60 // 2, avg300 // 2, total // 3)


def pressure_text(path: str, resource: str, step: int, *, cpu_full: bool) -> str:
    """A pressure file. irq has no `some`; cpu has `full` only since 5.13, and at system level it is zero.

    Source: Linux kernel/sched/psi.c, psi_show().
    """
    some, full = pressure_of(path, resource, step)
    if resource == "irq":
        return full.line("full")
    if resource == "cpu":
        if not cpu_full:
            return some.line("some")
        full = Psi4(0, 0, 0, 0) if path == "" else full
    return some.line("some") + full.line("full")
