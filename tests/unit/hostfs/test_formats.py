"""When two texts of one kernel file mean the same."""

from __future__ import annotations

from mmap import PAGESIZE

import pytest

from fuyaod.hostfs.formats import FORMATS, format_of


def same(file: str, wanted: str, current: str) -> bool:
    found = format_of(f"a/b/{file}")
    assert found is not None
    return found.same(wanted, current)


@pytest.mark.parametrize(
    ("file", "wanted", "current", "expected"),
    [
        ("cpuset.cpus", "0-3", "0,1,2,3", True),
        ("cpuset.cpus", "", "", True),
        ("cpuset.cpus", "", "0", False),
        ("cpuset.cpus", "0-3", "0-4", False),
        ("cpuset.cpus", "x", "x", False),
        ("cpuset.mems", "1,0", "0-1", True),
        ("cpu.max", "max 100000", "max 100000", True),
        ("cpu.max", "max", "max 50000", True),
        ("cpu.max", "max 100000", "max", False),
        ("cpu.max", "20000 100000", "20000 50000", False),
        ("cpu.max", " 20000\t100000", "20000 100000", True),
        ("cpu.max", "", "", False),
        ("cpu.max", "1 2 3", "1 2 3", False),
        ("cpu.weight", "0100", "100", True),
        ("cpu.weight", "100", "10", False),
        ("cpu.weight", "", "100", False),
        ("pids.max", "max", "max", True),
        ("pids.max", "max", "4", False),
        ("memory.max", "max", "max", True),
        ("memory.max", "max", "0", False),
        ("memory.max", str(3 * PAGESIZE + 1), str(3 * PAGESIZE), True),
        ("memory.max", str(3 * PAGESIZE), str(3 * PAGESIZE + 1), False),
        ("memory.max", str(4 * PAGESIZE), str(3 * PAGESIZE), False),
        ("memory.max", "1G", "1G", True),
        ("memory.max", "9" * 21, "9" * 21, True),
        ("cgroup.freeze", "1", "0", False),
    ],
)
def test_same(file: str, wanted: str, current: str, expected: bool) -> None:
    assert same(file, wanted, current) is expected


@pytest.mark.parametrize("path", ["cgroup.kill", "a/memory.reclaim", "a/cgroup.procs", "a/", "cpu.max/x", ""])
def test_format_of_a_file_that_is_never_written_is_none(path: str) -> None:
    assert format_of(path) is None


@pytest.mark.parametrize("file", sorted(FORMATS))
def test_every_format_takes_its_own_text(file: str) -> None:
    assert same(file, "3", "3") is True
    assert same(file, "3", "4") is False
