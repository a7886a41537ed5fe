"""Host files on tape: first answers count, errors come back, nothing can be written."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fuyaod.errors import FuyaodError, HostFileError
from fuyaod.hostfs import HostRoot, record
from fuyaod.hostfs.record import CapturedFiles, RecordingFiles, Tape
from fuyaod.model.values import encode
from tests.hosts.faults import FaultyFiles

ROOT = "/captured"


def recording(root: Path, faults: dict[str, int] | None = None) -> tuple[HostRoot, RecordingFiles]:
    files = RecordingFiles(FaultyFiles(root, faults or {}), str(root))
    return HostRoot(root, files), files


def replayed(files: RecordingFiles) -> HostRoot:
    return HostRoot(ROOT, CapturedFiles(files.tape(), ROOT))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/stat").write_text("cpu 1\n")
    (tmp_path / "proc/raw").write_bytes(b"\xff\x00")
    (tmp_path / "proc/link").symlink_to("stat")
    return tmp_path


def test_tape_gives_back_what_the_host_said(tree: Path) -> None:
    host, files = recording(tree)
    asked: tuple[Callable[[HostRoot], object], ...] = (
        lambda h: h.read("proc/stat"),
        lambda h: h.read("proc/raw"),
        lambda h: h.read("proc/none"),
        lambda h: h.list("proc"),
        lambda h: h.list("none"),
        lambda h: h.readlink("proc/link"),
        lambda h: h.readlink("proc/stat"),
        lambda h: h.exists("proc/stat"),
    )
    said = [ask(host) for ask in asked]

    assert [ask(replayed(files)) for ask in asked] == said


def test_tape_keeps_inode_links_and_times(tree: Path) -> None:
    host, files = recording(tree)
    seen = host.stat("proc")
    again = replayed(files).stat("proc")

    assert seen is not None
    assert again is not None
    for name in ("st_mode", "st_ino", "st_nlink", "st_size", "st_mtime_ns"):
        assert getattr(again, name) == getattr(seen, name)


def test_tape_gives_back_errors_with_their_number(tree: Path) -> None:
    host, files = recording(tree, {"proc/stat": errno.EOPNOTSUPP})

    with pytest.raises(HostFileError):
        host.read("proc/stat")
    with pytest.raises(HostFileError) as caught:
        replayed(files).read("proc/stat")

    assert caught.value.errno == errno.EOPNOTSUPP


def test_recording_the_first_answer_counts_and_is_not_asked_for_again(tree: Path) -> None:
    host, files = recording(tree)
    first = host.read("proc/stat"), host.read("proc/late")
    (tree / "proc/stat").write_text("cpu 2\n")
    (tree / "proc/late").write_text("here\n")

    assert (host.read("proc/stat"), host.read("proc/late")) == first
    assert files.tape().text["proc/stat"] == "cpu 1\n"


def test_recording_a_giant_file_takes_a_little_more_than_a_reader_accepts(tree: Path) -> None:
    with (tree / "proc/giant").open("wb") as giant:
        giant.truncate(1 << 30)
    host, files = recording(tree)

    with pytest.raises(HostFileError, match="EFBIG"):
        host.read("proc/giant")

    assert len(files.tape().text["proc/giant"]) <= record.MAX_FILE_BYTES + (1 << 20)
    with pytest.raises(HostFileError, match="EFBIG"):
        replayed(files).read("proc/giant")


@pytest.mark.parametrize("kind", ["recording", "replay"])
def test_neither_recording_nor_replay_can_be_written(tree: Path, kind: str) -> None:
    files = recording(tree)[1] if kind == "recording" else CapturedFiles(Tape(), ROOT)

    with pytest.raises(OSError, match=r"written|write") as caught:
        files.open(f"{tree}/proc/stat", os.O_WRONLY)
    with pytest.raises(OSError, match=r"written|write"):
        files.write(3, b"x")
    assert caught.value.errno == errno.EROFS


def test_replay_knows_only_what_was_recorded(tree: Path) -> None:
    host = HostRoot(ROOT, CapturedFiles(Tape(), ROOT))

    assert (host.read("proc/stat"), host.list("proc"), host.exists("etc")) == (None, None, False)


def test_recording_leaves_out_names_that_are_not_utf8(tree: Path) -> None:
    os.mkdir(os.fsencode(tree) + b"/proc/\xff\xfe")
    host, files = recording(tree)

    listed = host.list("proc")

    assert replayed(files).list("proc") == listed == ("link", "raw", "stat")
    assert encode(files.tape())


def test_tape_of_more_than_64_mib_is_refused_not_cut(tree: Path) -> None:
    host, files = recording(tree)
    for number in range(17):
        with open(tree / str(number), "wb") as file:
            file.truncate(4 << 20)
    for number in range(16):
        host.read(str(number))
    with pytest.raises(HostFileError, match="EFBIG"):
        host.read("16")

    with pytest.raises(FuyaodError, match=r"cannot record .* larger than 67108864 bytes"):
        files.tape()
