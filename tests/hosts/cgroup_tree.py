"""Writes the control groups of a host, and later their next values."""

from __future__ import annotations

import os
from collections.abc import Iterator

import msgspec

from tests.hosts import cgroup_v1, cgroup_v2
from tests.hosts.cgroup_v2 import Scene
from tests.hosts.cgroup_values import Numbers, numbers_of
from tests.hosts.facts import GroupFact
from tests.hosts.profiles import Profile
from tests.hosts.shape import Layout, Psi
from tests.hosts.writer import Tree


class CgroupTree(msgspec.Struct, frozen=True, kw_only=True):
    """All groups of a host and what their files depend on. `shared_cpus` is kubelet's pool for containers without CPUs
    of their own, "" under policy `none`."""

    layout: Layout
    psi: Psi
    profile: Profile
    groups: tuple[GroupFact, ...]
    online: tuple[int, ...]
    memory_nodes: tuple[int, ...]
    shared_cpus: str

    @property
    def v2_mount(self) -> str | None:
        """Where the v2 hierarchy is, relative to the root; None in the legacy layout."""
        match self.layout:
            case Layout.UNIFIED:
                return "sys/fs/cgroup"
            case Layout.HYBRID:
                return "sys/fs/cgroup/unified"
            case Layout.LEGACY:
                return None

    def folder(self, path: str) -> str:
        """The folder of a group in the v2 hierarchy, relative to the root."""
        return f"{self.v2_mount}{path}".rstrip("/")

    def scenes(self, step: int, *, limits: bool = False) -> Iterator[Scene]:
        """Every group after `step` steps."""
        numbers = numbers_of(self.groups, step)
        descendants = _descendants(self.groups)
        for group in self.groups:
            yield Scene(
                group=group,
                numbers=numbers[group.path],
                profile=self.profile,
                step=step,
                limit_step=step if limits else 0,
                descendants=descendants[group.path],
                shared_cpus=self.shared_cpus,
                online=self.online,
                memory_nodes=self.memory_nodes,
            )

    def numbers(self, step: int = 0) -> dict[str, Numbers]:
        """What the files say, by group path, after `step` steps."""
        return numbers_of(self.groups, step)

    def texts(self, step: int, *, limits: bool, changed_only: bool) -> Iterator[tuple[str, str]]:
        """Paths relative to the root and what stands there. `changed_only` leaves out what no step changes."""
        for scene in self.scenes(step, limits=limits):
            yield from self._v2_texts(scene, limits=limits, changed_only=changed_only)
            if self.layout is not Layout.UNIFIED:
                for file in cgroup_v1.files_of(self.profile):
                    if file.counts or not changed_only:
                        path = f"sys/fs/cgroup/{file.hierarchy}{scene.group.path}".rstrip("/")
                        yield f"{path}/{file.name}", file.render(scene)

    def _v2_texts(self, scene: Scene, *, limits: bool, changed_only: bool) -> Iterator[tuple[str, str]]:
        if self.v2_mount is None:
            return
        folder = self.folder(scene.group.path)
        for file in cgroup_v2.files_of(scene.group, self.profile):
            if changed_only and not file.counts and not (limits and file.limit):
                continue
            of_psi = file.name.endswith(".pressure")
            if not of_psi or self.psi is Psi.ON or (file.name == "cgroup.pressure" and self.psi is not Psi.ABSENT):
                yield f"{folder}/{file.name}", file.render(scene)
            elif self.psi is not Psi.ABSENT and not changed_only:
                yield f"{folder}/{file.name}", ""

    def refused(self) -> Iterator[str]:
        """Pressure files that exist and answer EOPNOTSUPP."""
        if self.psi in (Psi.OFF, Psi.REFUSED):
            for path, _ in self.texts(0, limits=False, changed_only=False):
                if path.endswith(".pressure") and not path.endswith("/cgroup.pressure"):
                    yield path

    def write(self, tree: Tree) -> None:
        """Writes everything as it is at step 0."""
        by_folder: dict[str, dict[str, str]] = {}
        for path, text in self.texts(0, limits=False, changed_only=False):
            folder, _, name = path.rpartition("/")
            by_folder.setdefault(folder, {})[name] = text
        for folder, files in by_folder.items():
            tree.put_all(folder, files)
        if self.layout is not Layout.UNIFIED:
            tree.link("sys/fs/cgroup/cpu", "cpu,cpuacct")
            tree.link("sys/fs/cgroup/cpuacct", "cpu,cpuacct")

    def rewrite(self, root: str, step: int, *, limits: bool) -> int:
        """Writes the values of a later step over the old ones, in place (kept descriptors stay good); returns how many
        files were written."""
        count = 0
        for path, text in self.texts(step, limits=limits, changed_only=True):
            data = text.encode()
            fd = os.open(f"{root}/{path}", os.O_WRONLY)
            try:
                os.pwrite(fd, data, 0)
                os.ftruncate(fd, len(data))
            finally:
                os.close(fd)
            count += 1
        return count


def _descendants(groups: tuple[GroupFact, ...]) -> dict[str, int]:
    found = {group.path: 0 for group in groups}
    for group in reversed(groups):
        if group.path != "/":
            found[group.path.rpartition("/")[0] or "/"] += 1 + found[group.path]
    return found
