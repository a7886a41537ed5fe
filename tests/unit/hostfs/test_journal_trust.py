"""Journals that must not be believed."""

from __future__ import annotations

import stat
import zlib
from pathlib import Path

import pytest

from fuyaod.errors import JournalError
from fuyaod.hostfs import HostRoot
from fuyaod.hostfs.journal import Journal
from fuyaod.hostfs.journal_lines import Entry, Header, encode_record
from tests.fakes.faults import FaultyFiles
from tests.fakes.journalled import PATH, open_journal
from tests.fakes.kernelfs import KernelFs, PlainFile

BOOT_ID_PATH = "/proc/sys/kernel/random/boot_id"


def entry(path: str = "sys/fs/cgroup/pod/cpu.weight", inode: int = 7, before: str = "100", ours: str = "1") -> Entry:
    return Entry(path=path, inode=inode, before=before, ours=(ours,))


@pytest.fixture
def kernel() -> KernelFs:
    made = KernelFs()
    made.plain[BOOT_ID_PATH] = PlainFile(b"boot-1\n")
    return made


@pytest.fixture
def host(tmp_path: Path) -> HostRoot:
    (tmp_path / "host").mkdir()
    (tmp_path / "run").mkdir()
    return HostRoot(tmp_path / "host")


def reopened(kernel: KernelFs) -> tuple[Entry, ...]:
    kernel.end_process()
    journal, _ = open_journal(kernel)
    return journal.entries()


def damaged(kernel: KernelFs, how: str) -> bytes:
    journal, _ = open_journal(kernel)
    journal.hold(entry(inode=1))
    journal.hold(entry(inode=2))
    kernel.end_process()
    lines = bytes(kernel.plain[PATH].content).splitlines(keepends=True)
    header = encode_record(Header(format=1, boot_id="boot-1", root="/"))
    match how:
        case "flipped_bit":
            lines[1] = lines[1].replace(b'"100"', b'"101"')
        case "last_line_whole":
            lines[2] = lines[2].replace(b'"100"', b'"101"')
        case "binary":
            lines[1] = bytes(range(256)) + b"\n"
        case "no_header":
            lines = lines[1:]
        case "second_header":
            lines.append(header)
        case "other_format":
            lines[0] = encode_record(Header(format=2, boot_id="boot-1", root="/"))
        case "empty_file":
            lines = []
        case "empty_line":
            lines.insert(1, b"\n")
        case "unknown_record":
            lines[1] = header.replace(b'"journal"', b'"mystery"')
    return b"".join(lines)


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("flipped_bit", "line 2 does not match its checksum"),
        ("last_line_whole", "line 3 does not match its checksum"),
        ("binary", "line 2 does not match its checksum"),
        ("no_header", "line 1 is no header"),
        ("second_header", "line 4 is a second header"),
        ("other_format", "line 1 has format 2, this version reads format 1"),
        ("empty_file", "line 1 is no header"),
        ("empty_line", "line 2 does not match its checksum"),
        ("unknown_record", "line 2 does not match its checksum"),
    ],
)
def test_journal_damaged_before_its_last_line_is_an_error(kernel: KernelFs, how: str, says: str) -> None:
    kernel.plain[PATH] = PlainFile(damaged(kernel, how))

    with pytest.raises(JournalError, match=f"cannot trust the journal {PATH}: {says}"):
        open_journal(kernel)

    kernel.plain[PATH] = PlainFile(encode_record(Header(format=1, boot_id="boot-1", root="/")))
    open_journal(kernel)  # the lock was let go


def test_journal_of_records_of_no_known_form_is_an_error(kernel: KernelFs) -> None:
    body = b'{"type":"held","path":7}'
    line = b"%08x %s\n" % (zlib.crc32(body), body)
    kernel.plain[PATH] = PlainFile(encode_record(Header(format=1, boot_id="boot-1", root="/")) + line)

    with pytest.raises(JournalError, match="line 2 is of no known form"):
        open_journal(kernel)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        pytest.param(lambda file: setattr(file, "mode", stat.S_IFREG | 0o620), "mode 620", id="writable_by_group"),
        pytest.param(lambda file: setattr(file, "uid", 65_534), "owner 65534", id="of_another_user"),
        pytest.param(lambda file: setattr(file, "mode", stat.S_IFIFO | 0o600), "no plain file", id="fifo"),
    ],
)
def test_journal_that_others_may_write_is_not_trusted(kernel: KernelFs, spoil: object, says: str) -> None:
    open_journal(kernel)
    kernel.end_process()
    assert callable(spoil)
    spoil(kernel.plain[PATH])

    with pytest.raises(JournalError, match=f"cannot trust the journal .*{says}"):
        open_journal(kernel)


@pytest.mark.parametrize("name", ["cgroups.journal", "cgroups.journal.lock"])
def test_journal_behind_a_link_is_refused(host: HostRoot, tmp_path: Path, name: str) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / "run" / name).symlink_to(victim)

    with pytest.raises(JournalError, match="cannot open"):
        Journal.open(host, str(tmp_path / "run/cgroups.journal"))

    assert victim.read_text() == "precious"


def test_journal_link_in_place_of_the_new_file_is_replaced_not_followed(host: HostRoot, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / "run/cgroups.journal.new").symlink_to(victim)

    Journal.open(host, str(tmp_path / "run/cgroups.journal")).close()

    assert victim.read_text() == "precious"


def test_journal_without_its_directory_is_an_error(host: HostRoot, tmp_path: Path) -> None:
    with pytest.raises(JournalError, match=r"cannot open .*/none/j.lock: No such file or directory \(errno 2\)"):
        Journal.open(host, str(tmp_path / "none/j"))


def test_journal_boot_id_unreadable_is_an_error(kernel: KernelFs) -> None:
    files = FaultyFiles(kernel)

    with (
        files.failing("pread", "/random/boot_id"),
        pytest.raises(JournalError, match="the boot id is unknown: cannot read /proc/sys"),
    ):
        Journal.open(HostRoot("/", files), PATH, files)


def test_journal_of_another_root_with_entries_is_refused_and_kept(host: HostRoot, tmp_path: Path) -> None:
    path = str(tmp_path / "run/cgroups.journal")
    with Journal.open(host, path) as journal:
        journal.hold(entry())
    other = HostRoot(tmp_path / "other")
    (tmp_path / "other/proc/sys/kernel/random").mkdir(parents=True)
    (tmp_path / "other/proc/sys/kernel/random/boot_id").write_text("of a capture\n")

    with pytest.raises(JournalError, match=r"cannot use the journal .*: it holds 1 values of the root .*/host"):
        Journal.open(other, path)

    with Journal.open(host, path) as journal:
        assert journal.entries() == (entry(),)


def test_journal_of_another_root_without_entries_is_taken_over(host: HostRoot, tmp_path: Path) -> None:
    path = str(tmp_path / "run/cgroups.journal")
    with Journal.open(host, path) as journal:
        journal.hold(entry())
        journal.retire(entry().key)

    with Journal.open(HostRoot(tmp_path / "other"), path) as journal:
        assert (journal.voided, journal.entries()) == (True, ())
        journal.hold(entry())
    with Journal.open(HostRoot(tmp_path / "other"), path) as journal:
        assert journal.entries() == (entry(),)
