"""`fuyaod run` from start to end, as a process of its own."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from fuyaod.errors import FuyaodError
from fuyaod.rpc.client import NodeClient
from tests.hosts.declare import Materialised, declare, materialise, rewrite
from tests.hosts.scratch import scratch_root
from tests.integration.agent import Agent

FAST = "[observe]\ninterval_ms = 100\n"


@pytest.fixture
def root() -> Iterator[Path]:
    with scratch_root() as path:
        yield path


@pytest.fixture
def made(root: Path) -> Materialised:
    return materialise(declare("kunpeng920-910b"), root)


def test_daemon_observes_answers_and_ends_cleanly(made: Materialised, tmp_path: Path) -> None:
    with Agent(made.root, tmp_path) as agent:
        agent.wait_started()

        status, metrics = agent.get("/metrics")
        ready, _ = agent.get("/readyz")
        alive, _ = agent.get("/healthz")
        ended = agent.stop()

        assert (status, ready, alive, ended) == (200, 200, 200, 0)
        assert 'fuyaod_cpus{state="online"} 128.0' in metrics
        assert f'fuyaod_pods{{qos="none"}} {len(made.pods)}.0' in metrics
        assert not agent.socket.exists()
        assert agent.events("stopped")
        assert "Traceback" not in agent.text()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_daemon_ends_with_zero_on_either_signal(root: Path, tmp_path: Path, number: signal.Signals) -> None:
    materialise(declare("one-cpu"), root)
    with Agent(root, tmp_path) as agent:
        agent.wait_started()

        assert agent.stop(number) == 0


def test_daemon_says_what_it_cannot_do_and_how_to_mend_it(root: Path, tmp_path: Path) -> None:
    materialise(declare("psi-off"), root)
    with Agent(root, tmp_path) as agent:
        agent.wait_started()

        losses = {e["id"]: e for e in agent.events("capability") if e["status"] != "ok"}

        assert "psi=1" in losses["psi.system"]["mend"]
        assert all(e["cost"] and e["mend"] for e in losses.values())


def test_daemon_sees_pods_come_and_go(made: Materialised, tmp_path: Path) -> None:
    folder = made.root / (made.v2_mount or "") / "kubepods.slice/kubepods-podabc.slice"
    with Agent(made.root, tmp_path, "[observe]\ninterval_ms = 100\n") as agent:
        agent.wait_started()
        folder.mkdir(parents=True)
        (folder / "cpu.stat").write_text("usage_usec 5\nuser_usec 3\nsystem_usec 2\n")

        agent.wait_for(lambda: any(e["pod"] == "abc" for e in agent.events("pod_seen")), "pod seen")
        (folder / "cpu.stat").unlink()
        folder.rmdir()

        agent.wait_for(lambda: any(e["pod"] == "abc" for e in agent.events("pod_gone")), "pod gone")


def test_daemon_takes_changed_settings_and_refuses_bad_ones(made: Materialised, tmp_path: Path) -> None:
    with Agent(made.root, tmp_path, "[observe]\ninterval_ms = 200\n") as agent:
        agent.wait_started()
        agent.settings.write_text("[observe]\ninterval_ms = 1\n")
        agent.process.send_signal(signal.SIGHUP)
        agent.wait_for(lambda: bool(agent.events("settings_refused")), "refusal")

        agent.settings.write_text('[qos]\ndefault_class = "LS"\n')
        agent.process.send_signal(signal.SIGHUP)
        agent.wait_for(lambda: bool(agent.events("settings_taken")), "taking")
        agent.wait_for(lambda: f'fuyaod_pods{{qos="LS"}} {len(made.pods)}.0' in agent.get("/metrics")[1], "new class")

        assert "$.observe.interval_ms" in agent.events("settings_refused")[0]["error"]
        assert agent.stop() == 0


def test_daemon_with_refused_settings_does_not_start(root: Path, tmp_path: Path) -> None:
    with Agent(root, tmp_path, "[observe]\nintervall_ms = 1\n") as agent:
        assert agent.process.wait(60) == 2
        assert "did you mean `interval_ms`" in agent.text()
        assert "Traceback" not in agent.text()


def test_daemon_second_on_one_socket_is_refused_and_the_first_goes_on(made: Materialised, tmp_path: Path) -> None:
    with Agent(made.root, tmp_path) as first:
        first.wait_started()
        (tmp_path / "second").mkdir()
        with Agent(made.root, tmp_path / "second", environment={"FUYAOD_RPC__SOCKET": str(first.socket)}) as second:
            assert second.process.wait(60) == 2
            assert "cannot listen" in second.text()
            assert "Traceback" not in second.text()
        assert first.get("/healthz")[0] == 200


def test_daemon_on_an_empty_root_goes_on_with_findings(tmp_path: Path) -> None:
    (tmp_path / "host").mkdir()
    with Agent(tmp_path / "host", tmp_path) as agent:
        agent.wait_started()

        assert agent.get("/readyz")[0] == 200
        assert agent.events("finding")
        assert agent.stop() == 0


def test_daemon_survives_files_turning_to_garbage_while_it_runs(made: Materialised, tmp_path: Path) -> None:
    mount = made.root / (made.v2_mount or "")
    with Agent(made.root, tmp_path, "[observe]\ninterval_ms = 100\nslow_every_ticks = 1\n") as agent:
        agent.wait_started()
        garbage = (b"", b"\xff\xfe\x00", b"x" * 100_000, b"some avg10=nan\n", b"-1\n" * 50)
        for number, path in enumerate(sorted(mount.rglob("*"))):
            if path.is_file() and path.name in ("cpu.stat", "cpu.pressure", "memory.stat", "io.stat", "memory.current"):
                path.write_bytes(garbage[number % len(garbage)])
        (made.root / "proc/stat").write_bytes(b"cpu x y z\n")
        (made.root / "proc/meminfo").write_bytes(os.urandom(300))
        agent.wait_for(lambda: any(e["id"] == "cgroups.unreadable" for e in agent.events("finding")), "finding")

        rewrite(made, 1)
        agent.wait_for(lambda: any(e["id"] == "cgroups.unreadable" for e in agent.events("finding_gone")), "recovery")

        assert 'fuyaod_loop_errors_total{loop="observe"}' not in agent.get("/metrics")[1]
        assert agent.stop() == 0


def test_daemon_whose_log_cannot_be_written_goes_on(root: Path, tmp_path: Path) -> None:
    materialise(declare("one-cpu"), root)
    with Agent(root, tmp_path, FAST, log_path=Path("/dev/full")) as agent:
        agent.wait_for(agent.socket.exists, "start")

        with NodeClient(str(agent.socket)) as client:
            agent.wait_for(lambda: _seq(client) > 2, "a third look")


def _seq(client: NodeClient) -> int:
    try:
        return client.snapshot().seq
    except FuyaodError:  # before the first
        return 0


def test_daemon_without_a_free_descriptor_keeps_its_pods_and_a_short_log(made: Materialised, tmp_path: Path) -> None:
    with Agent(made.root, tmp_path, FAST) as agent, NodeClient(str(agent.wait_started().socket)) as client:
        port = int(agent.url.rpartition(":")[2])
        before, seq = len(agent.text()), client.snapshot().seq

        resource.prlimit(agent.process.pid, resource.RLIMIT_NOFILE, (16, 16))
        with contextlib.ExitStack() as stack:
            for _ in range(20):
                stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            agent.wait_for(lambda: bool(agent.events("event_loop_failed")), "the first refused connection")
            agent.wait_for(lambda: client.snapshot().seq > seq + 35, "the next look for the hierarchy")

        assert len(client.snapshot().pods) == len(made.pods)
        assert not agent.events("pod_gone")
        assert len(agent.text()) - before < 20_000
