"""Kept descriptors and their budget."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from fuyaod.errors import HostDenied, HostFileError
from fuyaod.hostfs import DescriptorBudget, HostRoot
from fuyaod.hostfs.budget import PINNED_BYTES_PER_DESCRIPTOR, raise_descriptor_limit
from fuyaod.hostfs.files import OsFiles
from tests.fakes.faults import FaultyFiles
from tests.fakes.refusals import RefusingFiles


def test_kept_file_opens_once_and_reads_with_one_call(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"1\n")
    files = FaultyFiles(OsFiles())
    kept = HostRoot(tmp_path, files).keep("file")

    first = kept.read()
    (tmp_path / "file").write_bytes(b"2\n")
    second = kept.read()

    assert (first, second) == (b"1\n", b"2\n")
    assert files.calls == ["open", "pread", "pread"]


@pytest.mark.parametrize("size", [0, 1023, 1024, 4096, 100_000])
def test_kept_file_of_many_records_is_read_whole(tmp_path: Path, size: int) -> None:
    class Records(OsFiles):
        """Whole records of 1000 bytes, as many as fit, as fs/seq_file.c hands them out."""

        def pread(self, fd: int, length: int, offset: int) -> bytes:
            """pread(2)."""
            return os.pread(fd, max(1000, length // 1000 * 1000), offset)

    content = os.urandom(size)
    (tmp_path / "file").write_bytes(content)
    kept = HostRoot(tmp_path, Records()).keep("file")

    assert [kept.read(), kept.read()] == [content, content]


def test_kept_file_without_end_is_refused(tmp_path: Path) -> None:
    os.symlink("/dev/zero", tmp_path / "file")

    with pytest.raises(HostFileError, match="EFBIG"):
        HostRoot(tmp_path, OsFiles()).keep("file").read()


def test_kept_file_vanished_stays_vanished_and_gives_its_descriptor_back(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"1")
    files = FaultyFiles(OsFiles())
    host = HostRoot(tmp_path, files)
    kept = host.keep("file")

    with files.failing("pread", "/file", errno.ENODEV, nth=2):
        assert [kept.read(), kept.read(), kept.read()] == [b"1", None, None]

    assert host.budget.kept == 0
    assert files.calls == ["open", "pread", "pread", "close"]


@pytest.mark.parametrize("limit", [257, 256], ids=["kept", "over_the_budget"])
def test_kept_file_missing_stays_missing_for_a_later_group_of_the_name(tmp_path: Path, limit: int) -> None:
    host = HostRoot(tmp_path, budget=DescriptorBudget(limit))
    kept = host.keep("file")

    first = kept.read()
    (tmp_path / "file").write_bytes(b"1")

    assert (first, kept.read(), host.keep("file").read(), host.budget.limit) == (None, None, b"1", limit - 256)


def test_kept_file_refused_then_granted_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"1")
    files = RefusingFiles()
    host = HostRoot(tmp_path, files)
    kept = host.keep("file")

    for table in (files.at_open, files.at_read):
        table["/file"] = errno.EACCES
        with pytest.raises(HostDenied):
            kept.read()
        assert host.budget.kept == 0
        table.clear()

    assert (kept.read(), host.budget.kept) == (b"1", 1)


def test_kept_pressure_that_the_kernel_refuses_is_an_error_each_time(tmp_path: Path) -> None:
    (tmp_path / "cpu.pressure").write_bytes(b"x")
    host = HostRoot(tmp_path, RefusingFiles(at_read={"/cpu.pressure": errno.EOPNOTSUPP}))
    kept = host.keep("cpu.pressure")

    for _ in range(2):
        with pytest.raises(HostFileError, match="EOPNOTSUPP") as caught:
            kept.read()
        assert caught.value.errno == errno.EOPNOTSUPP

    assert host.budget.kept == 0


def test_kept_file_over_the_budget_is_opened_for_each_read(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
    files = FaultyFiles(OsFiles())
    host = HostRoot(tmp_path, files, DescriptorBudget(257))
    a, b = host.keep("a"), host.keep("b")

    contents = [a.read(), b.read(), b.read()]

    assert contents == [b"a", b"b", b"b"]
    assert (host.budget.kept, host.budget.pinned_bytes) == (1, PINNED_BYTES_PER_DESCRIPTOR)
    assert files.calls.count("close") == 2
    a.close()
    a.close()
    assert host.budget.kept == 0
    assert (b.read(), host.budget.kept) == (b"b", 1)


def test_budget_smaller_than_its_reserve_keeps_nothing() -> None:
    budget = DescriptorBudget(100)

    assert (budget.take(), budget.limit) == (False, 0)


def test_raise_descriptor_limit_gives_the_hard_one() -> None:
    code = (
        "import resource\n"
        "from fuyaod.hostfs.budget import raise_descriptor_limit\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 128))\n"
        "print(raise_descriptor_limit(), resource.getrlimit(resource.RLIMIT_NOFILE), raise_descriptor_limit())"
    )

    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert told == "128 (128, 128) 128\n"


class Limits:
    """A process's limit of open files; raising it may be forbidden."""

    def __init__(self, soft: int, hard: int, *, forbidden: bool = False) -> None:
        self.limits = (soft, hard)
        self.asked: list[tuple[int, int]] = []
        self._forbidden = forbidden

    def get(self, which: int) -> tuple[int, int]:
        assert which == resource.RLIMIT_NOFILE
        return self.limits

    def set(self, which: int, limits: tuple[int, int]) -> None:
        assert which == resource.RLIMIT_NOFILE
        self.asked.append(limits)
        if self._forbidden:
            raise ValueError("not allowed to raise maximum limit")
        self.limits = limits


@pytest.mark.parametrize(
    ("limits", "in_force", "asked"),
    [
        pytest.param(Limits(1024, 4096), 4096, [(4096, 4096)], id="raised"),
        pytest.param(Limits(1024, resource.RLIM_INFINITY), 1024, [], id="endless_hard_limit_is_no_figure"),
        pytest.param(Limits(1024, 4096, forbidden=True), 1024, [(4096, 4096)], id="forbidden"),
    ],
)
def test_raise_descriptor_limit_never_counts_on_more_than_there_is(
    limits: Limits, in_force: int, asked: list[tuple[int, int]]
) -> None:
    assert raise_descriptor_limit(limits.get, limits.set) == in_force
    assert (limits.limits[0], limits.asked) == (in_force, asked)
