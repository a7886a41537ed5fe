"""The write path: `act` carries a plan out under the journal, `preview` tells what it would write."""

from __future__ import annotations

from typing import Final

import msgspec

from fuyaod.errors import FuyaodError, HostFileError
from fuyaod.hostfs.files import WRITE_FLAGS, close_quietly
from fuyaod.hostfs.formats import FileFormat, format_of
from fuyaod.hostfs.journal import Journal
from fuyaod.hostfs.journal_lines import Entry, EntryKey
from fuyaod.hostfs.root import PAGE, HostRoot, raise_unless_vanished
from fuyaod.model.action import Action, Outcome, OutcomeStatus, Plan
from fuyaod.model.values import Value

VALUE_BYTES: Final = 16 * PAGE
"""Longest value read: a CPU list over 8192 CPUs takes up to 20 KiB."""


class Seen(Value, frozen=True, kw_only=True):
    """A file that is there: inode of its directory, and its text."""

    inode: int
    text: str


def act(plan: Plan, journal: Journal) -> tuple[Outcome, ...]:
    """Carries the plan out, each step for itself: one that is refused or whose group is gone does not stop the others.

    A file that has the value already is not written. Otherwise the journal learns of it first, then it is written
    and read back.

    Args:
        plan: steps in their order.
        journal: where the values before are kept; it also names the host root.

    Returns:
        One outcome per step, in the same order.
    """
    return tuple(_act_one(action, journal) for action in plan)


def preview(plan: Plan, host: HostRoot) -> tuple[Outcome, ...]:
    """What `act` would do, each step seen against the host as it is now; writes nothing and needs no journal."""
    return tuple(_preview_one(action, host) for action in plan)


def look(host: HostRoot, path: str, inode: int | None) -> Seen | None:
    """The file and its text; None when it or its group is gone or the group is not the one with that inode.

    Raises HostDenied, HostFileError, HostParseError.
    """
    found = host.directory_inode(path)
    if found is None or inode not in (None, found):
        return None
    text = host.read_text(path, VALUE_BYTES)
    return None if text is None else Seen(inode=found, text=text)


def write_value(host: HostRoot, path: str, inode: int, value: str) -> bool:
    """Writes the value and a newline with one write(2); False when the file or the group of that inode is gone.

    Raises:
        HostDenied, HostFileError: the kernel refused the value (EBUSY, EINVAL, ENOSPC, ERANGE, ...).
    """
    absolute = host.absolute(path)
    data = value.encode() + b"\n"  # an empty value is one newline: a write of nothing never reaches the file
    fd = -1
    try:
        fd = host.files.open(absolute, WRITE_FLAGS)
        # After the open: the descriptor then belongs to this very group, however often the path changes hands.
        if host.directory_inode(path) != inode:
            return False
        host.files.write(fd, data)  # how much was taken is seen when it is read back
    except OSError as error:
        raise_unless_vanished(f'write "{value}" to', absolute, error)
        return False
    finally:
        if fd >= 0:
            close_quietly(host.files, fd)
    return True


def is_ours(entry: Entry, file_format: FileFormat, text: str) -> bool:
    """Whether a file that reads `text` has what the agent wrote."""
    return any(file_format.same(value, text) for value in entry.ours)


def beside(path: str, name: str) -> str:
    """The file `name` in the directory of `path`."""
    folder, slash, _ = path.rpartition("/")
    return f"{folder}{slash}{name}"


def _preview_one(action: Action, host: HostRoot) -> Outcome:
    try:
        found = _consider(action, host)
    except (FuyaodError, ValueError) as error:
        return _outcome(action, OutcomeStatus.REFUSED, error=str(error))
    if isinstance(found, Outcome):
        return found
    return _outcome(action, OutcomeStatus.DRY_RUN, found[1].text)


def _act_one(action: Action, journal: Journal) -> Outcome:
    try:
        found = _consider(action, journal.host)
        if isinstance(found, Outcome):
            return found
        file_format, seen = found
        held = _hold(action, file_format, seen, journal)
    except (FuyaodError, ValueError) as error:
        return _outcome(action, OutcomeStatus.REFUSED, error=str(error))
    try:
        written = write_value(journal.host, action.path, seen.inode, action.value)
    except HostFileError as error:
        now = _let_go_if_untouched(action, seen, held, journal)
        return _outcome(action, OutcomeStatus.REFUSED, seen.text, now, str(error))
    if not written:
        _let_go(held, journal)
        return _outcome(action, OutcomeStatus.GONE, seen.text)
    return _verify(action, file_format, seen, journal)


