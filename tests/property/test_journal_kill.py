"""A real process is killed in the middle of its writes; the next one gives everything back."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from fuyaod.hostfs import HostRoot
from fuyaod.hostfs.journal import Journal
from fuyaod.hostfs.restore import restore
from fuyaod.model.action import OutcomeStatus
from tests.property.journal_walker import GROUPS, VALUES

REPOSITORY = Path(__file__).resolve().parents[2]


def declare(root: Path) -> dict[Path, str]:
    """Groups with the first value of every file."""
    for group in GROUPS:
        (root / group).mkdir(parents=True, exist_ok=True)
        for file, values in VALUES.items():
            (root / group / file).write_text(f"{values[0]}\n")
    return read(root)


def read(root: Path) -> dict[Path, str]:
    return {root / group / file: (root / group / file).read_text() for group in GROUPS for file in VALUES}


def kill_after(plans: int, root: Path, journal: Path, seed: str) -> None:
    """Starts the walk and kills it once it has done so many plans; the next is under way then."""
    command = [sys.executable, "-m", "tests.property.journal_walker", str(root), str(journal), seed]
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE) as walker:
        assert walker.stdout is not None
        try:
            assert len(walker.stdout.read(plans)) == plans
        finally:
            walker.kill()


@pytest.mark.parametrize("seed", range(6))
def test_restore_after_the_agent_was_killed_gives_everything_back(tmp_path: Path, seed: int) -> None:
    root, run = tmp_path / "host", tmp_path / "run"
    run.mkdir()
    expected = declare(root)
    journal_path = run / "cgroups.journal"

    for life in range(2):  # the second one starts on the journal of the first
        kill_after(random.Random(f"{seed}{life}").randint(1, 150), root, journal_path, f"{seed}.{life}")
    with Journal.open(HostRoot(root), str(journal_path)) as journal:
        outcomes = restore(journal)

    assert {outcome.status for outcome in outcomes} <= {OutcomeStatus.DONE, OutcomeStatus.SAME}
    assert read(root) == expected
    with Journal.open(HostRoot(root), str(journal_path)) as journal:
        assert restore(journal) == ()
