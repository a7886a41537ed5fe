"""Plans over files of real cgroups, and what the files read."""

from collections.abc import Iterable
from pathlib import Path

from fuyaod.model.action import Outcome, OutcomeStatus, Reason, WriteFile

WHY = Reason(code="test", text="a test wants it")


def step(file: Path, value: str) -> WriteFile:
    """Write a value to a file of the cgroup that is there now."""
    return WriteFile(path=str(file).removeprefix("/"), value=value, reason=WHY, inode=file.parent.stat().st_ino)


def file_name(outcome: Outcome) -> str:
    """Name of the file that an outcome speaks of."""
    return outcome.action.path.rpartition("/")[2]


def statuses(outcomes: Iterable[Outcome]) -> dict[str, OutcomeStatus]:
    """Outcomes of one cgroup by file name."""
    return {file_name(outcome): outcome.status for outcome in outcomes}


def read_values(cgroup: Path, names: Iterable[str]) -> dict[str, str]:
    """What files of a cgroup read."""
    return {name: (cgroup / name).read_text() for name in names}
