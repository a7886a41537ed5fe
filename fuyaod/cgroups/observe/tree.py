"""Which groups there are: the hierarchy's folders, followed without listing them all each tick.

A folder is listed again when its signature changed (inode, link count, modification time). cgroupfs keeps the link
count (2 + child groups) but not the time, so one child gone and one new leave the same signature. Two things catch
that: a vanished child is noticed when it is read, and its parent is listed at once; and every folder is audited,
signature or not, every `AUDIT_TICKS` ticks. Source: Linux fs/kernfs/inode.c, kernfs_refresh_inode(); seen on 6.18.
"""

from __future__ import annotations

import stat
import zlib
from collections.abc import Callable, Iterable
from typing import Final

from fuyaod.cgroups.observe.paths import identify, is_in_pod
from fuyaod.cgroups.observe.sample import Group
from fuyaod.errors import HostFileError
from fuyaod.hostfs import HostRoot
from fuyaod.model.cgroup import CgroupId, CgroupKind

AUDIT_TICKS: Final = 30
NO_CHILDREN: Final = 2
"""Link count of a folder without folders in it; btrfs gives every folder 1, which tells nothing."""
MAX_DEPTH: Final = 32
"""Folders below this depth are not looked at; kubelet in kind in a user's slice stays under 12."""

FILE_PREFIXES: Final = (
    "cgroup.",
    "cpu.",
    "cpuset.",
    "memory.",
    "io.",
    "pids.",
    "hugetlb.",
    "rdma.",
    "misc.",
    "irq.",
    "dmem.",
)
"""Names that are kernel files as a rule, so they are looked at last. Source: Linux cgroup-v2.rst, "Controllers"."""

Signature = tuple[int, int, int]


class Folder:
    """One folder of the hierarchy.

    `id` is what it stands for, `group` its files when it is observed, `inner` whether groups below it may matter,
    `left_out` how many of its children were beyond the limit.
    """

    __slots__ = ("alive", "children", "group", "id", "inner", "left_out", "parent", "path", "phase", "signature")

    def __init__(self, path: str, parent: Folder | None, signature: Signature) -> None:
        self.path = path
        self.parent = parent
        self.signature = signature
        self.phase = zlib.crc32(path.encode(errors="surrogateescape"))
        self.id = identify(path, signature[0])
        self.inner = path.count("/") < MAX_DEPTH and _may_hold_groups(path, self.id)
        self.children: dict[str, Folder] = {}
        self.group: Group | None = None
        self.left_out = 0
        self.alive = True


