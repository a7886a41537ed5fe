"""`HostRoot`: what is there, what is not, and trees that mean harm."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from fuyaod.errors import HostDenied, HostFileError, HostParseError
from fuyaod.hostfs import HostRoot
from fuyaod.hostfs.files import OsFiles
from fuyaod.hostfs.root import MAX_BYTES
from tests.fakes.faults import Fault, FaultyFiles
from tests.fakes.refusals import RefusingFiles


@pytest.fixture
def host(tmp_path: Path) -> HostRoot:
    return HostRoot(tmp_path)


class ShortReads(OsFiles):
    """Hands out at most 700 bytes per call, as files of many records do."""

    def pread(self, fd: int, length: int, offset: int) -> bytes:
        """pread(2)."""
        return os.pread(fd, min(length, 700), offset)


@pytest.mark.parametrize("size", [0, 1, 699, 700, 701, 4095, 4096, 4097, 70_000])
@pytest.mark.parametrize("files", [OsFiles(), ShortReads()], ids=["full", "short"])
def test_read_any_size_is_whole(tmp_path: Path, size: int, files: OsFiles) -> None:
    content = bytes(number % 251 for number in range(size))
    (tmp_path / "file").write_bytes(content)

    assert HostRoot(tmp_path, files).read("file") == content


@pytest.mark.parametrize("files", [OsFiles(), ShortReads()], ids=["full", "short"])
@pytest.mark.parametrize(("size", "limit"), [(101, 100), (5000, 4999), (1300, 1000), (200_000, 150_000)])
def test_read_above_the_limit_is_refused(tmp_path: Path, size: int, limit: int, files: OsFiles) -> None:
    (tmp_path / "file").write_bytes(b"x" * size)
    host = HostRoot(tmp_path, files)

    with pytest.raises(HostFileError, match="EFBIG") as caught:
        host.read("file", limit)

    assert caught.value.path == str(tmp_path / "file")
    assert host.read("file", size) == b"x" * size


def test_read_file_without_end_is_refused(tmp_path: Path) -> None:
    os.symlink("/dev/zero", tmp_path / "file")

    with pytest.raises(HostFileError, match="EFBIG"):
        HostRoot(tmp_path, OsFiles()).read("file")


def test_read_sparse_file_of_a_tebibyte_is_refused(tmp_path: Path) -> None:
    with open(tmp_path / "file", "wb") as file:
        os.truncate(file.fileno(), 1 << 40)

    with pytest.raises(HostFileError, match="EFBIG"):
        HostRoot(tmp_path).read("file")
    assert MAX_BYTES == 4 << 20


@pytest.mark.parametrize("kind", ["fifo", "folder", "loop", "socket"])
def test_read_what_is_no_file_is_an_error_and_does_not_hang(host: HostRoot, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "file"
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "loop":
            path.symlink_to("file")
        case _:
            os.mknod(path, stat.S_IFSOCK | 0o600)

    if kind == "socket":  # ENXIO: as good as nothing there
        assert host.read("file") is None
        return
    with pytest.raises(HostFileError, match=r"ESPIPE|EISDIR|ELOOP"):
        host.read("file")


@pytest.mark.parametrize("number", [errno.ENOENT, errno.ENODEV, errno.ENOTDIR, errno.ENXIO, errno.ESRCH])
@pytest.mark.parametrize(("call", "nth"), [("open", 1), ("pread", 1), ("pread", 2)], ids=["open", "read", "read_on"])
def test_read_vanished_at_open_or_read_is_none(tmp_path: Path, number: int, call: str, nth: int) -> None:
    (tmp_path / "file").write_bytes(b"x")
    files = FaultyFiles(OsFiles())

    with files.failing(call, "/file", number, nth=nth):
        assert HostRoot(tmp_path, files).read("file") is None

    assert files.calls.count("open") - (call == "open") == files.calls.count("close")


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.EROFS])
@pytest.mark.parametrize("at", ["at_open", "at_read"])
def test_read_without_permission_is_denied(tmp_path: Path, number: int, at: str) -> None:
    (tmp_path / "file").write_bytes(b"x")
    host = HostRoot(tmp_path, RefusingFiles(**{at: {"/file": number}}))

    with pytest.raises(HostDenied, match=f"cannot read {tmp_path}/file: {errno.errorcode[number]}") as caught:
        host.read("file")

    assert caught.value.errno == number


@pytest.mark.parametrize("number", [errno.EOPNOTSUPP, errno.EIO, errno.EMFILE])
def test_read_other_errno_is_an_error_with_path_and_errno(tmp_path: Path, number: int) -> None:
    (tmp_path / "file").write_bytes(b"x")
    host = HostRoot(tmp_path, RefusingFiles(at_read={"/file": number}))

    with pytest.raises(HostFileError, match=f"cannot read {tmp_path}/file") as caught:
        host.read("file")

    assert (caught.value.errno, isinstance(caught.value, HostDenied)) == (number, False)


def test_read_close_that_fails_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    files = FaultyFiles(OsFiles())

    with files.failing("close", "/file", fault=Fault.LATE):
        assert HostRoot(tmp_path, files).read("file") == b"x"


@pytest.mark.parametrize(
    "call", ["read", "read_text", "read_int", "read_cpulist", "list", "readlink", "resolve", "stat", "directory_inode"]
)
@pytest.mark.parametrize("path", ["none/file", "file/below"])
def test_missing_is_none(host: HostRoot, tmp_path: Path, call: str, path: str) -> None:
    (tmp_path / "file").write_text("x")
    if (call, path) == ("directory_inode", "file/below"):
        path = "none/below"

    assert getattr(host, call)(path) is None
    assert host.exists(path) is False


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../x", "a/..", "a\0b"])
@pytest.mark.parametrize("call", ["read", "list", "readlink", "stat", "exists"])
def test_path_that_leaves_the_root_is_refused(host: HostRoot, call: str, path: str) -> None:
    with pytest.raises(ValueError, match="cannot use host path"):
        getattr(host, call)(path)
    with pytest.raises(ValueError, match="cannot use host path"):
        host.keep(path).read()


def test_read_text_binary_is_an_error_that_names_it(host: HostRoot, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"\xff\xfe\x00")

    with pytest.raises(HostParseError, match=r"cannot read .*/file: .*xff.* is not text"):
        host.read_text("file")


def test_read_cpulist_malformed_is_an_error_that_names_it(host: HostRoot, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("0-3,x\n")

    with pytest.raises(HostParseError, match=r"cannot read .*/file: '0-3,x' is not a CPU list"):
        host.read_cpulist("file")


def test_read_cpulist_hostile_size_is_refused(host: HostRoot, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("0-8191:1/2," * 10_000)

    with pytest.raises(HostFileError, match="EFBIG"):
        host.read_cpulist("file")


def test_list_is_sorted_and_leaves_out_names_that_are_no_text(host: HostRoot, tmp_path: Path) -> None:
    for name in (b"b", b"a", b"\xff", "ä".encode()):
        os.mkdir(os.path.join(os.fsencode(tmp_path), name))

    assert host.list("") == ("a", "b", "ä")


def test_exists_without_permission_is_false(tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    host = HostRoot(tmp_path, RefusingFiles(at_stat={"/x": errno.EACCES}))

    assert host.exists("x") is False


def test_readlink_of_a_plain_file_is_none(host: HostRoot, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("file")

    assert (host.readlink("file"), host.readlink("link")) == (None, "file")


def test_directory_inode_is_that_of_the_folder(host: HostRoot, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()

    assert host.directory_inode("a/file") == (tmp_path / "a").stat().st_ino
    assert host.directory_inode("file") == tmp_path.stat().st_ino


def test_root_of_nothing_is_a_host_without_files(tmp_path: Path) -> None:
    host = HostRoot(tmp_path / "none")

    assert (host.read("proc/stat"), host.list(""), host.resolve("a"), host.is_this_machine) == (None, None, None, False)


def test_root_slash_is_this_machine() -> None:
    host = HostRoot("/")

    assert (host.is_this_machine, host.absolute("proc/stat")) == (True, "/proc/stat")
    assert (host.read("proc/stat") or b"").startswith(b"cpu ")


@pytest.fixture
def linked(tmp_path: Path) -> HostRoot:
    (tmp_path / "sys/devices/pci0/dev").mkdir(parents=True)
    (tmp_path / "sys/class/net").mkdir(parents=True)
    (tmp_path / "run").mkdir()
    (tmp_path / "var").mkdir()
    (tmp_path / "run/file").touch()
    for link, target in {
        "sys/class/net/eth0": "../../devices/pci0/dev",
        "var/run": "/run",
        "chain": "var/run",
        "out": "../../../../run/file",
        "self": "self",
        "one": "two",
        "two": "one",
        "dangling": "sys/none",
        "through": "none/../run",
        "dots": "./run/.//file",
    }.items():
        (tmp_path / link).symlink_to(target)
    return HostRoot(tmp_path)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        pytest.param("sys/class/net/eth0", "sys/devices/pci0/dev", id="relative_link"),
        pytest.param("sys/class/net/eth0/..", "sys/devices/pci0", id="parent_of_what_a_link_means"),
        pytest.param("var/run/file", "run/file", id="absolute_link_stays_in_the_root"),
        pytest.param("chain/file", "run/file", id="link_to_a_link"),
        pytest.param("out", "run/file", id="more_parents_than_there_are_stay_at_the_root"),
        pytest.param("dots", "run/file", id="dots_and_double_slashes"),
        pytest.param("", "", id="the_root"),
        pytest.param("run/../run/file", "run/file", id="parents_in_the_path"),
        pytest.param("dangling", None, id="link_to_nothing"),
        pytest.param("through", None, id="parent_of_what_is_missing"),
        pytest.param("none/../run", None, id="missing_part_before_a_parent"),
        pytest.param("run/file/below", None, id="below_a_file"),
    ],
)
def test_resolve(linked: HostRoot, path: str, found: str | None) -> None:
    assert linked.resolve(path) == found


@pytest.mark.parametrize("path", ["self", "one/x", "../self"])
def test_resolve_loop_is_an_error(linked: HostRoot, path: str) -> None:
    with pytest.raises(HostFileError, match="ELOOP") as caught:
        linked.resolve(path)

    assert caught.value.errno == errno.ELOOP


def test_resolve_without_permission_is_denied(tmp_path: Path) -> None:
    files = FaultyFiles(OsFiles())

    with files.failing("readlink", "/a", errno.EACCES), pytest.raises(HostDenied, match="cannot resolve"):
        HostRoot(tmp_path, files).resolve("a/b")


def test_root_elsewhere_with_this_kernels_proc_is_this_machine(tmp_path: Path) -> None:
    """As in a container that has the host mounted at /host."""
    (tmp_path / "proc").symlink_to("/proc")

    assert HostRoot(tmp_path, OsFiles()).is_this_machine


def test_root_with_another_boot_id_is_not_this_machine(tmp_path: Path) -> None:
    (tmp_path / "proc/sys/kernel/random").mkdir(parents=True)
    (tmp_path / "proc/sys/kernel/random/boot_id").write_text("00000000-0000-0000-0000-000000000000\n")

    assert not HostRoot(tmp_path).is_this_machine
