"""Token and CA files that change while they are used."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fuyaod.errors import ApiDenied
from fuyaod.kube.credentials import MAX_TOKEN_BYTES, CaFile, TokenFile


def test_token_is_read_again_when_its_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("one\n")
    token = TokenFile(str(path))
    before = token.headers()
    replacement = tmp_path / "new"
    replacement.write_text("two")
    replacement.rename(path)

    assert (before, token.headers()) == ({"Authorization": "Bearer one"}, {"Authorization": "Bearer two"})


def test_token_is_followed_through_the_links_that_kubelet_swaps(tmp_path: Path) -> None:
    for name in ("v1", "v2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "token").write_text(name)
    (tmp_path / "..data").symlink_to("v1")
    (tmp_path / "token").symlink_to("..data/token")
    token = TokenFile(str(tmp_path / "token"))
    before = token.headers()
    (tmp_path / "..tmp").symlink_to("v2")
    (tmp_path / "..tmp").rename(tmp_path / "..data")

    assert (before, token.headers()) == ({"Authorization": "Bearer v1"}, {"Authorization": "Bearer v2"})


def test_token_written_anew_in_place_is_read_again_by_its_time(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("one")
    token = TokenFile(str(path))
    token.headers()
    stat = path.stat()
    path.write_text("two")  # the same inode, the same size
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))

    assert token.headers() == {"Authorization": "Bearer two"}


def test_token_forgotten_is_read_again_though_the_file_looks_the_same(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("one")
    token = TokenFile(str(path))
    token.headers()
    stat = path.stat()
    path.write_text("two")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    unnoticed = token.headers()

    token.forget()

    assert unnoticed == {"Authorization": "Bearer one"}
    assert token.headers() == {"Authorization": "Bearer two"}


def test_no_token_file_means_no_header() -> None:
    assert TokenFile("").headers() == {}


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"two words", b"a\r\nHost: x", b"\xff\xfe", b"x" * (MAX_TOKEN_BYTES + 1)],
    ids=["empty", "blank", "space", "header-injection", "binary", "huge"],
)
def test_unusable_token_is_refused_without_showing_it(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "token"
    path.write_bytes(content)

    with pytest.raises(ApiDenied, match="cannot use the token") as caught:
        TokenFile(str(path)).headers()

    assert "words" not in str(caught.value)
    assert "Host" not in str(caught.value)


def test_missing_token_file_is_refused_and_read_once_it_is_there(tmp_path: Path) -> None:
    path = tmp_path / "token"
    token = TokenFile(str(path))

    with pytest.raises(ApiDenied, match=r"cannot read the token .*No such file"):
        token.headers()

    path.write_text("late")
    assert token.headers() == {"Authorization": "Bearer late"}


def test_token_is_in_no_repr(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("hidden")
    token = TokenFile(str(path))
    token.headers()

    assert "hidden" not in repr(token)


@pytest.mark.parametrize("content", [None, b"", b"no certificate"], ids=["missing", "empty", "garbage"])
def test_unusable_ca_file_is_refused(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "ca.crt"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(ApiDenied, match="cannot use the CA file"):
        CaFile(str(path)).context()
