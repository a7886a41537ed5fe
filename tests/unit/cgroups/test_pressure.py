"""Pressure of the whole system."""

import errno
from collections.abc import Iterator
from pathlib import Path

import pytest

from fuyaod.cgroups.observe import SystemPressureObserver
from fuyaod.hostfs import HostRoot
from tests.unit.cgroups.trees import KernelFiles, pressure_text


@pytest.fixture
def files() -> KernelFiles:
    """System calls with a kernel's manners."""
    return KernelFiles()


@pytest.fixture
def observer(tmp_path: Path, files: KernelFiles) -> Iterator[SystemPressureObserver]:
    """A host with pressure files of cpu, memory and io."""
    folder = tmp_path / "proc/pressure"
    folder.mkdir(parents=True)
    for seed, name in enumerate(("cpu", "memory", "io")):
        (folder / name).write_text(pressure_text(seed))
    made = SystemPressureObserver(HostRoot(tmp_path, files))
    yield made
    made.close()
    assert files.kept == 0


def test_system_pressure_gives_what_the_kernel_has(observer: SystemPressureObserver) -> None:
    found = observer.observe()

    assert found.cpu is not None
    assert found.io is not None
    assert found.io.some is not None
    assert (found.io.some.avg10_pct, found.io.some.total_us) == (2.25, 2001)
    assert found.irq is None
    assert observer.problems == {}


def test_system_pressure_of_irq_has_full_only(observer: SystemPressureObserver, tmp_path: Path) -> None:
    (tmp_path / "proc/pressure/irq").write_text("full avg10=0.10 avg60=0.00 avg300=0.00 total=9\n")

    found = observer.observe()

    assert found.irq is not None
    assert found.irq.some is None
    assert found.irq.full is not None
    assert found.irq.full.total_us == 9


def test_system_pressure_switched_off_in_kernel_is_none_and_no_problem(
    observer: SystemPressureObserver, files: KernelFiles
) -> None:
    files.refuse["proc/pressure/memory"] = errno.EOPNOTSUPP

    found = observer.observe()

    assert found.memory is None
    assert found.cpu is not None
    assert observer.problems == {}


def test_system_pressure_that_may_not_be_read_is_none_and_named(
    observer: SystemPressureObserver, files: KernelFiles
) -> None:
    files.refuse["proc/pressure/memory"] = errno.EACCES

    assert observer.observe().memory is None
    assert "EACCES" in observer.problems["proc/pressure/memory"]
    assert observer.denied
    files.refuse.clear()
    observer.observe()
    assert not observer.denied


def test_system_pressure_that_is_garbage_is_none_until_it_makes_sense(
    observer: SystemPressureObserver, tmp_path: Path
) -> None:
    file = tmp_path / "proc/pressure/cpu"
    file.write_bytes(b"\x00\x01")

    first, problems, denied = observer.observe(), dict(observer.problems), observer.denied
    file.write_text(pressure_text(9))
    second = observer.observe()

    assert first.cpu is None
    assert list(problems) == ["proc/pressure/cpu"]
    assert not denied
    assert second.cpu is not None
    assert observer.problems == {}


def test_system_pressure_of_kernel_without_psi_is_none(tmp_path: Path) -> None:
    found = SystemPressureObserver(HostRoot(tmp_path / "nothing")).observe()

    assert (found.cpu, found.memory, found.io, found.irq) == (None, None, None, None)
