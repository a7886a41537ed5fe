"""Small host trees: a mapping of paths to texts, links and sockets."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from pathlib import Path

from fuyaod.doctor.observe.reader import Reader
from fuyaod.hostfs import HostRoot, OsFiles


class RefusingFiles(OsFiles):
    """System calls that refuse paths below one folder, which root could otherwise always read.

    Args:
        folder: absolute path; itself and everything below gives `number`.
        number: the errno.
    """

    def __init__(self, folder: str, number: int = errno.EACCES) -> None:
        self._folder = folder
        self._number = number

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:  # type: ignore[override]
        """open(2), or the refusal."""
        self._check(path)
        return os.open(path, flags, mode)

    def stat(self, path: str) -> os.stat_result:  # type: ignore[override]
        """stat(2), or the refusal."""
        self._check(path)
        return os.stat(path)

    def _check(self, path: str) -> None:
        if path == self._folder or path.startswith(self._folder + "/"):
            raise OSError(self._number, os.strerror(self._number), path)


def build(root: Path, files: Mapping[str, str | bytes]) -> HostRoot:
    """Writes the files below `root`; a text that begins with `-> ` is a link to the rest."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, bytes):
            path.write_bytes(text)
        elif text.startswith("-> "):
            path.symlink_to(text[3:])
        else:
            path.write_text(text)
    return HostRoot(root)


def reader(root: Path, files: Mapping[str, str | bytes]) -> Reader:
    """A reader of such a tree."""
    return Reader(build(root, files))
