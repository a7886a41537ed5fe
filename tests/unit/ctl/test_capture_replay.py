from __future__ import annotations

import asyncio
import gzip
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner

from fuyaod.ctl.cli import cli
from fuyaod.ctl.look import observe_host
from fuyaod.hostfs import HostRoot
from fuyaod.model.settings import Settings
from fuyaod.rpc.server import serve_rpc
from tests.unit.ctl.conftest import Run, Start, parsed


@pytest.fixture
def captured(run: Run, laptop: Path, tmp_path: Path) -> Path:
    target = tmp_path / "bug.json.gz"
    assert run("capture", "--root", laptop, "-o", target).exit_code == 0
    return target


def test_capture_tells_what_it_wrote_for_the_owner_only(run: Run, laptop: Path, tmp_path: Path) -> None:
    target = tmp_path / "bug.json.gz"

    summary = parsed(run("capture", "--root", laptop, "-o", target, "--json"))

    assert summary["file"] == str(target)
    assert summary["bytes"] == target.stat().st_size
    assert summary["host_files"] > 50
    assert summary["kubernetes"] is False
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_capture_default_name_says_when(
    run: Run, laptop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    result = run("capture", "--root", laptop)

    assert result.exit_code == 0
    assert [path.name[:15] for path in tmp_path.glob("*.json.gz")] == ["fuyaod-capture-"]


def test_capture_existing_file_is_kept(run: Run, laptop: Path, tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_text("x")

    result = run("capture", "--root", laptop, "-o", target)

    assert result.exit_code == 2
    assert result.stderr.startswith(f"fuyaoctl: cannot write {target}: it is there already")
    assert target.read_text() == "x"


def test_capture_into_missing_folder_exits_2(run: Run, laptop: Path, tmp_path: Path) -> None:
    result = run("capture", "--root", laptop, "-o", tmp_path / "no" / "file")

    assert result.exit_code == 2
    assert result.stderr.startswith(f"fuyaoctl: cannot write {tmp_path / 'no' / 'file'}:")


def test_capture_this_machine_without_agent_says_what_is_left_out(start: Start, tmp_path: Path) -> None:
    done = start("capture", "-o", tmp_path / "bug.json.gz")

    assert done.returncode == 0
    assert "captured without what an agent knows from Kubernetes" in done.stderr


async def test_capture_this_machine_with_agent_asks_it(start: Start, laptop: Path, tmp_path: Path) -> None:
    snapshot = observe_host(HostRoot(laptop), Settings())[1]
    async with serve_rpc(str(tmp_path / "s"), lambda: snapshot) as socket:
        done = await asyncio.to_thread(start, "capture", "-o", tmp_path / "bug.json.gz", "--socket", socket)

    assert (done.returncode, done.stderr) == (0, "")


def test_capture_named_socket_without_agent_exits_2(run: Run, tmp_path: Path) -> None:
    result = run("capture", "-o", tmp_path / "bug.json.gz", "--socket", tmp_path / "s")

    assert result.exit_code == 2
    assert not (tmp_path / "bug.json.gz").exists()


def test_replay_gives_the_captured_snapshot(run: Run, captured: Path) -> None:
    result = run("replay", captured, "--json")

    document = parsed(result)
    assert result.exit_code == 0
    assert document["same"] is True
    assert document["differences"] == []
    assert document["snapshot"]["topology"]["cpu"]["online"]
    assert len(document["findings"]) > 10


def test_replay_text_shows_the_tables(run: Run, captured: Path) -> None:
    result = run("replay", captured)

    assert result.exit_code == 0
    assert "none: the same snapshot" in result.stdout
    assert "NUMA nodes" in result.stdout


def test_replay_unpacked_by_hand_is_read_too(run: Run, captured: Path, tmp_path: Path) -> None:
    plain = tmp_path / "bug.json"
    plain.write_bytes(gzip.decompress(captured.read_bytes()))

    assert run("replay", plain).exit_code == 0


def test_replay_with_other_settings_exits_1_and_says_what_changes(run: Run, captured: Path, tmp_path: Path) -> None:
    config = tmp_path / "new.toml"
    config.write_text('[node]\nname = "renamed"\n')

    result = run("replay", captured, "--config", config, "--json")

    document = parsed(result)
    assert result.exit_code == 1
    assert {"path": "host.node_name", "captured": "'node'", "replayed": "'renamed'"} in document["differences"]
    assert "host.node_name" in run("replay", captured, "--config", config).stdout


def test_replay_with_other_host_files_takes_those(run: Run, captured: Path, laptop: Path, tmp_path: Path) -> None:
    document = parsed(run("replay", captured, "--root", laptop, "--json"))

    assert document["snapshot"]["topology"]["cpu"]["online"]
    assert run("replay", captured, "--root", tmp_path).exit_code == 2


def test_replay_settings_of_the_environment_are_not_taken(captured: Path, tmp_path: Path) -> None:
    config = tmp_path / "agent.toml"
    config.write_text('[node]\nname = "renamed"\n')

    result = CliRunner().invoke(cli, ["replay", str(captured), "--json"], env={"FUYAOD_CONFIG": str(config)})

    assert parsed(result)["same"] is True


def test_snapshot_settings_of_the_environment_are_taken(laptop: Path, tmp_path: Path) -> None:
    config = tmp_path / "agent.toml"
    config.write_text('[node]\nname = "renamed"\n')

    result = CliRunner().invoke(cli, ["snapshot", "--root", str(laptop), "--json"], env={"FUYAOD_CONFIG": str(config)})

    assert parsed(result)["host"]["node_name"] == "renamed"


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"\x1f\x8b", b"\x1f\x8bgarbage", b"\xff\xfe", gzip.compress(b"[]"), b'{"schema": 999}'],
    ids=["empty", "no-fields", "cut", "garbage", "binary", "other-json", "newer"],
)
def test_replay_of_what_is_no_capture_exits_2_with_one_line(run: Run, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "x"
    file.write_bytes(content)

    result = run("replay", file)

    assert result.exit_code == 2
    assert result.stderr.startswith(f"fuyaoctl: cannot replay {file}: ")
    assert result.stderr.count("\n") == 1


def test_replay_missing_file_exits_2(run: Run, tmp_path: Path) -> None:
    result = run("replay", tmp_path / "x")

    assert result.exit_code == 2
    assert result.stderr.startswith(f"fuyaoctl: cannot read {tmp_path / 'x'}:")
