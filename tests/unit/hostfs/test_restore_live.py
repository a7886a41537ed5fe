"""The write path on this machine's own kernel: groups made and removed here, files that need no controller."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from fuyaod.hostfs import HostRoot
from fuyaod.hostfs.journal import Journal
from fuyaod.hostfs.restore import restore
from fuyaod.hostfs.write import act
from fuyaod.model.action import OutcomeStatus, Reason, WriteFile

WHY = Reason(code="test", text="a test wants it")
MOUNTS = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"))

pytestmark = pytest.mark.live


@pytest.fixture
def group() -> Iterator[Path]:
    mount = next((path for path in MOUNTS if (path / "cgroup.procs").exists()), None)
    if mount is None or os.geteuid() != 0 or not os.access(mount / "cgroup.procs", os.W_OK):
        pytest.skip("needs root and a writable cgroup v2 hierarchy")
    made = mount / f"fuyaod-test-{uuid.uuid4().hex[:12]}"
    made.mkdir()
    yield made
    if made.exists():
        made.rmdir()


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal.open(HostRoot(), str(tmp_path / "cgroups.journal")) as made:
        yield made


def step(group: Path, file: str, value: str) -> WriteFile:
    return WriteFile(path=str(group / file).removeprefix("/"), value=value, reason=WHY, inode=group.stat().st_ino)


def test_act_and_restore_on_the_kernel(group: Path, journal: Journal) -> None:
    plan = (step(group, "cgroup.freeze", "1"), step(group, "cgroup.max.depth", "3"), step(group, "cpu.max", "max"))

    outcomes = act(plan, journal)
    again = act(plan[:2], journal)
    frozen = (group / "cgroup.freeze").read_text()
    restored = restore(journal)

    assert [outcome.status for outcome in outcomes[:2]] == [OutcomeStatus.DONE] * 2
    assert [outcome.status for outcome in again] == [OutcomeStatus.SAME] * 2
    assert frozen == "1\n"
    assert {outcome.status for outcome in restored} == {OutcomeStatus.DONE}
    assert ((group / "cgroup.freeze").read_text(), (group / "cgroup.max.depth").read_text()) == ("0\n", "max\n")


def test_act_refused_by_the_kernel_names_its_errno(group: Path, journal: Journal) -> None:
    (outcome,) = act((step(group, "cgroup.max.depth", "-5"),), journal)

    assert outcome.status is OutcomeStatus.REFUSED
    assert f'cannot write "-5" to {group}/cgroup.max.depth: E' in (outcome.error or "")


def test_restore_group_made_again_is_untouched(group: Path, journal: Journal) -> None:
    act((step(group, "cgroup.max.depth", "3"),), journal)
    group.rmdir()
    group.mkdir()
    (group / "cgroup.max.depth").write_text("3")

    (outcome,) = restore(journal)

    assert outcome.status is OutcomeStatus.GONE
    assert (group / "cgroup.max.depth").read_text() == "3\n"


def test_kept_file_of_a_removed_group_reads_as_vanished(group: Path) -> None:
    kept = HostRoot().keep(str(group / "cgroup.events").removeprefix("/"))
    before = kept.read()
    group.rmdir()

    assert before is not None
    assert before.startswith(b"populated 0")
    assert kept.read() is None
    group.mkdir()
    assert kept.read() is None