class CgroupWalk:
    """The folders of one mount and the groups among them.

    Args:
        host: where the files are.
        mount: the hierarchy's folder relative to the host root.
        limit: groups observed at most; as many folders again may be known besides.
        wanted: whether a group that was recognised is observed.
    """

    def __init__(self, host: HostRoot, mount: str, limit: int, wanted: Callable[[CgroupId], bool]) -> None:
        self._host = host
        self._mount = mount
        self._limit = limit
        self._wanted = wanted
        self._root: Folder | None = None
        self._watched: list[Folder] = []
        self._by_phase: list[list[Folder]] = []
        self._folders = 0
        self._observed = 0
        self._removed: list[Folder] = []
        self._changed = False
        self._unseen: set[str] = set()
        self.folders: list[Folder] = []
        self.left_out = 0
        self.problems: dict[str, HostFileError] = {}

    def refresh(self, tick: int) -> list[Folder]:
        """Looks for new and vanished groups; `folders` holds the observed ones then, parents first.

        Returns the observed folders that vanished, parents first.
        """
        if self._root is None or not self._root.alive:
            self._start()
        for folder in self._watched:
            self._look(folder)
        for folder in self._by_phase[tick % AUDIT_TICKS]:
            self._audit(folder)
        return self._settle()

    def relist(self, vanished: Iterable[Folder]) -> list[Folder]:
        """Forgets folders that were found gone while being read and lists their parents again.

        Returns observed folders that are new since, parents first.
        """
        before = set(self.folders)
        parents = {folder.parent: None for folder in vanished}
        for folder in vanished:
            self._drop(folder)
        for parent in parents:
            if parent is not None and parent.alive:
                self._list(parent)
        self._settle()
        return [folder for folder in self.folders if folder not in before]

    def close(self) -> None:
        """Gives all descriptors back."""
        if self._root is not None:
            self._drop(self._root)
        self._root = None
        self._settle()

    def _start(self) -> None:
        self._root = None
        if (signature := self._seen(self._mount, None)) is not None:
            self._root = Folder("/", None, signature)
            self._folders = 1
            self._list(self._root)
        self._changed = True
        self._settle()

    def _look(self, folder: Folder) -> None:
        if not folder.alive:
            return
        signature = self._seen(self._relative(folder.path), folder)
        if signature == folder.signature:
            return
        if signature is not None and signature[0] == folder.signature[0]:
            self._list(folder)
            return
        self._drop(folder)
        if folder.parent is not None:
            self._list(folder.parent)

    def _audit(self, folder: Folder) -> None:
        self._look(folder)
        if not folder.alive:
            return
        if folder.group is not None:
            folder.group.rearm()
        if folder.signature[1] != NO_CHILDREN:
            self._list(folder)

    def _list(self, folder: Folder) -> None:
        """Takes up the folder's children as they are now."""
        if not folder.inner or not folder.alive:
            return
        relative = self._relative(folder.path)
        try:
            found = self._children_now(folder, relative)
        except HostFileError as error:
            self.problems[relative] = error
            return
        self.problems.pop(relative, None)
        if found is None:
            return
        for name, child in list(folder.children.items()):
            if name not in found or found[name][0] != child.signature[0]:
                self._drop(child)
        self.left_out -= folder.left_out
        folder.left_out = 0
        for name in sorted(found):
            if name not in folder.children:
                self._take_up(folder, name, found[name])
        self.left_out += folder.left_out

    def _take_up(self, parent: Folder, name: str, signature: Signature) -> None:
        child = Folder(f"{parent.path.rstrip('/')}/{name}", parent, signature)
        observed = child.id is not None and self._wanted(child.id)
        if self._folders >= 2 * self._limit or (observed and self._observed >= self._limit):
            parent.left_out += 1
            return
        if observed and child.id is not None:
            child.group = Group(self._host, self._relative(child.path), child.id)
            self._observed += 1
        parent.children[name] = child
        self._folders += 1
        self._changed = True
        if signature[1] != NO_CHILDREN:
            self._list(child)

    def _children_now(self, folder: Folder, relative: str) -> dict[str, Signature] | None:
        """Signatures of the child folders by name; None when the folder itself vanished or was replaced meanwhile.

        The folder's own signature is taken before its names are: what changes in between shows on the next tick.
        """
        own = self._signature(relative)
        names = self._host.list(relative)
        if own is None or names is None or own[0] != folder.signature[0]:
            return None
        folder.signature = own
        for child in [path for path in self._unseen if path.rpartition("/")[0] == relative]:
            self._forget_problem(child)
        expected = own[1] - NO_CHILDREN if own[1] >= NO_CHILDREN else len(names)
        found: dict[str, Signature] = {}
        for name in sorted(names, key=lambda name: (name not in folder.children, name.startswith(FILE_PREFIXES))):
            if len(found) >= expected:
                break
            signature = self._seen(f"{relative}/{name}", folder.children.get(name))
            if signature is not None:
                found[name] = signature
        return found

    def _seen(self, relative: str, known: Folder | None) -> Signature | None:
        """As `_signature`, but what cannot be looked at is as it was known to be, and named among the problems."""
        try:
            signature = self._signature(relative)
        except HostFileError as error:
            self.problems[relative] = error
            self._unseen.add(relative)
            return None if known is None else known.signature
        if relative in self._unseen:
            self._forget_problem(relative)
        return signature

    def _forget_problem(self, relative: str) -> None:
        self._unseen.discard(relative)
        self.problems.pop(relative, None)

    def _signature(self, relative: str) -> Signature | None:
        """What shows a change of a folder; None for what is gone or no folder. Raises HostFileError."""
        found = self._host.stat(relative)
        if found is None or not stat.S_ISDIR(found.st_mode):
            return None
        return found.st_ino, found.st_nlink, found.st_mtime_ns

    def _drop(self, folder: Folder) -> None:
        """Forgets a folder and all below it."""
        if not folder.alive:
            return
        folder.alive = False
        self._changed = True
        self._folders -= 1
        self.left_out -= folder.left_out
        self._forget_problem(self._relative(folder.path))
        if folder.parent is not None:
            folder.parent.children.pop(folder.path.rpartition("/")[2], None)
        if folder.group is not None:
            folder.group.close()
            self._observed -= 1
            self._removed.append(folder)
        for child in list(folder.children.values()):
            self._drop(child)

    def _settle(self) -> list[Folder]:
        """Orders the folders anew after changes. Returns the observed ones that vanished."""
        if self._changed:
            self._changed = False
            self.folders, self._watched = [], []
            self._by_phase = [[] for _ in range(AUDIT_TICKS)]
            if self._root is not None and self._root.alive:
                self._order(self._root)
        removed, self._removed = self._removed, []
        return removed

    def _order(self, folder: Folder) -> bool:
        """Files `folder` and all below it, parents first. Returns whether anything observed is among them."""
        self._by_phase[folder.phase % AUDIT_TICKS].append(folder)
        if folder.group is not None:
            self.folders.append(folder)
        if not folder.inner:
            return folder.group is not None
        self._watched.append(folder)
        observed = False
        for name in sorted(folder.children):
            observed = self._order(folder.children[name]) or observed
        if not observed and not _is_watched_when_empty(folder):
            self._watched.pop()  # nothing observed below it, so it is still the last one
        return observed or folder.group is not None

    def _relative(self, path: str) -> str:
        return self._mount if path == "/" else self._mount + path


def _may_hold_groups(path: str, id: CgroupId | None) -> bool:
    """Containers keep their child groups to themselves; so does everything else inside a pod."""
    return not is_in_pod(path) or (id is not None and id.kind is CgroupKind.POD)


def _is_watched_when_empty(folder: Folder) -> bool:
    if folder.parent is None:
        return True
    return folder.group is not None and folder.group.id.kind in (CgroupKind.POD, CgroupKind.SLICE)
