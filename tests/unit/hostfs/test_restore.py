"""`restore` against a kernel in memory."""

from __future__ import annotations

import errno

import pytest

from fuyaod.hostfs.journal_lines import Entry
from fuyaod.hostfs.restore import restore
from fuyaod.hostfs.write import act
from fuyaod.model.action import OutcomeStatus, WriteFile
from tests.fakes.faults import Crash, Fault
from tests.fakes.journalled import ROOT, WHY, open_journal, write
from tests.fakes.kernelfs import KernelFs

POD = f"{ROOT}/pod"


@pytest.fixture
def kernel() -> KernelFs:
    made = KernelFs()
    made.make_group(POD)
    return made


def test_restore_thaws_first_then_last_touched_first(kernel: KernelFs) -> None:
    journal, _ = open_journal(kernel)
    act((write("pod/cgroup.freeze", "1"), write("pod/cpu.weight", "1"), write("pod/cpu.max", "50000 100000")), journal)
    kernel.writes.clear()

    outcomes = restore(journal)

    assert kernel.writes == [
        (f"{POD}/cgroup.freeze", "0"),
        (f"{POD}/cpu.max", "max 100000"),
        (f"{POD}/cpu.weight", "100"),
    ]
    assert {outcome.status for outcome in outcomes} == {OutcomeStatus.DONE}
    assert journal.entries() == ()


def test_restore_group_that_was_frozen_before_is_frozen_again_in_its_turn(kernel: KernelFs) -> None:
    kernel.put(f"{POD}/cgroup.freeze", "1")
    journal, _ = open_journal(kernel)
    act((write("pod/cgroup.freeze", "0"), write("pod/cpu.weight", "1")), journal)
    kernel.writes.clear()

    restore(journal)

    assert kernel.writes == [(f"{POD}/cpu.weight", "100"), (f"{POD}/cgroup.freeze", "1")]


def test_restore_weight_lost_by_idle_comes_back(kernel: KernelFs) -> None:
    kernel.put(f"{POD}/cpu.weight", "39")
    journal, _ = open_journal(kernel)
    act((write("pod/cpu.weight", "5"), write("pod/cpu.idle", "1")), journal)

    restore(journal)

    assert (kernel.value(f"{POD}/cpu.idle"), kernel.value(f"{POD}/cpu.weight")) == ("0", "39")


def test_restore_idle_that_was_on_before_comes_back_after_the_weight(kernel: KernelFs) -> None:
    kernel.put(f"{POD}/cpu.idle", "1")
    journal, _ = open_journal(kernel)
    act((write("pod/cpu.idle", "0"), write("pod/cpu.weight", "70")), journal)

    outcomes = restore(journal)

    assert {outcome.status for outcome in outcomes} == {OutcomeStatus.DONE}
    assert (kernel.value(f"{POD}/cpu.idle"), journal.entries()) == ("1", ())


def test_restore_changed_by_somebody_else_is_left_alone_and_reported(kernel: KernelFs) -> None:
    journal, _ = open_journal(kernel)
    act((write("pod/cpu.weight", "1"),), journal)
    kernel.put(f"{POD}/cpu.weight", "77")

    (outcome,) = restore(journal)

    assert outcome.status is OutcomeStatus.FOREIGN
    assert "'77', which somebody else wrote" in (outcome.error or "")
    assert kernel.value(f"{POD}/cpu.weight") == "77"
    assert journal.entries() == ()


def test_restore_own_value_in_another_spelling_is_ours(kernel: KernelFs) -> None:
    kernel.put(f"{POD}/cpuset.cpus", "0-7")
    journal, _ = open_journal(kernel)
    act((write("pod/cpuset.cpus", "3,2,1"), write("pod/memory.high", "10000")), journal)
    assert (kernel.value(f"{POD}/cpuset.cpus"), kernel.value(f"{POD}/memory.high")) == ("1-3", "8192")

    restore(journal)

    assert (kernel.value(f"{POD}/cpuset.cpus"), kernel.value(f"{POD}/memory.high")) == ("0-7", "max")


