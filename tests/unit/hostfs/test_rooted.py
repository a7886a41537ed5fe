"""A root that is not `/`: no link of the tree leads out of it."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from fuyaod.errors import HostFileError
from fuyaod.hostfs import HostRoot
from fuyaod.hostfs.write import write_value


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A file that is nobody's business, beside the root."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "cpu.weight").write_text("secret\n")
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    (folder / "sys/fs/cgroup").mkdir(parents=True)
    return folder


@pytest.fixture
def host(root: Path, outside: Path) -> HostRoot:
    """A tree whose every link points to the file outside."""
    (root / "absolute").symlink_to(outside / "cpu.weight")
    (root / "relative").symlink_to("../outside/cpu.weight")
    (root / "chain").symlink_to("absolute")
    (root / "sys/fs/cgroup/folder").symlink_to(outside)
    (root / "sys/fs/cgroup/up").symlink_to("../../../../outside")
    return HostRoot(root)


LINKS = ("absolute", "relative", "chain", "sys/fs/cgroup/folder/cpu.weight", "sys/fs/cgroup/up/cpu.weight")


@pytest.mark.parametrize("path", LINKS)
def test_link_out_of_the_root_is_nothing_there(host: HostRoot, path: str) -> None:
    kept = host.keep(path)

    for _ in range(2):
        assert (host.read(path), kept.read(), host.stat(path), host.exists(path)) == (None, None, None, False)


@pytest.mark.parametrize("path", ["sys/fs/cgroup/folder", "sys/fs/cgroup/up"])
def test_folder_out_of_the_root_is_not_listed(host: HostRoot, path: str) -> None:
    assert host.list(path) is None


@pytest.mark.parametrize("path", ["sys/fs/cgroup/folder/cpu.weight", "sys/fs/cgroup/up/cpu.weight"])
def test_write_through_a_folder_out_of_the_root_changes_nothing(host: HostRoot, outside: Path, path: str) -> None:
    assert write_value(host, path, outside.stat().st_ino, "1") is False
    assert (outside / "cpu.weight").read_text() == "secret\n"


def test_write_to_a_link_inside_the_root_is_refused(root: Path) -> None:
    (root / "sys/fs/cgroup/real").write_text("1\n")
    (root / "sys/fs/cgroup/cpu.weight").symlink_to("real")
    host = HostRoot(root)

    with pytest.raises(HostFileError, match="ELOOP"):
        write_value(host, "sys/fs/cgroup/cpu.weight", (root / "sys/fs/cgroup").stat().st_ino, "2")

    assert (root / "sys/fs/cgroup/real").read_text() == "1\n"


def test_absolute_link_means_the_file_below_the_root(root: Path) -> None:
    """`/host/var/run` in a container is a link to `/run`, that of the host."""
    (root / "run/nri").mkdir(parents=True)
    (root / "run/nri/file").write_text("host\n")
    (root / "var").mkdir()
    (root / "var/run").symlink_to("/run")
    (root / "link").symlink_to("/var/run/nri/file")
    host = HostRoot(root)

    assert (host.read("var/run/nri/file"), host.read("link")) == (b"host\n", b"host\n")
    assert (host.list("var/run"), host.readlink("var/run")) == (("nri",), "/run")


def test_relative_link_inside_the_root_is_followed_as_ever(root: Path) -> None:
    (root / "sys/devices/pci/eth0").mkdir(parents=True)
    (root / "sys/devices/pci/eth0/mtu").write_text("1500\n")
    (root / "sys/class/net").mkdir(parents=True)
    (root / "sys/class/net/eth0").symlink_to("../../devices/pci/eth0")
    host = HostRoot(root)

    for _ in range(2):
        assert host.read_int("sys/class/net/eth0/mtu") == 1500
        assert host.directory_inode("sys/class/net/eth0/mtu") == (root / "sys/devices/pci/eth0").stat().st_ino


def test_link_loop_is_an_error(root: Path) -> None:
    (root / "one").symlink_to("two")
    (root / "two").symlink_to("one")

    with pytest.raises(HostFileError, match="ELOOP") as caught:
        HostRoot(root).read("one/file")

    assert caught.value.errno == errno.ELOOP


def test_folder_made_anew_under_its_name_is_read_anew(root: Path) -> None:
    host = HostRoot(root)
    group = root / "sys/fs/cgroup/pod"
    for text in ("1\n", "2\n"):
        group.mkdir()
        (group / "pids.current").write_text(text)

        assert host.read("sys/fs/cgroup/pod/pids.current") == text.encode()

        (group / "pids.current").unlink()
        group.rmdir()
        assert host.read("sys/fs/cgroup/pod/pids.current") is None


def test_root_behind_a_link_is_the_operators_choice(root: Path, tmp_path: Path) -> None:
    (root / "file").write_text("here\n")
    (tmp_path / "link").symlink_to(root)

    assert HostRoot(tmp_path / "link").read("file") == b"here\n"


def test_root_whose_proc_is_a_link_to_ours_is_not_this_machine(root: Path) -> None:
    (root / "proc").symlink_to("/proc")

    assert not HostRoot(root).is_this_machine
    assert os.path.exists(root / "proc/stat")