def _consider(action: Action, host: HostRoot) -> Outcome | tuple[FileFormat, Seen]:
    """The outcome when there is nothing to write, else what was found. Raises FuyaodError, ValueError."""
    file_format = format_of(action.path)
    if file_format is None or "\n" in action.value or not action.value.isascii():
        what = "its format is not known" if file_format is None else "the value is not one line of ASCII"
        error = f"cannot write {action.value!r} to {host.absolute(action.path)}: {what}"
        return _outcome(action, OutcomeStatus.REFUSED, error=error)
    if action.verify_path is not None:
        host.absolute(action.verify_path)  # a path that cannot be used is refused before anything is written
    seen = look(host, action.path, action.inode)
    if seen is None:
        return _outcome(action, OutcomeStatus.GONE)
    if file_format.same(action.value, seen.text):
        effective = _effective(action, file_format, host)
        return _outcome(action, OutcomeStatus.SAME, seen.text, seen.text if effective is None else effective)
    return file_format, seen


Held = list[tuple[EntryKey, Entry | None]]
"""Entries taken on for one write, each with the one it replaced."""


def _hold(action: Action, file_format: FileFormat, seen: Seen, journal: Journal) -> Held:
    """Takes on the file, and before it the one beside it that forgets its value. Raises FuyaodError, ValueError."""
    held: Held = []
    try:
        if file_format.loses is not None and file_format.same("1", action.value):
            lost = beside(action.path, file_format.loses)
            lost_format, lost_seen = format_of(lost), look(journal.host, lost, seen.inode)
            if lost_format is not None and lost_seen is not None:
                held.append(_hold_one(lost, lost_format, lost_seen, file_format.lost_reads, journal))
        held.append(_hold_one(action.path, file_format, seen, (action.value,), journal))
    except BaseException:
        _let_go(held, journal)
        raise
    return held


def _hold_one(
    path: str, file_format: FileFormat, seen: Seen, values: tuple[str, ...], journal: Journal
) -> tuple[EntryKey, Entry | None]:
    key = (path, seen.inode)
    older = journal.entry(key)
    before, ours = seen.text, values
    if older is not None and file_format.same(older.before, seen.text):
        before = older.before
    elif older is not None and is_ours(older, file_format, seen.text):
        if file_format.same(older.before, values[0]):  # on its way back: the older record says enough
            return key, older
        before, ours = older.before, tuple(dict.fromkeys((*older.ours, *values)))
    # Else nobody touched it before us, or somebody else has since: what is there now is what comes back.
    journal.hold(Entry(path=path, inode=seen.inode, before=before, ours=ours))
    return key, older


def _let_go(held: Held, journal: Journal) -> None:
    """Nothing was written: the journal as it was."""
    for key, older in reversed(held):
        if older is None:
            journal.retire(key)
        else:
            journal.settle(older)


def _let_go_if_untouched(action: Action, seen: Seen, held: Held, journal: Journal) -> str | None:
    """After a refused write: the journal as it was, if the file is. Returns its text now, None when that is unknown."""
    try:
        now = look(journal.host, action.path, seen.inode)
    except FuyaodError:
        return None
    if now is None or now.text == seen.text:
        _let_go(held, journal)
    return None if now is None else now.text


def _verify(action: Action, file_format: FileFormat, seen: Seen, journal: Journal) -> Outcome:
    """Reads back what was written and tells the journal."""
    try:
        now = look(journal.host, action.path, seen.inode)
        if now is None:
            journal.retire((action.path, seen.inode))
            return _outcome(action, OutcomeStatus.GONE, seen.text)
        _settle(action, file_format, now, journal)
        effective = _effective(action, file_format, journal.host)
    except (FuyaodError, ValueError) as error:
        return _outcome(action, OutcomeStatus.REFUSED, seen.text, error=f"{error}; {action.value!r} was written")
    effective = now.text if effective is None else effective
    as_wanted = file_format.same(action.value, effective) or (file_format.inherits and not action.value)
    return _outcome(action, OutcomeStatus.DONE if as_wanted else OutcomeStatus.CLIPPED, seen.text, effective)


def _settle(action: Action, file_format: FileFormat, now: Seen, journal: Journal) -> None:
    entry = journal.entry((action.path, now.inode))
    if entry is None:
        return
    if not file_format.same(entry.before, now.text):
        journal.settle(msgspec.structs.replace(entry, ours=(now.text,)))
        return
    journal.retire(entry.key)
    if file_format.loses is not None and file_format.same("1", now.text):
        # It was idle before us, so the value beside it was lost before us.
        journal.retire((beside(action.path, file_format.loses), now.inode))


def _effective(action: Action, file_format: FileFormat, host: HostRoot) -> str | None:
    """Text of the file that verifies the value, None when the file itself does."""
    path = action.verify_path
    if path is None and file_format.effective is not None:
        path = beside(action.path, file_format.effective)
    return None if path is None else host.read_text(path, VALUE_BYTES)


def _outcome(
    action: Action,
    status: OutcomeStatus,
    before: str | None = None,
    effective: str | None = None,
    error: str | None = None,
) -> Outcome:
    return Outcome(action=action, status=status, before=before, effective=effective, error=error)
