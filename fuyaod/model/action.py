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
    decision was
    made: a group that was removed and made again is another group. `verify_path` names the file that tells what the
    kernel made
    of the value (`cpuset.cpus.effective`), None to read back `path` itself.
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
    """SAME: had the value already, nothing written. DONE: written and verified. CLIPPED: written, and the kernel made
    less of it.
    GONE: the file or its group vanished. REFUSED: the kernel said no. DRY_RUN: would have been written."""

    SAME = "same"
    DONE = "done"
    CLIPPED = "clipped"
    GONE = "gone"
    REFUSED = "refused"
    DRY_RUN = "dry_run"


class Outcome(Value, frozen=True, kw_only=True):
    """What became of an action. `before` and `effective` are the file's contents, None where it could not be read."""

    action: Action
    status: OutcomeStatus
    before: str | None
    effective: str | None
    error: str | None = None
