"""The faults that the test API server shows on demand, each seen by a plain HTTP client."""

import asyncio
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from shutil import which
from typing import Any

import aiohttp
import msgspec
import pytest
import pytest_asyncio

from tests.apiserver import Cut, FakeApiServer, Fault, Garbage, Hang, Latency, Refuse, Stall

PODS = "/api/v1/pods"
DEADLINE_S = 10.0
SILENCE_S = 0.2
OpenWatch = Callable[..., Awaitable[aiohttp.ClientResponse]]


@pytest_asyncio.fixture
async def http(apiserver: FakeApiServer) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(apiserver.url) as session:
        yield session


def secret(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}}


async def read_event(response: aiohttp.ClientResponse) -> tuple[str, dict[str, Any]]:
    async with asyncio.timeout(DEADLINE_S):
        event = msgspec.json.decode(await response.content.readline())
    return event["type"], event["object"]


@pytest_asyncio.fixture
async def open_watch(http: aiohttp.ClientSession) -> AsyncIterator[OpenWatch]:
    """Opens watches of secrets; all are closed at the end of the test."""
    opened: list[aiohttp.ClientResponse] = []

    async def opener(**query: str) -> aiohttp.ClientResponse:
        response = await http.get("/api/v1/secrets", params={"watch": "1", **query})
        opened.append(response)
        assert response.status == 200
        return response

    yield opener
    for response in opened:
        response.close()


async def test_refuse_answers_its_code_and_retry_after_as_often_as_told(
    apiserver: FakeApiServer, http: aiohttp.ClientSession
) -> None:
    apiserver.faults.add(Refuse(code=429, retry_after_s=7, times=1))

    async with http.get(PODS) as refused, http.get(PODS) as served:
        body = await refused.json()

    assert (refused.status, refused.headers["Retry-After"], body["reason"]) == (429, "7", "TooManyRequests")
    assert served.status == 200


@pytest.mark.parametrize("code", [401, 403, 410, 500, 503])
async def test_refuse_hits_the_verb_and_resource_it_names(
    apiserver: FakeApiServer, http: aiohttp.ClientSession, code: int
) -> None:
    apiserver.faults.add(Refuse(verb="list", resource="pods", code=code))

    async with http.get(PODS) as pods, http.get("/api/v1/nodes") as nodes, http.get("/version") as version:
        assert (pods.status, nodes.status, version.status) == (code, 200, 200)


async def test_fault_removed_is_lifted(apiserver: FakeApiServer, http: aiohttp.ClientSession) -> None:
    fault = apiserver.faults.add(Refuse(code=500))
    apiserver.faults.remove(fault)

    async with http.get(PODS) as response:
        assert response.status == 200


async def test_latency_delays_the_answer(apiserver: FakeApiServer, http: aiohttp.ClientSession) -> None:
    apiserver.faults.add(Latency(delay_s=0.1, times=1))
    loop = asyncio.get_running_loop()
    began = loop.time()

    async with http.get(PODS) as response:
        assert response.status == 200

    assert loop.time() - began >= 0.1


async def test_hang_answers_not_one_byte(apiserver: FakeApiServer, http: aiohttp.ClientSession) -> None:
    apiserver.faults.add(Hang(verb="list"))

    with pytest.raises(TimeoutError):
        await http.get(PODS, timeout=aiohttp.ClientTimeout(total=SILENCE_S))


async def test_stalled_list_begins_and_never_ends(apiserver: FakeApiServer, http: aiohttp.ClientSession) -> None:
    apiserver.faults.add(Stall(verb="list"))

    async with http.get(PODS) as response:
        first = await response.content.readany()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(response.content.readany(), SILENCE_S)

    assert first.startswith(b'{"kind":"PodList"')


async def test_hung_watch_is_accepted_and_silent(
    apiserver: FakeApiServer, http: aiohttp.ClientSession, open_watch: OpenWatch
) -> None:
    apiserver.faults.add(Hang(verb="watch"))
    watch = await open_watch(resourceVersion=str(apiserver.store.rv))
    apiserver.create(secret("a"))

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(watch.content.readline(), SILENCE_S)


async def test_garbage_is_answered_with_200(apiserver: FakeApiServer, http: aiohttp.ClientSession) -> None:
    apiserver.faults.add(Garbage(body=b"\x00<html>"))

    async with http.get(PODS) as response:
        assert (response.status, await response.read()) == (200, b"\x00<html>")


async def test_cut_list_ends_in_the_middle(apiserver: FakeApiServer, http: aiohttp.ClientSession) -> None:
    apiserver.faults.add(Cut(verb="list"))

    with pytest.raises(aiohttp.ClientError):
        async with http.get(PODS) as response:
            await response.read()


