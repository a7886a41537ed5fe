from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from fuyaod import __version__
from fuyaod.ctl.look import observe_host
from fuyaod.hostfs import HostRoot
from fuyaod.model.settings import Settings
from fuyaod.model.snapshot import NodeSnapshot
from fuyaod.model.values import decode
from fuyaod.rpc.server import serve_rpc
from tests.unit.ctl.conftest import Run, Start, parsed


@pytest.fixture(scope="module")
def observed(laptop: Path) -> NodeSnapshot:
    return observe_host(HostRoot(laptop), Settings())[1]


def still(snapshot: NodeSnapshot) -> NodeSnapshot:
    """Without what two looks never share."""
    topology = msgspec.structs.replace(snapshot.topology, observed_at_ns=0)
    groups = tuple(msgspec.structs.replace(one, slow_at_ns=0) for one in snapshot.cgroups.samples)
    tree = msgspec.structs.replace(snapshot.cgroups, samples=groups)
    sources = tuple(msgspec.structs.replace(one, since_ns=0) for one in snapshot.sources)
    return msgspec.structs.replace(
        snapshot, at_ns=0, wall_s=0.0, topology=topology, cgroups=tree, sources=sources, own=None
    )


def test_snapshot_root_json_is_a_snapshot(run: Run, laptop: Path, observed: NodeSnapshot) -> None:
    result = run("snapshot", "--root", laptop, "--json")

    assert result.exit_code == 0
    assert result.stderr == ""
    assert still(decode(result.stdout, NodeSnapshot)) == still(observed)


def test_snapshot_root_text_shows_host_nodes_and_devices(run: Run, laptop: Path, observed: NodeSnapshot) -> None:
    result = run("snapshot", "--root", laptop)

    assert result.exit_code == 0
    assert observed.host.kernel_release
    assert observed.host.kernel_release in result.stdout.splitlines()[0]
    assert all(title in result.stdout for title in ("pressure", "classes", "NUMA nodes", "devices", "findings"))


def test_snapshot_this_machine_without_agent(start: Start) -> None:
    done = start("snapshot", "--root", "/", "--over", "0.05")

    assert done.returncode == 0
    assert "% busy" in done.stdout.splitlines()[0]


def test_snapshot_without_agent_exits_2_and_says_what_to_do(run: Run, tmp_path: Path) -> None:
    result = run("snapshot", "--json")

    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"fuyaoctl: cannot reach the agent at {tmp_path / 'no-agent' / 'fuyaod.sock'}:")
    assert "`fuyaod run`" in result.stderr


async def test_snapshot_of_an_agent_is_its_json(start: Start, tmp_path: Path, observed: NodeSnapshot) -> None:
    async with serve_rpc(str(tmp_path / "s"), lambda: observed) as socket:
        done = await asyncio.to_thread(start, "snapshot", "--socket", socket, "--json")

    assert done.stderr == ""
    assert decode(done.stdout, NodeSnapshot) == observed


async def test_snapshot_of_an_agent_found_by_its_settings(start: Start, tmp_path: Path, observed: NodeSnapshot) -> None:
    config = tmp_path / "fuyaod.toml"
    config.write_text(f'[rpc]\nsocket = "{tmp_path / "s"}"\n')
    async with serve_rpc(str(tmp_path / "s"), lambda: observed):
        done = await asyncio.to_thread(start, "snapshot", "--config", config, "--over", "0")

    assert done.returncode == 0
    assert done.stdout.startswith(observed.host.node_name)


async def test_snapshot_before_the_agents_first_exits_2(start: Start, tmp_path: Path) -> None:
    async with serve_rpc(str(tmp_path / "s"), lambda: None) as socket:
        done = await asyncio.to_thread(start, "snapshot", "--socket", socket)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("fuyaoctl: cannot use the answer of the agent")
    assert "the first snapshot is not ready" in done.stderr
    assert done.stderr.count("\n") == 1


async def test_snapshot_newer_fields_of_the_agent_pass_through_json(
    start: Start, tmp_path: Path, observed: NodeSnapshot
) -> None:
    newer = msgspec.structs.replace(observed, schema=99)
    async with serve_rpc(str(tmp_path / "s"), lambda: newer) as socket:
        as_json = await asyncio.to_thread(start, "snapshot", "--socket", socket, "--json")
        as_text = await asyncio.to_thread(start, "snapshot", "--socket", socket, "--over", "0")

    assert msgspec.json.decode(as_json.stdout)["schema"] == 99
    assert as_text.returncode == 2
    assert "its schema is 99" in as_text.stderr


async def test_version_of_an_agent(start: Start, tmp_path: Path, observed: NodeSnapshot) -> None:
    async with serve_rpc(str(tmp_path / "s"), lambda: observed) as socket:
        done = await asyncio.to_thread(start, "version", "--socket", socket, "--json")

    assert msgspec.json.decode(done.stdout)["agent"] == __version__


def test_snapshot_json_has_the_schema_first(run: Run, laptop: Path) -> None:
    assert next(iter(parsed(run("snapshot", "--root", laptop, "--json")))) == "schema"
