"""The journal file itself."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from fuyaod.errors import JournalError
from fuyaod.hostfs import HostRoot
from fuyaod.hostfs.journal import COMPACT_ABOVE_BYTES, Journal
from fuyaod.hostfs.journal_lines import Entry
from tests.fakes.faults import Fault, FaultyFiles
from tests.fakes.journalled import PATH, ROOT, open_journal
from tests.fakes.kernelfs import KernelFs, PlainFile

BOOT_ID_PATH = "/proc/sys/kernel/random/boot_id"


def entry(path: str = "sys/fs/cgroup/pod/cpu.weight", inode: int = 7, before: str = "100", ours: str = "1") -> Entry:
    return Entry(path=path, inode=inode, before=before, ours=(ours,))


@pytest.fixture
def kernel() -> KernelFs:
    made = KernelFs()
    made.plain[BOOT_ID_PATH] = PlainFile(b"boot-1\n")
    return made


@pytest.fixture
def host(tmp_path: Path) -> HostRoot:
    (tmp_path / "host").mkdir()
    (tmp_path / "run").mkdir()
    return HostRoot(tmp_path / "host")


def reopened(kernel: KernelFs) -> tuple[Entry, ...]:
    kernel.end_process()
    journal, _ = open_journal(kernel)
    return journal.entries()


def test_journal_on_a_real_file_system_keeps_entries(host: HostRoot, tmp_path: Path) -> None:
    path = str(tmp_path / "run/cgroups.journal")
    with Journal.open(host, path) as journal:
        journal.hold(entry(inode=1))
        journal.hold(entry(inode=2))
        journal.settle(entry(inode=1, ours="2"))
        journal.retire(entry(inode=2).key)

    with Journal.open(host, path) as journal:
        assert journal.entries() == (entry(inode=1, ours="2"),)
        assert journal.entry(entry(inode=1).key) == entry(inode=1, ours="2")
        assert journal.entry(entry(inode=2).key) is None
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert sorted(os.listdir(tmp_path / "run")) == ["cgroups.journal", "cgroups.journal.lock"]


def test_journal_entry_replaced_keeps_its_turn(kernel: KernelFs) -> None:
    journal, _ = open_journal(kernel)
    for made in (entry(inode=1), entry(inode=2), entry(inode=1, ours="5")):
        journal.hold(made)

    assert reopened(kernel) == (entry(inode=1, ours="5"), entry(inode=2))


def test_journal_retired_and_held_again_is_last(kernel: KernelFs) -> None:
    journal, _ = open_journal(kernel)
    journal.hold(entry(inode=1))
    journal.hold(entry(inode=2))
    journal.retire(entry(inode=1).key)
    journal.hold(entry(inode=1))

    assert reopened(kernel) == journal.entries() == (entry(inode=2), entry(inode=1))


def test_journal_second_writer_is_refused_until_the_first_closes(host: HostRoot, tmp_path: Path) -> None:
    path = str(tmp_path / "run/cgroups.journal")
    first = Journal.open(host, path)
    first.compact()  # the lock must outlive the file being replaced

    with pytest.raises(JournalError, match=r"cannot open the journal .*: another process has it"):
        Journal.open(host, path)
    first.close()
    first.close()

    Journal.open(host, path).close()


def test_journal_of_an_earlier_boot_is_void_even_when_damaged(kernel: KernelFs) -> None:
    journal, _ = open_journal(kernel)
    journal.hold(entry())
    kernel.end_process()
    kernel.plain[PATH].content += b"garbage\n"
    kernel.plain[BOOT_ID_PATH] = PlainFile(b"boot-2\n")

    journal, _ = open_journal(kernel)

    assert (journal.entries(), journal.voided) == ((), True)
    journal.hold(entry(inode=9))
    assert reopened(kernel) == (entry(inode=9),)


def test_journal_of_this_boot_is_not_void(kernel: KernelFs) -> None:
    open_journal(kernel)
    kernel.end_process()

    journal, _ = open_journal(kernel)

    assert journal.voided is False


@pytest.mark.parametrize("cut", [1, 5, 12, 40])
def test_journal_torn_last_line_is_passed_over_and_replaced(kernel: KernelFs, cut: int) -> None:
    journal, _ = open_journal(kernel)
    journal.hold(entry(inode=1))
    journal.hold(entry(inode=2))
    kernel.end_process()
    del kernel.plain[PATH].content[-cut:]

    journal, _ = open_journal(kernel)
    assert journal.entries() == (entry(inode=1),)
    journal.hold(entry(inode=3))

    assert reopened(kernel) == (entry(inode=1), entry(inode=3))


def test_journal_hold_that_cannot_be_written_leaves_the_older_entry(kernel: KernelFs) -> None:
    journal, files = open_journal(kernel)
    journal.hold(entry(ours="1"))

    refused = pytest.raises(JournalError, match=r"cannot write /run/fuyaod/cgroups.journal: No space left")
    with files.failing("write", PATH, errno.ENOSPC), refused:
        journal.hold(entry(ours="2"))
    # Now a whole new file is tried.
    with files.failing("open", f"{PATH}.new", errno.ENOSPC), pytest.raises(JournalError, match="No space left"):
        journal.hold(entry(inode=8))

    assert journal.entries() == (entry(ours="1"),)
    assert reopened(kernel) == (entry(ours="1"),)


def test_journal_half_a_record_then_full_is_repaired_by_the_next(kernel: KernelFs) -> None:
    journal, files = open_journal(kernel)
    journal.hold(entry(inode=1))
    half = files.failing("write", PATH, fault=Fault.SHORT)
    with half, files.failing("write", PATH, errno.ENOSPC, nth=2), pytest.raises(JournalError):
        journal.hold(entry(inode=2))

    journal.hold(entry(inode=3))

    assert reopened(kernel) == (entry(inode=1), entry(inode=3))


def test_journal_short_write_is_carried_on(kernel: KernelFs) -> None:
    journal, files = open_journal(kernel)

    with (
        files.failing("write", PATH, fault=Fault.SHORT),
        files.failing("write", PATH, fault=Fault.SHORT, nth=2),
    ):
        journal.hold(entry(inode=1))

    assert reopened(kernel) == (entry(inode=1),)


def test_journal_write_without_progress_is_an_error(kernel: KernelFs) -> None:
    class Stuck(KernelFs):
        """write(2) answers 0."""

        def write(self, fd: int, data: bytes) -> int:
            return 0 if b'"held"' in data else super().write(fd, data)

    journal, _ = open_journal(Stuck())

    with pytest.raises(JournalError, match="Input/output error"):
        journal.hold(entry())


def test_journal_settle_and_retire_never_fail_and_reach_the_file_later(kernel: KernelFs) -> None:
    journal, files = open_journal(kernel)
    for inode in (1, 2, 3):
        journal.hold(entry(inode=inode))
    files.faults = dict.fromkeys(range(len(files.calls), len(files.calls) + 20), Fault.ERROR)
    journal.settle(entry(inode=1, ours="9"))
    journal.retire(entry(inode=2).key)
    journal.retire(entry(inode=99).key)
    files.faults = {}

    journal.hold(entry(inode=4))

    assert reopened(kernel) == journal.entries() == (entry(inode=1, ours="9"), entry(inode=3), entry(inode=4))


def test_journal_same_entry_again_writes_nothing(kernel: KernelFs) -> None:
    journal, files = open_journal(kernel)
    journal.hold(entry())
    calls = len(files.calls)

    journal.hold(entry())

    assert len(files.calls) == calls


def test_journal_does_not_grow_without_end(kernel: KernelFs) -> None:
    group = kernel.make_group(f"{ROOT}/pod")
    path = f"{ROOT}/pod/cpu.weight".removeprefix("/")
    journal, _ = open_journal(kernel)
    largest = 0
    for turn in range(6000):
        journal.hold(entry(path, group.inode, ours=str(turn)))
        largest = max(largest, len(kernel.plain[PATH].content))

    assert COMPACT_ABOVE_BYTES - 1000 < largest < COMPACT_ABOVE_BYTES + 1000
    assert reopened(kernel) == (entry(path, group.inode, ours="5999"),)


def test_journal_compact_drops_groups_that_are_gone(kernel: KernelFs) -> None:
    kept, again, gone = (kernel.make_group(f"{ROOT}/{name}") for name in ("kept", "again", "gone"))
    held = {
        name: entry(f"sys/fs/cgroup/{name}/cpu.weight", group.inode)
        for name, group in (("kept", kept), ("again", again), ("gone", gone))
    }
    journal, _ = open_journal(kernel)
    for one in held.values():
        journal.hold(one)
    kernel.make_group(f"{ROOT}/again")
    del kernel.groups[f"{ROOT}/gone"]

    journal.compact()

    assert journal.entries() == (held["kept"],)
    assert reopened(kernel) == (held["kept"],)


def test_journal_compact_keeps_groups_that_may_not_be_looked_at(kernel: KernelFs) -> None:
    group = kernel.make_group(f"{ROOT}/pod")
    held = entry("sys/fs/cgroup/pod/cpu.weight", group.inode)
    journal, files = open_journal(kernel)
    journal.hold(held)

    with files.failing("stat", "/pod", errno.EACCES):
        journal.compact()

    assert journal.entries() == (held,)


def test_journal_compact_that_fails_leaves_the_old_file(kernel: KernelFs) -> None:
    group = kernel.make_group(f"{ROOT}/pod")
    held = entry("sys/fs/cgroup/pod/cpu.weight", group.inode)
    journal, files = open_journal(kernel)
    journal.hold(held)
    for call in ("unlink", "open", "write", "fsync", "rename"):
        with files.failing(call, f"{PATH}.new"), pytest.raises(JournalError, match="cannot compact"):
            journal.compact()

    journal.hold(entry(inode=2))

    assert reopened(kernel) == (held, entry(inode=2))


def test_journal_rename_that_answers_with_an_error_loses_nothing_whichever_file_has_the_name(kernel: KernelFs) -> None:
    group = kernel.make_group(f"{ROOT}/pod")
    held = entry("sys/fs/cgroup/pod/cpu.weight", group.inode)
    journal, files = open_journal(kernel)
    journal.hold(held)
    late = files.failing("rename", f"{PATH}.new", fault=Fault.LATE)
    with late, pytest.raises(JournalError, match="cannot compact"):
        journal.compact()

    journal.hold(entry(inode=2))

    assert files.calls[-1] == "close"
    assert reopened(kernel) == (held, entry(inode=2))


def test_journal_compact_syncs_the_file_and_its_directory(kernel: KernelFs) -> None:
    journal, files = open_journal(kernel)
    start = len(files.calls)

    journal.compact()

    assert files.calls[start:] == ["unlink", "open", "write", "fsync", "rename", "close", "open", "fsync", "close"]


def test_journal_new_file_that_somebody_puts_there_is_not_taken_over(kernel: KernelFs) -> None:
    class Hostile(KernelFs):
        """What is unlinked is there again at once."""

        def unlink(self, path: str) -> None:
            self.plain[path] = PlainFile(b"forged\n")

    with pytest.raises(JournalError, match="cannot open"):
        open_journal(Hostile())


def test_journal_that_fails_leaves_no_descriptor_open(kernel: KernelFs) -> None:
    journal, files = open_journal(kernel)
    before = kernel.open_descriptors
    for call in ("write", "fsync", "rename"):
        with files.failing(call, f"{PATH}.new"), pytest.raises(JournalError):
            journal.compact()
    assert kernel.open_descriptors == before
    journal.close()

    for call, file in (("open", ".lock"), ("lock", ".lock"), ("open", ""), ("fstat", ""), ("pread", "")):
        files = FaultyFiles(kernel)
        with files.failing(call, PATH + file), pytest.raises(JournalError):
            Journal.open(HostRoot("/", files), PATH, files)

        assert kernel.open_descriptors == 0, call
