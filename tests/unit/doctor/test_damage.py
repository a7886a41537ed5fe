"""Trees full of garbage: observing never raises, and what comes out can be written and judged."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuyaod.doctor import diagnose, observe_facts
from fuyaod.hostfs import HostRoot, OsFiles
from fuyaod.model.facts import HostFacts
from fuyaod.model.values import decode, encode
from tests.hosts.declare import declare, materialise
from tests.hosts.scratch import scratch_root

DEEP = b'{"policyName": ' + b"[" * 100_000
"""JSON that every recursive parser gives up on."""

GARBAGE = (
    st.binary(max_size=40)
    | st.sampled_from(
        [b"", b"\n", b"-1\n", b"9" * 60, b"0-", b"0-99999", b"[x", b"{", b"\xff" * 10, b"a" * 70_000, DEEP]
    )
    | st.text(max_size=20).map(str.encode)
)


class DamagedFiles(OsFiles):
    """System calls on a tree in which some files hold something else, chosen by the sum of their path's bytes.

    Args:
        pieces: what damaged files hold.
        every: one file in so many is damaged.
    """

    def __init__(self, pieces: list[bytes], every: int) -> None:
        self._pieces = pieces
        self._every = every
        self._held: dict[int, bytes] = {}

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:  # type: ignore[override]
        """open(2), choosing the damage."""
        fd = os.open(path, flags, mode)
        number = sum(path.encode())
        if number % self._every == 0:
            self._held[fd] = self._pieces[number // self._every % len(self._pieces)]
        return fd

    def close(self, fd: int) -> None:
        """close(2)."""
        self._held.pop(fd, None)
        os.close(fd)

    def pread(self, fd: int, length: int, offset: int) -> bytes:
        """pread(2) of the damage, where there is some."""
        held = self._held.get(fd)
        return os.pread(fd, length, offset) if held is None else held[offset : offset + length]


class DeniedFiles(OsFiles):
    """System calls that refuse every file, as for a user without any right."""

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:  # type: ignore[override]
        """Never opens."""
        raise PermissionError(errno.EACCES, "Permission denied", path)

    def listdir(self, path: str) -> list[str]:  # type: ignore[override]
        """Never lists."""
        raise PermissionError(errno.EACCES, "Permission denied", path)


@pytest.fixture(scope="module")
def tree() -> Iterator[Path]:
    with scratch_root() as root:
        materialise(declare("xeon-rdt"), root)
        yield root


@given(pieces=st.lists(GARBAGE, min_size=1, max_size=8), every=st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_observe_damaged_tree_gives_facts_that_can_be_written_and_judged(
    tree: Path, pieces: list[bytes], every: int
) -> None:
    facts = observe_facts(HostRoot(tree, files=DamagedFiles(pieces, every)))

    assert decode(encode(facts), HostFacts) == facts
    assert diagnose(facts)


@pytest.mark.parametrize("name", ["config.yaml", "cpu_manager_state", "memory_manager_state"])
def test_observe_kubelet_file_nested_without_end_is_no_exception(tmp_path: Path, name: str) -> None:
    (tmp_path / "var/lib/kubelet").mkdir(parents=True)
    (tmp_path / "var/lib/kubelet" / name).write_bytes(DEEP)

    assert diagnose(observe_facts(HostRoot(tmp_path)))


def test_observe_tree_that_may_not_be_read_says_so_first(tree: Path) -> None:
    findings = diagnose(observe_facts(HostRoot(tree, files=DeniedFiles())))

    assert findings[0].id == "host.readable"
    assert "no permission for /" in findings[0].summary
    assert "sudo" in findings[0].mend


def test_observe_folders_where_files_should_be_gives_a_finding(tmp_path: Path) -> None:
    (tmp_path / "proc/sys/kernel/osrelease").mkdir(parents=True)
    findings = {finding.id: finding for finding in diagnose(observe_facts(HostRoot(tmp_path)))}

    assert "EISDIR" in findings["host.readable"].summary
