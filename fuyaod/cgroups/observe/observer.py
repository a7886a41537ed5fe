"""`CgroupObserver`: all groups of pods, containers and services once per tick."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from fuyaod.cgroups.observe.mode import UNIFIED_MOUNT, Hierarchy, find_hierarchy
from fuyaod.cgroups.observe.sample import Group
from fuyaod.cgroups.observe.tree import CgroupWalk, Folder
from fuyaod.cgroups.observe.units import is_wanted
from fuyaod.errors import FuyaodError, HostDenied
from fuyaod.hostfs import HostRoot
from fuyaod.model.cgroup import CgroupId, CgroupSample, CgroupTree
from fuyaod.model.settings import Observe, ServiceRule

MAX_UNREADABLE: Final = 64
"""Paths named in one tree; beyond, only their number is told."""

HIERARCHY_TICKS: Final = 30
"""Ticks between two looks for a hierarchy on a host that has none yet, and for newly enabled controllers."""


class CgroupObserver:
    """Reads the groups of one host. Not thread-safe.

    Args:
        host: where the files are.
        settings: how often and how many.
        rules: the units that are observed beside Kubernetes' groups and the top-level slices.
    """

    def __init__(self, host: HostRoot, settings: Observe, rules: tuple[ServiceRule, ...] = ()) -> None:
        self._host = host
        self._settings = settings
        self._rules = rules
        self._hierarchy: Hierarchy | None = None
        self._hierarchy_tick = 0
        self._walk: CgroupWalk | None = None
        self._troubled: list[Group] = []

    def observe(self, at_ns: int, tick: int) -> CgroupTree:
        """All groups now.

        A group that vanished since the last tick, or while it was read, is there once more with `gone` set. Where a
        group was replaced by one of the same path, the gone one stands before the living one.

        Args:
            at_ns: monotonic time, for `slow_at_ns`.
            tick: counts up by one per call.
        """
        hierarchy = self._current_hierarchy(tick)
        self._troubled = []
        walk = self._walk
        samples = [] if walk is None else self._read_all(walk, at_ns, tick)
        unreadable, more = self._unreadable()
        return CgroupTree(
            mode=hierarchy.mode,
            mount=hierarchy.mount,
            controllers=hierarchy.controllers,
            samples=tuple(samples),
            kept_descriptors=self._host.budget.kept,
            unreadable=unreadable,
            unreadable_more=more,
            left_out=0 if walk is None else walk.left_out,
        )

    def reconfigure(self, settings: Observe, rules: tuple[ServiceRule, ...]) -> None:
        """Takes new settings. Other rules or another limit start the walk afresh: every group is read whole again."""
        if rules != self._rules or settings.max_cgroups != self._settings.max_cgroups:
            self.close()
        self._settings, self._rules = settings, rules

    @property
    def problems(self) -> dict[str, str]:
        """Why files gave no value: path below the host root to a sentence. Complete, unlike `CgroupTree.unreadable`."""
        return {path: str(error) for path, error in self._errors().items()}

    @property
    def denied(self) -> bool:
        """Whether more rights would help with one of `problems`."""
        return any(isinstance(error, HostDenied) for error in self._errors().values())

    def close(self) -> None:
        """Gives all descriptors back; the next `observe` starts afresh."""
        if self._walk is not None:
            self._walk.close()
        self._walk = self._hierarchy = None
        self._troubled = []

    def _errors(self) -> dict[str, FuyaodError]:
        found: dict[str, FuyaodError] = {}
        if self._hierarchy is not None and self._hierarchy.problem is not None:
            found[UNIFIED_MOUNT] = self._hierarchy.problem
        if self._walk is not None:
            found.update(self._walk.problems)
        for group in self._troubled:
            found.update(group.problems())
        return found

    def _current_hierarchy(self, tick: int) -> Hierarchy:
        found = self._hierarchy
        if found is not None and tick - self._hierarchy_tick < HIERARCHY_TICKS:
            return found
        found, self._hierarchy_tick = find_hierarchy(self._host), tick
        if found.problem is not None and self._hierarchy is not None and self._hierarchy.mount is not None:
            # Refused now (no descriptor left, no memory) is not gone: the groups that are known stay.
            found = msgspec.structs.replace(self._hierarchy, problem=found.problem)
        if self._hierarchy is not None and found.mount != self._hierarchy.mount and self._walk is not None:
            self._walk.close()
            self._walk = None
        if found.mount is not None and self._walk is None:
            self._walk = CgroupWalk(self._host, found.mount, self._settings.max_cgroups, self._is_wanted)
        self._hierarchy = found
        return found

    def _is_wanted(self, id: CgroupId) -> bool:
        return is_wanted(id, self._rules)

    def _read_all(self, walk: CgroupWalk, at_ns: int, tick: int) -> list[CgroupSample]:
        samples = [folder.group.last_words() for folder in walk.refresh(tick) if folder.group is not None]
        vanished = self._read(walk.folders, at_ns, tick, samples)
        if vanished:
            self._read(walk.relist(vanished), at_ns, tick, samples)
        return samples

    def _read(self, folders: Iterable[Folder], at_ns: int, tick: int, into: list[CgroupSample]) -> list[Folder]:
        """Reads each folder's group. Returns those that turned out to be gone."""
        every = self._settings.slow_every_ticks
        due = tick % every
        vanished = []
        for folder in folders:
            group = folder.group
            if group is None:
                continue
            sample = group.read(at_ns, folder.phase % every == due)
            into.append(sample)
            if sample.gone:
                vanished.append(folder)
            elif group.troubles:
                self._troubled.append(group)
        return vanished

    def _unreadable(self) -> tuple[tuple[str, ...], int]:
        """The first paths that gave no value, and how many more there are."""
        paths = [] if self._walk is None else list(self._walk.problems)
        if self._hierarchy is not None and self._hierarchy.problem is not None:
            paths.append(UNIFIED_MOUNT)
        total = len(paths) + sum(group.troubles for group in self._troubled)
        for group in self._troubled:
            if len(paths) >= MAX_UNREADABLE:
                break
            paths += [path for path, _ in group.problems()]
        named = tuple(paths[:MAX_UNREADABLE])
        return named, total - len(named)
