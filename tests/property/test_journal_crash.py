"""The agent is killed before and after every single system call of a run, and again in the restore that follows."""

from __future__ import annotations

import contextlib

import pytest

from fuyaod.errors import JournalError
from fuyaod.hostfs.restore import restore
from fuyaod.hostfs.write import act
from fuyaod.model.action import OutcomeStatus, Plan
from tests.fakes.faults import Crash, Fault
from tests.fakes.journalled import ROOT, open_journal, write
from tests.fakes.kernelfs import KernelFs, PlainFile

CRASHES = [Fault.CRASH_BEFORE, Fault.CRASH_AFTER]

PLANS: tuple[Plan, ...] = (
    (
        write("be/cpu.weight", "2"),
        write("be/cpu.idle", "1"),
        write("be/cpuset.cpus", "6-7"),
        write("be/cgroup.freeze", "1"),
        write("be/pod/cpu.max", "20000 100000"),
        write("be/pod/memory.high", "1000000"),
    ),
    (
        write("be/cgroup.freeze", "0"),
        write("be/pod/cpu.max", "50000 50000"),
        write("be/cpuset.cpus", "4-7"),
        write("be/cpu.idle", "0"),
        write("be/pod/memory.high", "5000000"),
        write("be/cpuset.cpus", "0-999"),
    ),
    (write("be/cpu.idle", "1"), write("be/cpu.max", "90000 100000"), write("be/cgroup.freeze", "1")),
)


def new_kernel() -> KernelFs:
    kernel = KernelFs()
    kernel.plain["/proc/sys/kernel/random/boot_id"] = PlainFile(b"boot-1\n")
    kernel.make_group(f"{ROOT}/be", populated=False, cpu_weight="39")
    kernel.make_group(f"{ROOT}/be/pod", populated=True, cpu_max="70000 100000")
    return kernel


def values(kernel: KernelFs) -> dict[str, dict[str, str]]:
    return {path: dict(group.values) for path, group in kernel.groups.items()}


def run(kernel: KernelFs, faults: dict[int, Fault]) -> int:
    """An agent from start to end, which may come early. Returns the number of system calls."""
    calls: list[str] = []
    with contextlib.suppress(Crash):
        journal, files = open_journal(kernel, faults)
        calls = files.calls
        for plan in PLANS:
            act(plan, journal)
        journal.compact()
    kernel.end_process()
    return len(calls)


def restored(kernel: KernelFs, faults: dict[int, Fault] | None = None) -> int:
    """A restore in a process of its own, which may be killed. Returns the number of system calls."""
    calls: list[str] = []
    with contextlib.suppress(Crash):
        journal, files = open_journal(kernel, faults)
        calls = files.calls
        outcomes = restore(journal)
        assert not {outcome.status for outcome in outcomes} & {OutcomeStatus.REFUSED, OutcomeStatus.FOREIGN}
    kernel.end_process()
    return len(calls)


def calls_of_a_run() -> int:
    return run(new_kernel(), {})


@pytest.mark.parametrize("crash", CRASHES)
def test_restore_after_a_crash_at_any_call_gives_everything_back(crash: Fault) -> None:
    expected = values(new_kernel())
    calls = calls_of_a_run()
    assert calls > 200

    for at in range(calls):
        kernel = new_kernel()
        run(kernel, {at: crash})
        restored(kernel)
        assert values(kernel) == expected, f"killed at call {at}"


@pytest.mark.parametrize("crash", CRASHES)
def test_restore_killed_at_any_call_and_run_again_gives_everything_back(crash: Fault) -> None:
    expected = values(new_kernel())
    calls = calls_of_a_run()

    for died_at in range(3, calls, 37):
        for at in range(200):
            kernel = new_kernel()
            run(kernel, {died_at: Fault.CRASH_AFTER})
            done = restored(kernel, {at: crash})
            restored(kernel)
            assert values(kernel) == expected, f"killed at call {died_at}, restore killed at call {at}"
            if done <= at:
                break


@pytest.mark.parametrize("fault", [Fault.ERROR, Fault.LATE, Fault.SHORT])
def test_restore_after_one_failed_call_anywhere_gives_everything_back(fault: Fault) -> None:
    expected = values(new_kernel())

    for at in range(calls_of_a_run()):
        kernel = new_kernel()
        with contextlib.suppress(JournalError):
            run(kernel, {at: fault})
        kernel.end_process()
        restored(kernel)
        assert values(kernel) == expected, f"call {at} failed"


def test_restore_with_one_failed_call_anywhere_is_completed_by_the_next_run() -> None:
    expected = values(new_kernel())
    for at in range(300):
        kernel = new_kernel()
        run(kernel, {})
        calls = at
        with contextlib.suppress(JournalError):
            journal, files = open_journal(kernel, {at: Fault.ERROR})
            restore(journal)
            calls = len(files.calls)
        kernel.end_process()
        restored(kernel)
        assert values(kernel) == expected, f"call {at} failed"
        if calls < at:
            return
    raise AssertionError("the restore has more calls than were tried")


def test_restore_repeated_writes_nothing() -> None:
    kernel = new_kernel()
    run(kernel, {})
    restored(kernel)
    kernel.writes.clear()

    restored(kernel)

    assert kernel.writes == []
