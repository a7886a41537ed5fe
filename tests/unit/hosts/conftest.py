"""Fixtures: an empty folder that is fast to fill."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts.scratch import scratch_root


@pytest.fixture
def root() -> Iterator[Path]:
    """A new empty folder."""
    with scratch_root() as folder:
        yield folder
