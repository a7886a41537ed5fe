"""Gives back what the journal holds: every kernel value that the agent changed and that is still the agent's."""

from __future__ import annotations

import errno

import msgspec

from fuyaod.errors import FuyaodError, HostFileError
from fuyaod.hostfs.formats import FileFormat, format_of
from fuyaod.hostfs.journal import Journal
from fuyaod.hostfs.journal_lines import Entry
from fuyaod.hostfs.write import VALUE_BYTES, Seen, is_ours, look, write_value
from fuyaod.model.action import Outcome, OutcomeStatus, Reason, WriteFile

REASON = Reason(code="restore", text="the value before the agent changed it")


def restore(journal: Journal) -> tuple[Outcome, ...]:
    """Thaws, then gives the other files their values back, last touched first; empty cpusets at the end, root to leaf.

    An entry leaves the journal when its value is back, when its group is gone, or when somebody else changed the file
    since (FOREIGN: left alone). One that the kernel refuses stays for the next run. It may be killed at any point and
    run again; a second run after a complete one does nothing.

    Returns:
        One outcome per entry: DONE, SAME, CLIPPED, GONE, FOREIGN or REFUSED, each with the value that was to come
        back as its action.
    """
    outcomes = []
    for entry in _in_order(journal.entries()):
        outcome = _revert(entry, journal)
        if outcome.status is not OutcomeStatus.REFUSED:
            journal.retire(entry.key)
        outcomes.append(outcome)
    return tuple(outcomes)


def _in_order(entries: tuple[Entry, ...]) -> list[Entry]:
    """Thaws, then all backwards, then the empty sets from the root down: they stand for what their ancestors have, so
    those come first."""

    def turn(entry: Entry) -> tuple[int, int]:
        file_format = format_of(entry.path)
        if entry.path.endswith("/cgroup.freeze") and entry.before == "0":
            return 0, 0
        if file_format is not None and file_format.inherits and not entry.before:
            return 2, entry.path.count("/")
        return 1, 0

    backwards = entries[::-1]
    return sorted(backwards, key=turn)  # stable


def _revert(entry: Entry, journal: Journal) -> Outcome:
    file_format = format_of(entry.path)
    if file_format is None:
        return _outcome(entry, OutcomeStatus.REFUSED, error=f"cannot restore {entry.path}: its format is not known")
    try:
        seen = look(journal.host, entry.path, entry.inode)
        if seen is None:
            return _outcome(entry, OutcomeStatus.GONE)
        if file_format.same(entry.before, seen.text):
            return _outcome(entry, OutcomeStatus.SAME, seen.text, seen.text)
        if not is_ours(entry, file_format, seen.text):
            error = f"{entry.path} reads {seen.text!r}, which somebody else wrote"
            return _outcome(entry, OutcomeStatus.FOREIGN, seen.text, seen.text, error)
        return _write_back(entry, file_format, seen, journal)
    except (FuyaodError, ValueError) as error:
        return _outcome(entry, OutcomeStatus.REFUSED, error=str(error))


def _write_back(entry: Entry, file_format: FileFormat, seen: Seen, journal: Journal) -> Outcome:
    """Raises HostFileError, HostParseError."""
    wanted, error = entry.before, None
    try:
        written = write_value(journal.host, entry.path, entry.inode, wanted)
    except HostFileError as refusal:
        inherited = _inherited(entry, file_format, journal) if refusal.errno == errno.ENOSPC else None
        if inherited is None:
            raise
        # A group with tasks takes no empty set: the same CPUs, named. Known to the journal before, so that a run
        # that is killed after the write finds its own value.
        journal.settle(msgspec.structs.replace(entry, ours=(*entry.ours, inherited)))
        wanted, error = inherited, f"{refusal}; has its ancestor's {inherited} instead"
        written = write_value(journal.host, entry.path, entry.inode, wanted)
    now = look(journal.host, entry.path, entry.inode) if written else None
    if now is None:
        return _outcome(entry, OutcomeStatus.GONE, seen.text)
    if file_format.same(wanted, now.text):
        return _outcome(entry, OutcomeStatus.CLIPPED if error else OutcomeStatus.DONE, seen.text, now.text, error)
    journal.settle(msgspec.structs.replace(entry, ours=(*entry.ours, now.text)))
    error = f"cannot restore {entry.path}: {wanted!r} was written and it reads {now.text!r}"
    return _outcome(entry, OutcomeStatus.REFUSED, seen.text, now.text, error)


def _inherited(entry: Entry, file_format: FileFormat, journal: Journal) -> str | None:
    """What an empty value stands for: the effective value of the nearest ancestor that has one. None without one, and
    as long as an ancestor still waits for its own value."""
    if entry.before or not file_format.inherits or file_format.effective is None:
        return None
    group, _, name = entry.path.rpartition("/")
    ancestors = [group[:at] for at in range(len(group) - 1, 0, -1) if group[at] == "/"]
    waiting = {one.path for one in journal.entries()}
    if any(f"{ancestor}/{name}" in waiting for ancestor in ancestors):
        return None
    texts = (journal.host.read_text(f"{ancestor}/{file_format.effective}", VALUE_BYTES) for ancestor in ancestors)
    return next((text for text in texts if text), None)


def _outcome(
    entry: Entry,
    status: OutcomeStatus,
    before: str | None = None,
    effective: str | None = None,
    error: str | None = None,
) -> Outcome:
    action = WriteFile(path=entry.path, value=entry.before, inode=entry.inode, reason=REASON)
    return Outcome(action=action, status=status, before=before, effective=effective, error=error)
