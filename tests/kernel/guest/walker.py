"""A process that writes to cgroups in a random walk until it is killed."""

import os
import random
import signal
from pathlib import Path

import msgspec

from fuyaod.hostfs import HostRoot
from fuyaod.hostfs.journal import Journal
from fuyaod.hostfs.restore import restore
from fuyaod.hostfs.write import act
from tests.kernel.guest.writing import step

VALUES = {
    "cgroup.freeze": ("0", "1"),
    "cpu.idle": ("0", "1"),
    "cpu.max": ("max", "40000 50000", "40000"),
    "cpu.weight": ("39", "50", "79"),
    "cpuset.cpus": ("0", "1-2", "6-7", "0-5"),
    "memory.high": ("100000001", "200000000", "max"),
    "memory.min": ("5000", "0"),
    "pids.max": ("100", "200"),
}
"""Values before, values the kernel cuts, and values it refuses at times (the weight of an idle group)."""


class Walk(msgspec.Struct, frozen=True, kw_only=True):
    """Where the walk goes: groups, and the path of its journal."""

    groups: tuple[Path, ...]
    journal: str


def kill_after(plans: int, walk: Walk, seed: int) -> None:
    """Let a process walk, and kill it once it has done so many plans; the next is under way then.

    It is a fork of this one: a fresh Python would take seconds here.
    """
    hear, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            _walk(walk, random.Random(seed), tell)
        finally:
            os._exit(1)
    os.close(tell)
    heard = 0
    while heard < plans and (more := os.read(hear, plans - heard)):
        heard += len(more)
    os.close(hear)
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    if heard < plans or not os.WIFSIGNALED(status):
        raise RuntimeError(f"cannot kill the walk: it ended by itself after {heard} plans, status {status}")


def _walk(walk: Walk, dice: random.Random, tell: int) -> None:
    with Journal.open(HostRoot("/"), walk.journal) as journal:
        while True:
            if dice.random() < 0.1:
                restore(journal)
            files = dice.choices(sorted(VALUES), k=dice.randint(1, 4))
            act(tuple(step(dice.choice(walk.groups) / file, dice.choice(VALUES[file])) for file in files), journal)
            os.write(tell, b".")
