import subprocess
from collections.abc import Callable, Iterator

import pytest

from tests.kernel.vm.console import GuestEnd, Limits, follow
from tests.unit.kernel_vm.waiting import readable

Start = Callable[[str], subprocess.Popen[bytes]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts shell text that stands for an emulator."""
    running: list[subprocess.Popen[bytes]] = []

    def run(shell: str) -> subprocess.Popen[bytes]:
        running.append(subprocess.Popen(["sh", "-c", shell], stdout=subprocess.PIPE))
        return running[-1]

    yield run
    for process in running:
        process.kill()
        process.communicate()


def test_console_that_closes_gives_every_line(start: Start) -> None:
    lines: list[str] = []
    process = start(r"printf 'one\r\ntwo\nlast'")
    assert process.stdout is not None

    seen = follow(process.stdout, Limits(boot_s=30, total_s=30), lines.append)

    assert lines == ["one", "two", "last"]
    assert seen.gave_up is None
    assert seen.boot_s is not None


def test_console_that_stays_silent_is_no_boot(start: Start) -> None:
    process = start("exec sleep 60")
    assert process.stdout is not None

    seen = follow(process.stdout, Limits(boot_s=0.05, total_s=30), print)

    assert (seen.boot_s, seen.gave_up) == (None, GuestEnd.NO_BOOT)


def test_console_that_never_closes_times_out(start: Start) -> None:
    process = start("echo up; exec sleep 60")
    assert process.stdout is not None
    assert readable(process.stdout)
    lines: list[str] = []

    seen = follow(process.stdout, Limits(boot_s=30, total_s=0.1), lines.append)

    assert (lines, seen.gave_up) == (["up"], GuestEnd.TIMED_OUT)


def test_console_without_any_output_that_closes_never_booted(start: Start) -> None:
    process = start("true")
    assert process.stdout is not None

    seen = follow(process.stdout, Limits(boot_s=30, total_s=30), print)

    assert (seen.boot_s, seen.gave_up) == (None, None)


def test_line_that_is_no_utf8_is_passed_on(start: Start) -> None:
    process = start(r"printf '\377\n'")
    assert process.stdout is not None
    lines: list[str] = []

    follow(process.stdout, Limits(boot_s=30, total_s=30), lines.append)

    assert lines == ["�"]


def test_line_that_was_overwritten_is_passed_on_as_it_ended(start: Start) -> None:
    process = start(r"printf 'collecting ...\rcollected 3   \r\n'")
    assert process.stdout is not None
    lines: list[str] = []

    follow(process.stdout, Limits(boot_s=30, total_s=30), lines.append)

    assert lines == ["collected 3"]
