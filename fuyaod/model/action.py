"""What is to be done, and what became of it."""

from __future__ import annotations

import enum

from fuyaod.model.values import Value


class Reason(Value, frozen=True, kw_only=True):
    """Why: a short stable code and its numbers, as `explain` prints them (`psi_some 34.1% > 20% for 30 ms`)."""

    code: str
    text: str


class WriteFile(Value, frozen=True, kw_only=True):
    """Set one kernel file to one absolute value.

    `path` is relative to the host root, without a leading slash. `inode` is that of the file's directory when the
    decision was made (a group that was removed and made again is another group), None to take whatever is there now.
    `verify_path` names the file that tells what the kernel made of the value; None takes the one that belongs to the
    file (`cpuset.cpus.effective` for `cpuset.cpus`), or the file itself.
    """

    path: str
    value: str
    reason: Reason
    inode: int | None = None
    verify_path: str | None = None


Action = WriteFile
"""One step of a plan. A union that grows with the actuators."""

Plan = tuple[Action, ...]
"""Steps in the order in which they must happen."""


class OutcomeStatus(enum.Enum):
    """What became of a step.

    SAME: had the value already, nothing written. DONE: written and verified. CLIPPED: written, and the kernel made
    less of it. GONE: the file or its group vanished. REFUSED: the kernel said no, the journal could not be written,
    or what was written could not be read back; `error` tells. FOREIGN (only when values come back): somebody else
    changed it since, left alone. DRY_RUN: would have been written.
    """

    SAME = "same"
    DONE = "done"
    CLIPPED = "clipped"
    GONE = "gone"
    REFUSED = "refused"
    FOREIGN = "foreign"
    DRY_RUN = "dry_run"


class Outcome(Value, frozen=True, kw_only=True):
    """What became of an action. `before` is the file's text when it was looked at, `effective` that of the file that
    verifies it, also when nothing was written; None where it could not be read or does not exist."""

    action: Action
    status: OutcomeStatus
    before: str | None
    effective: str | None
    error: str | None = None
