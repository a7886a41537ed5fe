"""Fixtures of the control group tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts.scratch import scratch_root


@pytest.fixture
def ram_path() -> Iterator[Path]:
    """An empty folder, in memory where the machine has such a thing."""
    with scratch_root() as root:
        yield root
