import fcntl
from pathlib import Path

import pytest

from tests.kernel.vm.ground import FORMAT, Ground, Stamp, cache_folder, find_ground, locked, write_stamp


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"FUYAOD_VM_CACHE": "/a", "XDG_CACHE_HOME": "/b", "HOME": "/c"}, "/a"),
        ({"XDG_CACHE_HOME": "/b", "HOME": "/c"}, "/b/fuyaod-vm"),
        ({"FUYAOD_VM_CACHE": "", "HOME": "/c"}, "/c/.cache/fuyaod-vm"),
        ({}, "/root/.cache/fuyaod-vm"),
    ],
    ids=["own variable", "xdg", "home", "nothing set"],
)
def test_cache_folder_follows_the_environment(environ: dict[str, str], folder: str) -> None:
    assert cache_folder(environ) == Path(folder)


def test_cache_folder_given_relative_becomes_absolute() -> None:
    assert cache_folder({"FUYAOD_VM_CACHE": "here"}) == Path.cwd() / "here"


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    root = tmp_path / "ground"
    root.mkdir()
    write_stamp(root, Stamp(format=FORMAT, kernel_release="6.0-x", qemu_version="10"))
    return tmp_path


def test_ground_with_a_stamp_is_complete(filled: Path) -> None:
    found = find_ground(filled, file_server=filled)

    assert found == Ground(root=filled / "ground", kernel_release="6.0-x")


def test_ground_whose_kernel_could_not_be_patched_says_why(filled: Path) -> None:
    stamp = Stamp(format=FORMAT, kernel_release="6.0-x", qemu_version="10", no_resctrl="cannot tell")
    write_stamp(filled / "ground", stamp)

    found = find_ground(filled, file_server=filled)

    assert found is not None
    assert found.no_resctrl == "cannot tell"


def test_ground_without_file_server_is_not_complete(filled: Path) -> None:
    assert find_ground(filled, file_server=filled / "missing") is None


@pytest.mark.parametrize("stamp", [b"", b"{", b'{"format": 0, "kernel_release": "x", "qemu_version": "y"}'])
def test_ground_with_a_damaged_or_old_stamp_is_not_complete(filled: Path, stamp: bytes) -> None:
    (filled / "ground/ground.json").write_bytes(stamp)

    assert find_ground(filled, file_server=filled) is None


def test_ground_of_an_empty_cache_is_not_complete(tmp_path: Path) -> None:
    assert find_ground(tmp_path, file_server=tmp_path) is None


def test_lock_held_by_somebody_is_waited_for(tmp_path: Path) -> None:
    waits: list[str] = []
    with (tmp_path / "lock").open("w") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)

        def release() -> None:
            waits.append("waited")
            fcntl.flock(holder, fcntl.LOCK_UN)

        with locked(tmp_path, on_wait=release), pytest.raises(BlockingIOError):
            fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)

    assert waits == ["waited"]


def test_lock_that_is_free_is_not_waited_for(tmp_path: Path) -> None:
    waits: list[str] = []

    with locked(tmp_path / "new", on_wait=lambda: waits.append("waited")):
        pass

    assert waits == []
