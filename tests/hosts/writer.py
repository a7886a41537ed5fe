"""Writes a tree of small files fast: plain open, write, close, and every folder made once."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC


class Tree:
    """Files below one root; paths are relative to it."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._made = {""}
        os.makedirs(root, exist_ok=True)

    def folder(self, path: str) -> None:
        """Makes a folder and those above it."""
        if path in self._made:
            return
        above = path.rpartition("/")[0]
        if above not in self._made:
            self.folder(above)
        try:
            os.mkdir(f"{self.root}/{path}")
        except FileExistsError:
            # Made before this writer began, or a link to a folder made through its target.
            if not os.path.isdir(f"{self.root}/{path}"):
                raise
        self._made.add(path)

    def put(self, path: str, text: str) -> None:
        """Writes one file."""
        self.folder(path.rpartition("/")[0])
        self._write(f"{self.root}/{path}", text)

    def put_all(self, folder: str, files: Mapping[str, str]) -> None:
        """Writes files into one folder, by name."""
        self.folder(folder)
        base = f"{self.root}/{folder}/"
        for name, text in files.items():
            self._write(base + name, text)

    def link(self, path: str, target: str) -> None:
        """Makes a symbolic link with `target` as its text."""
        self.folder(path.rpartition("/")[0])
        os.symlink(target, f"{self.root}/{path}")

    def socket(self, path: str) -> None:
        """Makes a socket file that nobody listens on (needs no privilege)."""
        self.folder(path.rpartition("/")[0])
        os.mknod(f"{self.root}/{path}", stat.S_IFSOCK | 0o660)

    @staticmethod
    def _write(path: str, text: str) -> None:
        fd = os.open(path, _FLAGS, 0o644)
        try:
            os.write(fd, text.encode())
        finally:
            os.close(fd)
