"""The journal's records and their lines: `<crc32 as 8 hex digits> <json>\\n`."""

from __future__ import annotations

import zlib
from typing import Final

import msgspec

from fuyaod.errors import JournalError
from fuyaod.model.values import Value, encode

FORMAT: Final = 1
CHECKSUM_CHARS: Final = 8

EntryKey = tuple[str, int]
"""Path of the file and inode of its directory."""


class Header(Value, frozen=True, kw_only=True, tag="journal"):
    """First record: the format, the boot whose kernel state the records speak of, and the host root."""

    format: int
    boot_id: str
    root: str


class Entry(Value, frozen=True, kw_only=True, tag="held"):
    """A file whose value the agent changed, as it stands now; a later record of the same key replaces this one.

    `before` comes back at the end. `ours` are the values that count as written by the agent: the one written, the one
    the kernel made of it and, while a write is under way, the one before that.
    """

    path: str
    inode: int
    before: str
    ours: tuple[str, ...]

    @property
    def key(self) -> EntryKey:
        """What tells one entry from another."""
        return (self.path, self.inode)


class Retired(Value, frozen=True, kw_only=True, tag="retired"):
    """Nothing has to come back for this key any more."""

    path: str
    inode: int


Record = Header | Entry | Retired


def encode_record(record: Record) -> bytes:
    """The record as one line."""
    body = encode(record)
    return b"%08x %s\n" % (zlib.crc32(body), body)


def decode_journal(raw: bytes, path: str, boot_id: str, root: str) -> tuple[dict[EntryKey, Entry], bool] | None:
    """The entries in the order of their first touch, and whether the last line was torn; None when nothing has to
    come back, because the journal speaks of an earlier boot, whose kernel state is gone, or is another root's and
    empty.

    Raises:
        JournalError: a line other than a torn last one is damaged, another version wrote the file, or it holds
            entries of another host root (`--root` of a declared tree must not cost this machine its journal).
    """
    *lines, tail = raw.split(b"\n")
    header = _decode_line(lines[0], path, 1) if lines else None
    if not isinstance(header, Header):
        raise _damaged(path, 1, "is no header")
    if header.boot_id != boot_id and header.root == root:
        return None
    if header.format != FORMAT:
        raise _damaged(path, 1, f"has format {header.format}, this version reads format {FORMAT}")
    entries = _decode_entries(lines, path)
    if header.root == root:
        return entries, tail != b""
    if not entries:
        return None
    raise JournalError(
        f"cannot use the journal {path} for the host root {root}: it holds {len(entries)} values of the root "
        f"{header.root}; give them back there first, or move the file away"
    )


def _decode_entries(lines: list[bytes], path: str) -> dict[EntryKey, Entry]:
    entries: dict[EntryKey, Entry] = {}
    for number, line in enumerate(lines[1:], start=2):
        match _decode_line(line, path, number):
            case Entry() as entry:
                entries[entry.key] = entry
            case Retired(path=retired, inode=inode):
                entries.pop((retired, inode), None)
            case Header():
                raise _damaged(path, number, "is a second header")
    return entries


def _decode_line(line: bytes, path: str, number: int) -> Record:
    checksum, body = line[:CHECKSUM_CHARS], line[CHECKSUM_CHARS + 1 :]
    if line[CHECKSUM_CHARS : CHECKSUM_CHARS + 1] != b" " or checksum != b"%08x" % zlib.crc32(body):
        raise _damaged(path, number, "does not match its checksum")
    try:
        return msgspec.json.decode(body, type=Record)  # type: ignore[no-any-return,arg-type,unused-ignore]
    except (msgspec.DecodeError, RecursionError) as error:
        raise _damaged(path, number, f"is of no known form ({error})") from error


def _damaged(path: str, number: int, what: str) -> JournalError:
    return JournalError(
        f"cannot trust the journal {path}: line {number} {what}; no kernel file is changed until it is moved away, "
        "and values that were changed before stay as they are"
    )
