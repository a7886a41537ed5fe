"""A place for trees that is fast: making 40 000 small files takes 0.3 s on tmpfs and many seconds on some disks."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def scratch_root() -> Iterator[Path]:
    """A new empty folder, on /dev/shm where that can be written, gone at the end."""
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    root = tempfile.mkdtemp(prefix="fuyaod-host-", dir=base)
    try:
        yield Path(root)
    finally:
        shutil.rmtree(root)