def test_restore_clipped_value_that_was_recorded_is_ours(kernel: KernelFs) -> None:
    class Stingy(KernelFs):
        """Takes no weight above 50."""

        def write(self, fd: int, data: bytes) -> int:
            return super().write(fd, b"50\n" if data == b"60\n" else data)

    stingy = Stingy()
    stingy.make_group(POD)
    journal, _ = open_journal(stingy)
    (clipped,) = act((write("pod/cpu.weight", "60"),), journal)

    (outcome,) = restore(journal)

    assert (clipped.status, clipped.effective) == (OutcomeStatus.CLIPPED, "50")
    assert (outcome.status, stingy.value(f"{POD}/cpu.weight")) == (OutcomeStatus.DONE, "100")


@pytest.mark.parametrize("again", [True, False], ids=["made_again", "removed"])
def test_restore_group_gone_is_void(kernel: KernelFs, again: bool) -> None:
    journal, _ = open_journal(kernel)
    act((write("pod/cpu.weight", "1"),), journal)
    del kernel.groups[POD]
    if again:
        kernel.make_group(POD, cpu_weight="1")
    kernel.writes.clear()

    (outcome,) = restore(journal)

    assert outcome.status is OutcomeStatus.GONE
    assert (kernel.writes, journal.entries()) == ([], ())


def test_restore_empty_cpuset_without_tasks_is_empty_again(kernel: KernelFs) -> None:
    journal, _ = open_journal(kernel)
    act((write("pod/cpuset.cpus", "2"),), journal)

    (outcome,) = restore(journal)

    assert (outcome.status, kernel.value(f"{POD}/cpuset.cpus")) == (OutcomeStatus.DONE, "")


def test_restore_empty_cpuset_with_tasks_gets_the_ancestors_cpus(kernel: KernelFs) -> None:
    kernel.put(f"{POD}/cpuset.cpus", "0-5")
    kernel.make_group(f"{POD}/container", populated=True)
    journal, _ = open_journal(kernel)
    act((write("pod/container/cpuset.cpus", "2"),), journal)

    (outcome,) = restore(journal)

    assert (outcome.status, outcome.effective) == (OutcomeStatus.CLIPPED, "0-5")
    assert "ENOSPC" in (outcome.error or "")
    assert (kernel.value(f"{POD}/container/cpuset.cpus"), restore(journal)) == ("0-5", ())


def test_restore_empty_cpuset_waits_for_its_ancestor_which_we_shrank(kernel: KernelFs) -> None:
    kernel.make_group(f"{POD}/container", populated=True)
    journal, files = open_journal(kernel)
    act((write("pod/cpuset.cpus", "1"), write("pod/container/cpuset.cpus", "1")), journal)

    with files.failing("write", "/pod/cpuset.cpus"):
        refused, waits = restore(journal)

    assert (refused.status, waits.status) == (OutcomeStatus.REFUSED, OutcomeStatus.REFUSED)
    assert {outcome.status for outcome in restore(journal)} == {OutcomeStatus.DONE, OutcomeStatus.CLIPPED}
    assert kernel.value(f"{POD}/container/cpuset.cpus") == "0-7"


def test_restore_empty_cpuset_killed_after_the_ancestors_write_is_done_by_the_next_run(kernel: KernelFs) -> None:
    kernel.make_group(f"{POD}/container", populated=True)
    journal, files = open_journal(kernel)
    act((write("pod/container/cpuset.cpus", "2"),), journal)
    journal.close()
    journal, files = open_journal(kernel)
    second_write = files.failing("write", "/container/cpuset.cpus", nth=2, fault=Fault.CRASH_AFTER)
    with pytest.raises(Crash), second_write:
        restore(journal)
    assert (files.calls[-1], kernel.value(f"{POD}/container/cpuset.cpus")) == ("write", "0-7")
    kernel.end_process()

    journal, _ = open_journal(kernel)
    (outcome,) = restore(journal)

    assert outcome.status is OutcomeStatus.CLIPPED
    assert journal.entries() == ()


def test_restore_empty_cpuset_without_any_ancestor_is_refused_and_kept(kernel: KernelFs) -> None:
    lonely = KernelFs()
    lonely.make_group("/pod", populated=True)
    journal, _ = open_journal(lonely)
    act((WriteFile(path="pod/cpuset.cpus", value="2", reason=WHY),), journal)

    (outcome,) = restore(journal)

    assert (outcome.status, len(journal.entries())) == (OutcomeStatus.REFUSED, 1)
    assert "ENOSPC" in (outcome.error or "")


