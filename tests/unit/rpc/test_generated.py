from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tools import proto


def test_generated_code_is_current() -> None:
    assert proto.main(["--check"]) == 0


def test_check_changed_proto_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(proto.REPOSITORY / "fuyao_api", tmp_path / "fuyao_api")
    source = tmp_path / "fuyao_api/node/v1/node.proto"
    source.write_text(source.read_text().replace("uint64 seq = 2;", "uint64 sequence = 2;"))

    status = proto.main(["--check", "--root", str(tmp_path)])

    assert status == 1
    assert "not current: fuyao_api/node/v1/node_pb2.py" in capsys.readouterr().err


def test_write_changed_proto_makes_it_current(tmp_path: Path) -> None:
    shutil.copytree(proto.REPOSITORY / "fuyao_api", tmp_path / "fuyao_api")
    (tmp_path / "fuyao_api/node/v1/node_pb2.py").write_text("")
    (tmp_path / "fuyao_api/node/v1/orphan_pb2.py").write_text("")

    proto.main(["--root", str(tmp_path)])

    assert proto.main(["--check", "--root", str(tmp_path)]) == 0
    assert not (tmp_path / "fuyao_api/node/v1/orphan_pb2.py").exists()


def test_check_broken_proto_says_what_protoc_said(tmp_path: Path) -> None:
    (tmp_path / "fuyao_api").mkdir()
    (tmp_path / "fuyao_api/x.proto").write_text("nonsense")

    with pytest.raises(
        SystemExit, match=r"(?s)^cannot generate code from fuyao_api/x\.proto: .*Expected top-level statement"
    ):
        proto.main(["--check", "--root", str(tmp_path)])
