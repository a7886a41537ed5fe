"""A declared host with many pods, whose control group files change all the time."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.synchronize import Event
from pathlib import Path

from tests.hosts.declare import Materialised, declare, materialise
from tests.hosts.scratch import scratch_root

HOST = "kunpeng920-910b"
READ_FILES = frozenset(
    (
        "cpu.stat",
        "cpu.pressure",
        "memory.current",
        "memory.stat",
        "memory.events",
        "memory.pressure",
        "io.stat",
        "io.pressure",
        "pids.current",
    )
)
ROUNDS = 4
"""Different values that each file goes through: enough that nothing can be remembered."""


class Ground:
    """The host below `root`. `change` gives every file that is read another content."""

    def __init__(self, root: Path, made: Materialised) -> None:
        self.root = root
        self.made = made
        self._rounds = [self._texts(step) for step in range(1, ROUNDS + 1)]
        self._next = itertools.cycle(self._rounds)
        self._check_all_change()

    @property
    def groups(self) -> int:
        """Groups of pods, containers and what is above them."""
        return len(self.made.cgroups.groups)

    @property
    def files(self) -> int:
        """Files that each `change` writes."""
        return len(self._rounds[0])

    def change(self) -> None:
        """Writes the next values in place, so that kept descriptors see them."""
        for path, data in next(self._next).items():
            fd = os.open(path, os.O_WRONLY)
            os.pwrite(fd, data, 0)
            os.ftruncate(fd, len(data))
            os.close(fd)

    @contextmanager
    def changing(self, period_s: float = 1.0) -> Iterator[None]:
        """Another process changes everything once per period while the context lasts."""
        context = multiprocessing.get_context("fork")
        stop = context.Event()
        process = context.Process(target=self._change_until, args=(stop, period_s), daemon=True)
        process.start()
        try:
            yield
        finally:
            stop.set()
            process.join(30)

    def _change_until(self, stop: Event, period_s: float) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        due = time.monotonic()
        while not stop.is_set():
            self.change()
            due += period_s
            stop.wait(max(0.0, due - time.monotonic()))

    def _check_all_change(self) -> None:
        """Every file of a pod must differ from round to round (the empty slices beside them stay at 0)."""
        pods = tuple(f"{self.root}/{self.made.v2_mount}{pod.path}/" for pod in self.made.pods)
        for one, other in itertools.pairwise([*self._rounds, self._rounds[0]]):
            for path in one:
                if path.startswith(pods) and one[path] == other[path]:
                    raise SystemExit(f"cannot measure: {path} stays the same")

    def _texts(self, step: int) -> dict[str, bytes]:
        return {
            f"{self.root}/{path}": text.encode()
            for path, text in self.made.cgroups.texts(step, limits=False, changed_only=True)
            if path.rpartition("/")[2] in READ_FILES
        }


@contextmanager
def declared_host(pods: int, containers_per_pod: int) -> Iterator[Ground]:
    """The host on tmpfs (or a disk, where there is none), gone at the end."""
    with scratch_root() as root:
        yield Ground(root, materialise(declare(HOST), root, pods=pods, containers_per_pod=containers_per_pod))