@pytest.mark.parametrize("number", [errno.EBUSY, errno.EACCES, errno.EINVAL])
def test_restore_refused_is_reported_and_kept_and_the_others_go_on(kernel: KernelFs, number: int) -> None:
    journal, files = open_journal(kernel)
    act((write("pod/cpu.max", "50000 100000"), write("pod/cpu.weight", "1")), journal)

    with files.failing("write", "/pod/cpu.weight", number):
        refused, done = restore(journal)

    assert (refused.status, done.status) == (OutcomeStatus.REFUSED, OutcomeStatus.DONE)
    assert f'cannot write "100" to {POD}/cpu.weight: {errno.errorcode[number]}' in (refused.error or "")
    assert [entry.path for entry in journal.entries()] == [f"{POD}/cpu.weight".removeprefix("/")]
    (later,) = restore(journal)
    assert (later.status, kernel.value(f"{POD}/cpu.weight")) == (OutcomeStatus.DONE, "100")


@pytest.mark.parametrize(
    ("before", "number"),
    [pytest.param("", errno.EBUSY, id="empty_and_busy"), pytest.param("0-3", errno.ENOSPC, id="named_and_no_space")],
)
def test_restore_cpuset_refused_for_another_reason_takes_nothing_from_the_ancestor(
    kernel: KernelFs, before: str, number: int
) -> None:
    kernel.put(f"{POD}/cpuset.cpus", before)
    kernel.make_group(ROOT)
    journal, files = open_journal(kernel)
    act((write("pod/cpuset.cpus", "2"),), journal)

    with files.failing("write", "/pod/cpuset.cpus", number):
        (outcome,) = restore(journal)

    assert outcome.status is OutcomeStatus.REFUSED
    assert kernel.value(f"{POD}/cpuset.cpus") == "2"


def test_restore_kernel_makes_something_else_of_it_is_refused_and_kept(kernel: KernelFs) -> None:
    class Stubborn(KernelFs):
        """Makes 2 of every 100."""

        def write(self, fd: int, data: bytes) -> int:
            return super().write(fd, b"2\n" if data == b"100\n" else data)

    stubborn = Stubborn()
    stubborn.make_group(POD)
    journal, _ = open_journal(stubborn)
    act((write("pod/cpu.weight", "1"),), journal)

    (first,), (second,) = restore(journal), restore(journal)

    assert (first.status, second.status) == (OutcomeStatus.REFUSED, OutcomeStatus.REFUSED)
    assert "'100' was written and it reads '2'" in (first.error or "")
    assert len(journal.entries()) == 1


def test_restore_entry_of_an_unknown_file_is_refused_and_kept(kernel: KernelFs) -> None:
    journal, _ = open_journal(kernel)
    journal.hold(Entry(path="sys/fs/cgroup/pod/cpu.future", inode=kernel.groups[POD].inode, before="1", ours=("2",)))

    (outcome,) = restore(journal)

    assert (outcome.status, len(journal.entries())) == (OutcomeStatus.REFUSED, 1)


def test_restore_second_run_does_nothing(kernel: KernelFs) -> None:
    journal, files = open_journal(kernel)
    act((write("pod/cpu.weight", "1"), write("pod/cgroup.freeze", "1")), journal)
    restore(journal)
    calls = len(files.calls)

    outcomes = restore(journal)

    assert (outcomes, len(files.calls)) == ((), calls)


def test_restore_with_a_full_journal_gives_everything_back(kernel: KernelFs) -> None:
    journal, _ = open_journal(kernel)
    act((write("pod/cpu.weight", "1"), write("pod/cgroup.freeze", "1")), journal)
    journal.close()

    class Full(KernelFs):
        """No plain file takes a byte."""

        def write(self, fd: int, data: bytes) -> int:
            if data[:9].strip(b"0123456789abcdef") == b" ":
                raise OSError(errno.ENOSPC, "full")
            return super().write(fd, data)

    full = Full()
    full.groups, full.plain = kernel.groups, kernel.plain
    journal, _ = open_journal(full)

    outcomes = restore(journal)

    assert {outcome.status for outcome in outcomes} == {OutcomeStatus.DONE}
    assert (kernel.value(f"{POD}/cpu.weight"), kernel.value(f"{POD}/cgroup.freeze")) == ("100", "0")
    journal.close()
    journal, _ = open_journal(kernel)
    assert {outcome.status for outcome in restore(journal)} == {OutcomeStatus.SAME}
