"""System calls that cannot leave a root: every link is followed inside it, as it would be in a chroot."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from typing import Final

MAX_LINKS: Final = 40
"""Links followed before a path counts as a loop. Source: Linux include/linux/namei.h, MAXSYMLINKS."""

KERNEL_FOLDERS: Final = ("sys/", "proc/")
"""Below them folders are looked at once: nobody can put a link into a kernel's filesystem, so a folder stays one."""

MAX_PLAIN: Final = 16_384
"""Folders remembered, at most 4 MiB of paths; they begin anew then. A node of 10,000 groups has as many."""


class RootedFiles:
    """The operating system below one root that is not `/`: a host mounted into a container, where `/var/run` is a link
    to `/run` of that host, or a tree that somebody sent, where `etc/os-release` may be a link to our `/etc/shadow`.

    Links are looked at before a file is opened: whoever puts one into the tree at that very moment is not held off.

    Args:
        root: absolute path of the root. It may itself be or lie behind a link; that is the operator's choice.
    """

    close = staticmethod(os.close)
    pread = staticmethod(os.pread)
    write = staticmethod(os.write)

    def __init__(self, root: str) -> None:
        self._prefix = root.rstrip("/") + "/"
        self._plain: set[str] = set()

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        """open(2). With O_NOFOLLOW a link at the end is refused with ELOOP, as ever."""
        real = self._behind_folder(path)
        try:
            return os.open(real, flags | os.O_NOFOLLOW, mode)
        except OSError as error:
            if error.errno != errno.ELOOP or flags & os.O_NOFOLLOW:
                raise
        return os.open(self._resolve(real), flags | os.O_NOFOLLOW, mode)

    def listdir(self, path: str) -> list[str]:
        """Names in a directory, any order."""
        return os.listdir(self._folder(path))

    def readlink(self, path: str) -> str:
        """Target of a symbolic link as it is written."""
        return os.readlink(self._behind_folder(path))  # noqa: PTH115 the seam itself

    def stat(self, path: str) -> os.stat_result:
        """stat(2), following links."""
        real = self._behind_folder(path)
        found = os.lstat(real)
        return os.lstat(self._resolve(real)) if stat.S_ISLNK(found.st_mode) else found

    def _behind_folder(self, path: str) -> str:
        """The path with the links of its folder followed; its last part stays as it is."""
        folder, _, name = path.rpartition("/")
        return path if folder in self._plain else f"{self._folder(folder)}/{name}"

    def _folder(self, folder: str) -> str:
        if folder in self._plain or len(folder) < len(self._prefix):
            return folder
        real = self._resolve(folder)
        if real == folder and folder.startswith(KERNEL_FOLDERS, len(self._prefix)):
            if len(self._plain) >= MAX_PLAIN:
                self._plain.clear()
            self._plain.add(folder)
        return real

    def _resolve(self, path: str) -> str:
        """Absolute path with every link followed inside the root. Raises OSError."""
        return self._prefix + follow(self._prefix, path[len(self._prefix) :], os.readlink)


def follow(prefix: str, relative: str, readlink: Callable[[str], str]) -> str:
    """The path below `prefix` with every link followed as `realpath` would inside a chroot.

    Args:
        prefix: the root with a slash at its end.
        relative: the path below it.
        readlink: readlink(2).

    Raises:
        OSError: ENOENT or ENOTDIR for a missing part, EACCES for a folder that may not be searched, ELOOP after 40
            links.
    """
    todo = relative.split("/")[::-1]
    done: list[str] = []
    links = 0
    while todo:
        part = todo.pop()
        if part in ("", "."):
            continue
        if part == "..":  # what is in `done` is real, so its parent is the one written before it
            del done[-1:]
            continue
        try:
            target = readlink(prefix + "/".join([*done, part]))
        except OSError as error:
            if error.errno != errno.EINVAL:  # EINVAL: it exists, and is no link
                raise
            done.append(part)
            continue
        links += 1
        if links > MAX_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if target.startswith("/"):
            done.clear()
        todo += target.split("/")[::-1]
    return "/".join(done)