async def test_cut_watch_ends_in_the_middle_of_a_line(
    apiserver: FakeApiServer, http: aiohttp.ClientSession, open_watch: OpenWatch
) -> None:
    apiserver.faults.add(Cut(verb="watch", after_events=1))
    watch = await open_watch(resourceVersion=str(apiserver.store.rv))
    apiserver.create(secret("a"))
    apiserver.create(secret("b"))

    first = await read_event(watch)

    assert first[1]["metadata"]["name"] == "a"
    with pytest.raises((aiohttp.ClientError, msgspec.DecodeError)):
        await read_event(watch)


async def test_injected_line_reaches_open_watches(
    apiserver: FakeApiServer, http: aiohttp.ClientSession, open_watch: OpenWatch
) -> None:
    apiserver.create(secret("a"))
    watch = await open_watch()
    await read_event(watch)

    await apiserver.inject(b"not json\n")

    assert await asyncio.wait_for(watch.content.readline(), DEADLINE_S) == b"not json\n"


async def test_paused_watch_sends_what_it_missed_when_resumed(
    apiserver: FakeApiServer, http: aiohttp.ClientSession, open_watch: OpenWatch
) -> None:
    watch = await open_watch(resourceVersion=str(apiserver.store.rv))
    apiserver.pause_watches()
    apiserver.create(secret("a"))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(watch.content.readline(), SILENCE_S)

    apiserver.resume_watches()

    assert (await read_event(watch))[1]["metadata"]["name"] == "a"


async def test_expired_token_is_401_until_the_client_brings_the_new_one(
    apiserver: FakeApiServer, http: aiohttp.ClientSession
) -> None:
    apiserver.token = "new"

    statuses = []
    for token in ("old", "new"):
        async with http.get(PODS, headers={"Authorization": f"Bearer {token}"}) as response:
            statuses.append(response.status)

    assert statuses == [401, 200]


async def test_compaction_ends_older_watches_with_410_and_old_pages_too(
    apiserver: FakeApiServer, http: aiohttp.ClientSession, open_watch: OpenWatch
) -> None:
    old = apiserver.store.rv
    for name in ("a", "b"):
        apiserver.create(secret(name))
    async with http.get("/api/v1/secrets", params={"limit": "1"}) as response:
        token = (await response.json())["metadata"]["continue"]
    apiserver.create(secret("c"))

    apiserver.compact()

    watch = await open_watch(resourceVersion=str(old))
    assert (await read_event(watch))[1]["code"] == 410
    async with http.get("/api/v1/secrets", params={"limit": "1", "continue": token}) as response:
        assert response.status == 410
        assert (await response.json())["reason"] == "Expired"


async def test_restart_cuts_connections_keeps_objects_and_jumps_the_version(
    apiserver: FakeApiServer, http: aiohttp.ClientSession, open_watch: OpenWatch
) -> None:
    apiserver.create(secret("a"))
    before, port = apiserver.store.rv, apiserver.port
    watch = await open_watch(resourceVersion=str(before))

    await apiserver.restart(jump=500)

    with pytest.raises(aiohttp.ClientError):
        await asyncio.wait_for(watch.content.readexactly(1), DEADLINE_S)
    async with http.get("/api/v1/secrets") as response:
        listed = await response.json()
    late = await open_watch(resourceVersion=str(before))
    assert apiserver.port == port
    assert listed["metadata"]["resourceVersion"] == str(before + 500)
    assert [item["metadata"]["name"] for item in listed["items"]] == ["a"]
    assert (await read_event(late))[1]["code"] == 410


async def test_initial_events_refused_as_on_old_etcd(
    apiserver: FakeApiServer, http: aiohttp.ClientSession, open_watch: OpenWatch
) -> None:
    apiserver.watch_settings.refuses_initial_events = True

    watch = await open_watch(sendInitialEvents="1", resourceVersionMatch="NotOlderThan")

    kind, status = await read_event(watch)
    assert (kind, status["code"]) == ("ERROR", 500)
    assert "RequestWatchProgress" in status["message"]


async def test_requests_are_counted_by_verb_and_resource(
    apiserver: FakeApiServer, http: aiohttp.ClientSession, open_watch: OpenWatch
) -> None:
    for path in (PODS, PODS, "/api/v1/nodes"):
        async with http.get(path):
            pass
    await open_watch()

    assert (apiserver.count("list", "pods"), apiserver.count("watch", "secrets")) == (2, 1)
    assert apiserver.open_watches == 1


def test_fault_without_times_left_matches_nothing() -> None:
    assert not Fault(times=0).matches("get", "pods")


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """Files of a certificate for 127.0.0.1 and of its key."""
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*command, *subject, *files], check=True, capture_output=True)
    return certificate, key


@pytest.mark.skipif(which("openssl") is None, reason="needs the openssl command to make a certificate")
async def test_tls_is_served_with_the_given_context(certificate: tuple[Path, Path]) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)

    async with FakeApiServer(tls=context) as server, aiohttp.ClientSession() as session:
        client = ssl.create_default_context(cafile=str(certificate[0]))
        async with session.get(server.url + PODS, ssl=client) as response:
            assert response.status == 200
