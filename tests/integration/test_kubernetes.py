"""The shipped daemon with an API server that lives, lies and dies."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.apiserver import FakeApiServer
from tests.apiserver.faults import Garbage
from tests.hosts.declare import Materialised, declare, materialise
from tests.hosts.scratch import scratch_root
from tests.integration.agent import DEADLINE_S, Agent

NODE = "node-7"


@pytest.fixture
def made() -> Iterator[Materialised]:
    with scratch_root() as path:
        yield materialise(declare("xeon-rdt"), path)


def manifest(pod: Any) -> dict[str, Any]:
    """A declared pod as the API has it."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": pod.name,
            "namespace": "default",
            "uid": pod.uid,
            "labels": pod.labels,
            "annotations": pod.annotations,
        },
        "spec": {"nodeName": NODE, "containers": [{"name": "main", "image": "registry.invalid/x:1"}]},
    }


async def until(agent: Agent, condition: Callable[[], bool], what: str) -> None:
    """Waits without holding the loop that the API server lives in."""
    async with asyncio.timeout(DEADLINE_S):
        while not condition():
            await asyncio.sleep(0.02)
            assert agent.process.poll() is None, f"{what}: agent ended\n{agent.text()[-3000:]}"


def start(made: Materialised, work: Path, server: FakeApiServer) -> Agent:
    return Agent(
        made.root,
        work,
        "[observe]\ninterval_ms = 100\n",
        {"FUYAOD_KUBERNETES__SERVER": server.url, "FUYAOD_NODE__NAME": NODE},
    )


async def classes(agent: Agent) -> str:
    """The metrics lines of pods per class."""
    _, text = await asyncio.to_thread(agent.get, "/metrics")
    return "\n".join(line for line in text.splitlines() if line.startswith(("fuyaod_pods{", "fuyaod_source_up{")))


async def test_daemon_with_api_server_knows_names_and_classes(made: Materialised, tmp_path: Path) -> None:
    async with FakeApiServer() as server:
        plain = [pod for pod in made.pods if not pod.static and pod.namespace != "kube-system"]
        for pod in plain:
            server.create(manifest(pod))
        with start(made, tmp_path, server) as agent:
            await until(agent, lambda: bool(agent.events("started")), "start")
            wanted = {pod.name: pod.qos_class for pod in plain}

            def told() -> dict[str, str | None]:
                seen = [*agent.events("pod_seen"), *agent.events("pod_class_changed")]
                return {e["name"]: e["qos"] for e in seen if e["name"]}

            await until(agent, lambda: told() == wanted, "classes")

            assert 'fuyaod_source_up{source="kubernetes",state="ok"} 1.0' in await classes(agent)
            assert server.count("watch", "pods") == 1


async def test_daemon_joins_a_pod_of_the_api_with_its_group(made: Materialised, tmp_path: Path) -> None:
    async with FakeApiServer() as server:
        pod = next(p for p in made.pods if p.qos_class == "HLS")
        created = server.create(manifest(pod))  # the server gives it a uid of its own, as a real one does
        uid = str(created["metadata"]["uid"])
        group = made.root / (made.v2_mount or "") / f"kubepods.slice/kubepods-pod{uid.replace('-', '_')}.slice"
        shutil.copytree(made.root / (made.v2_mount or "") / pod.path.lstrip("/"), group)
        (group / "memory.current").write_text("123456789\n")
        with start(made, tmp_path, server) as agent:
            labels = f'{{namespace="default",pod="{pod.name}",uid="{uid}",qos="HLS"}}'
            text = ""
            async with asyncio.timeout(DEADLINE_S):
                while f"fuyaod_pod_memory_bytes{labels} 123456789.0" not in text.splitlines():
                    await asyncio.sleep(0.05)
                    if agent.events("started"):
                        _, text = await asyncio.to_thread(agent.get, "/metrics")

        info = [line for line in text.splitlines() if line.startswith("fuyaod_pod_info{") and uid in line]
        assert len(info) == 1  # one pod, not one of each source


async def test_daemon_goes_on_from_the_last_state_when_the_api_server_dies(made: Materialised, tmp_path: Path) -> None:
    async with FakeApiServer() as server:
        pod = next(p for p in made.pods if p.qos_class == "HLS")
        server.create(manifest(pod))
        with start(made, tmp_path, server) as agent:
            await until(agent, lambda: any(e["name"] == pod.name for e in agent.events("pod_seen")), "pod")
            await server.stop()
            await until(
                agent, lambda: any("kubernetes is stale" in e["summary"] for e in agent.events("finding")), "finding"
            )

            text = await classes(agent)
            assert 'state="stale"} 0.0' in text
            assert 'fuyaod_pods{qos="HLS"} 1.0' in text
            assert (await asyncio.to_thread(agent.get, "/healthz"))[0] == 200
            assert (await asyncio.to_thread(agent.get, "/readyz"))[0] == 200

            await server.start()
            await until(
                agent, lambda: any(e["id"] == "source.kubernetes" for e in agent.events("finding_gone")), "recovery"
            )


async def test_daemon_survives_an_api_server_that_answers_garbage(made: Materialised, tmp_path: Path) -> None:
    async with FakeApiServer() as server:
        server.faults.add(Garbage())
        with start(made, tmp_path, server) as agent:
            await until(agent, lambda: bool(agent.events("host_examined")), "start")
            await until(agent, lambda: server.count("list", "pods") >= 2, "second try")

            assert (await asyncio.to_thread(agent.get, "/healthz"))[0] == 200
            assert 'fuyaod_source_up{source="kubernetes",state="starting"} 0.0' in await classes(agent)
            assert "Traceback" not in agent.text()
