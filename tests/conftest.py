"""Settings of the whole test run."""

from __future__ import annotations

import os
import shutil

ROOM_BYTES = 1 << 30


def pytest_configure() -> None:
    """Temporary folders on tmpfs where it is large enough: declared hosts are tens of thousands of small files."""
    if os.access("/dev/shm", os.W_OK) and shutil.disk_usage("/dev/shm").free > ROOM_BYTES:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", "/dev/shm")
