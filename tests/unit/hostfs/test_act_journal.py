"""What `act` tells the journal."""

from __future__ import annotations

import errno

import pytest

from fuyaod.hostfs.write import act
from fuyaod.model.action import OutcomeStatus
from tests.fakes.faults import Fault
from tests.fakes.journalled import PATH, ROOT, open_journal, write
from tests.fakes.kernelfs import KernelFs

POD = f"{ROOT}/pod"

READ_BACK = 3
"""A file is opened to look at it, to write it, and to read it back."""


@pytest.fixture
def kernel() -> KernelFs:
    made = KernelFs()
    made.make_group(POD)
    return made


def test_act_cannot_read_back_is_refused_and_stays_in_the_journal(kernel: KernelFs) -> None:
    journal, files = open_journal(kernel)

    with files.failing("open", "/pod/cpu.weight", nth=READ_BACK):
        (outcome,) = act((write("pod/cpu.weight", "1"),), journal)

    assert outcome.status is OutcomeStatus.REFUSED
    assert "'1' was written" in (outcome.error or "")
    assert [entry.before for entry in journal.entries()] == ["100"]


def test_act_group_gone_at_the_read_back_leaves_the_journal(kernel: KernelFs) -> None:
    journal, files = open_journal(kernel)

    with files.failing("open", "/pod/cpu.weight", errno.ENODEV, nth=READ_BACK):
        (outcome,) = act((write("pod/cpu.weight", "1"),), journal)

    assert (outcome.status, journal.entries()) == (OutcomeStatus.GONE, ())


def test_act_journal_full_refuses_the_step_and_writes_nothing(kernel: KernelFs) -> None:
    journal, files = open_journal(kernel)

    with files.failing("write", PATH, errno.ENOSPC):
        (outcome,) = act((write("pod/cpu.weight", "1"),), journal)

    assert outcome.status is OutcomeStatus.REFUSED
    assert "cannot write /run/fuyaod/cgroups.journal" in (outcome.error or "")
    assert kernel.writes == []


def test_act_thaw_with_a_full_journal_is_done(kernel: KernelFs) -> None:
    journal, files = open_journal(kernel)
    act((write("pod/cgroup.freeze", "1"),), journal)

    with files.failing("write", PATH, nth=None, fault=Fault.SHORT):  # it never takes a whole record
        (outcome,) = act((write("pod/cgroup.freeze", "0"),), journal)

    assert outcome.status is OutcomeStatus.DONE
    assert kernel.value(f"{POD}/cgroup.freeze") == "0"


def test_act_back_to_the_first_value_leaves_nothing_to_restore(kernel: KernelFs) -> None:
    journal, _ = open_journal(kernel)

    for value in ("50", "60", "100"):
        act((write("pod/cpu.weight", value),), journal)

    assert journal.entries() == ()


def test_act_somebody_else_in_between_their_value_comes_back(kernel: KernelFs) -> None:
    journal, _ = open_journal(kernel)
    act((write("pod/cpu.weight", "50"),), journal)
    kernel.put(f"{POD}/cpu.weight", "77")

    act((write("pod/cpu.weight", "60"),), journal)

    assert [(entry.before, entry.ours) for entry in journal.entries()] == [("77", ("60",))]


def test_act_idle_takes_the_weight_on_first(kernel: KernelFs) -> None:
    kernel.put(f"{POD}/cpu.weight", "39")
    journal, _ = open_journal(kernel)

    act((write("pod/cpu.idle", "1"),), journal)

    assert [(entry.path.rpartition("/")[2], entry.before) for entry in journal.entries()] == [
        ("cpu.weight", "39"),
        ("cpu.idle", "0"),
    ]


@pytest.mark.parametrize("idle_weight", ["0", "1"])
def test_act_weight_of_an_idle_group_refused_and_not_read_back_keeps_what_idle_makes_of_it(
    kernel: KernelFs, idle_weight: str
) -> None:
    kernel.groups[POD].idle_weight = idle_weight
    kernel.put(f"{POD}/cpu.weight", "39")
    journal, files = open_journal(kernel)
    act((write("pod/cpu.idle", "1"),), journal)

    with files.failing("stat", POD, nth=3):  # the look after the refusal
        (outcome,) = act((write("pod/cpu.weight", "50"),), journal)

    assert (outcome.status, outcome.effective) == (OutcomeStatus.REFUSED, None)
    assert journal.entries()[0].before == "39"
    assert "100" in journal.entries()[0].ours


def test_act_idle_refused_lets_the_weight_go(kernel: KernelFs) -> None:
    kernel.put(f"{POD}/cpu.weight", "39")
    journal, files = open_journal(kernel)

    with files.failing("write", "/pod/cpu.idle", errno.EINVAL):
        (outcome,) = act((write("pod/cpu.idle", "1"),), journal)

    assert outcome.status is OutcomeStatus.REFUSED
    assert journal.entries() == ()


def test_act_idle_journal_full_at_second_record_lets_the_weight_go(kernel: KernelFs) -> None:
    journal, files = open_journal(kernel)

    with files.failing("write", PATH, errno.ENOSPC, nth=2):
        (outcome,) = act((write("pod/cpu.idle", "1"),), journal)

    assert "cannot write /run/fuyaod" in (outcome.error or "")
    assert (kernel.writes, journal.entries()) == ([], ())


def test_act_idle_was_on_before_going_there_and_back_leaves_nothing(kernel: KernelFs) -> None:
    kernel.put(f"{POD}/cpu.idle", "1")
    journal, _ = open_journal(kernel)

    act((write("pod/cpu.idle", "0"), write("pod/cpu.weight", "70"), write("pod/cpu.idle", "1")), journal)

    assert kernel.value(f"{POD}/cpu.weight") == "0"
    assert journal.entries() == ()
