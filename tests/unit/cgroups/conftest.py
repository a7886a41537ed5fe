"""Fixtures of the control group tests."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def ram_path(tmp_path: Path) -> Iterator[Path]:
    """An empty folder in memory where the machine has such a thing: thousands of small files take seconds on a disk."""
    shm = "/dev/shm"
    if not (os.path.isdir(shm) and os.access(shm, os.W_OK)):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=shm, prefix="fuyaod-test-") as folder:
        yield Path(folder)
