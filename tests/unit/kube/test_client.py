"""The HTTP client: answers, limits, deadlines, credentials."""

from __future__ import annotations

import asyncio
import os
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from shutil import which

import pytest
import pytest_asyncio
from aiohttp import web

from fuyaod.errors import ApiDenied, ApiExpired, ApiServerError, ApiSilent
from fuyaod.kube.address import ApiAddress, crosses_network_in_clear
from fuyaod.kube.client import KubeClient, Limits, api_error, parse_retry_after
from tests.apiserver import Cut, FakeApiServer, Garbage, Hang, Refuse, Stall

PODS = "/api/v1/pods"
MakeClient = Callable[..., KubeClient]


@pytest_asyncio.fixture
async def make_client(apiserver: FakeApiServer) -> AsyncIterator[MakeClient]:
    clients: list[KubeClient] = []

    def make(*, url: str = "", token_file: str = "", ca_file: str = "", limits: Limits | None = None) -> KubeClient:
        address = ApiAddress(url=url or apiserver.url, token_file=token_file, ca_file=ca_file)
        clients.append(KubeClient(address, limits))
        return clients[-1]

    yield make
    for client in clients:
        await client.close()


@asynccontextmanager
async def serve(answer: Callable[[web.Request], Awaitable[web.Response]]) -> AsyncIterator[str]:
    """A server that gives one answer to everything."""
    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


async def first_line(client: KubeClient, silent_after_s: float = 10) -> bytes | None:
    async with client.watch(PODS, {"watch": "1"}, silent_after_s) as lines:
        return await anext(lines)


async def test_get_returns_the_body(make_client: MakeClient) -> None:
    body = await make_client().get(PODS, {"fieldSelector": "spec.nodeName=x"})

    assert body is not None
    assert body.startswith(b'{"kind":"PodList"')


async def test_get_of_what_is_not_there_is_none(make_client: MakeClient) -> None:
    assert await make_client().get("/api/v1/namespaces/default/pods/none") is None


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (401, ApiDenied),
        (403, ApiDenied),
        (410, ApiExpired),
        (429, ApiServerError),
        (500, ApiServerError),
        (503, ApiServerError),
    ],
)
async def test_refusal_becomes_the_error_a_caller_acts_on(
    apiserver: FakeApiServer, make_client: MakeClient, code: int, kind: type[ApiServerError]
) -> None:
    apiserver.faults.add(Refuse(code=code, retry_after_s=7, message="not today"))

    with pytest.raises(ApiServerError, match=f"^cannot read .*/api/v1/pods: {code} not today$") as caught:
        await make_client().get(PODS)

    assert type(caught.value) is kind
    assert (caught.value.code, caught.value.retry_after_s) == (code, 7.0)


async def test_answer_above_the_limit_is_refused(apiserver: FakeApiServer, make_client: MakeClient) -> None:
    apiserver.faults.add(Garbage(body=b"x" * 200_000))

    with pytest.raises(ApiServerError, match="answer of more than 100000 bytes"):
        await make_client(limits=Limits(max_body_bytes=100_000)).get(PODS)


async def test_hung_server_is_given_up_after_the_deadline(apiserver: FakeApiServer, make_client: MakeClient) -> None:
    apiserver.faults.add(Hang())

    with pytest.raises(ApiServerError, match="no answer in time"):
        await make_client(limits=Limits(connect_s=0.1, answer_s=0.1)).get(PODS)


async def test_answer_cut_half_way_is_an_error(apiserver: FakeApiServer, make_client: MakeClient) -> None:
    apiserver.faults.add(Cut(verb="list"))

    with pytest.raises(ApiServerError, match="cannot reach"):
        await make_client().get(PODS)


async def test_answer_that_stops_half_way_is_given_up(apiserver: FakeApiServer, make_client: MakeClient) -> None:
    apiserver.faults.add(Stall(verb="list"))

    with pytest.raises(ApiServerError, match="the answer stopped half-way"):
        await make_client(limits=Limits(answer_s=0.1)).get(PODS)


async def test_refusal_with_a_huge_body_is_still_the_refusal(make_client: MakeClient) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(status=503, body=b"x" * 100_000)

    async with serve(answer) as url:
        client = make_client(url=url)
        with pytest.raises(ApiServerError, match=r"503 Service Unavailable$"):
            await client.get(PODS)
        await client.close()


async def test_server_that_is_not_there_is_an_error(apiserver: FakeApiServer, make_client: MakeClient) -> None:
    client = make_client()
    await apiserver.stop()

    with pytest.raises(ApiServerError, match="cannot reach") as caught:
        await client.get(PODS)

    assert caught.value.code is None


async def test_watch_gives_lines_and_replaces_long_ones(apiserver: FakeApiServer, make_client: MakeClient) -> None:
    apiserver.faults.add(Garbage(verb="watch", body=b"x" * 500_000 + b"\nshort\n"))

    async with make_client(limits=Limits(max_line_bytes=1000)).watch(PODS, {"watch": "1"}, 10) as lines:
        assert [await anext(lines), await anext(lines)] == [None, b"short"]


async def test_silent_watch_is_told_from_other_failures(apiserver: FakeApiServer, make_client: MakeClient) -> None:
    apiserver.faults.add(Hang(verb="watch"))

    with pytest.raises(ApiSilent, match=r"no byte for 0\.05 s"):
        await first_line(make_client(), 0.05)


async def test_watch_refused_and_watch_cut_are_errors(apiserver: FakeApiServer, make_client: MakeClient) -> None:
    client = make_client()
    apiserver.faults.add(Refuse(verb="watch", code=410, times=1))
    with pytest.raises(ApiExpired):
        await first_line(client)

    apiserver.faults.add(Cut(verb="watch"))
    apiserver.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x"}})
    task = asyncio.create_task(first_line(client))
    while not apiserver.open_watches:  # noqa: ASYNC110 the state is the server's
        await asyncio.sleep(0.001)
    apiserver.cut_watches()
    with pytest.raises(ApiServerError, match="cannot reach"):
        await task


async def test_token_replaced_between_two_requests_is_used(
    apiserver: FakeApiServer, make_client: MakeClient, tmp_path: Path
) -> None:
    token_file = tmp_path / "token"
    token_file.write_text("one")
    apiserver.token = "one"
    client = make_client(token_file=str(token_file))
    assert await client.get(PODS) is not None

    apiserver.token = "two"
    with pytest.raises(ApiDenied) as caught:
        await client.get(PODS)
    token_file.write_text("two")

    assert await client.get(PODS) is not None
    assert "one" not in str(caught.value)


async def test_refused_token_is_read_again_though_its_file_looks_the_same(
    apiserver: FakeApiServer, make_client: MakeClient, tmp_path: Path
) -> None:
    token_file = tmp_path / "token"
    token_file.write_text("one")
    apiserver.token = "one"
    client = make_client(token_file=str(token_file))
    await client.get(PODS)
    stat = token_file.stat()
    token_file.write_text("two")
    os.utime(token_file, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    apiserver.token = "two"

    assert await client.get(PODS) is not None


@pytest.mark.parametrize(
    "path",
    ["/api/../metrics", "/api/.", "/api/v1?x=1", "/api/v1#x", "/a%2e%2e/b", "/a//b", "/a b", "", "@evil/x", "/a\n"],
)
async def test_path_that_the_url_would_read_otherwise_is_never_asked_for(
    apiserver: FakeApiServer, make_client: MakeClient, path: str
) -> None:
    with pytest.raises(ApiServerError, match=r"^cannot ask for "):
        await make_client().get(path)

    assert not apiserver.requests


@pytest.mark.parametrize(
    "url",
    ["https://a..b", "http://a..b", "https://[::1", "https://x:99999", "http://x:y", "https://" + "a" * 70, "ftp://x"],
)
async def test_address_that_is_none_is_an_error_that_names_it(make_client: MakeClient, url: str) -> None:
    client = make_client(url=url)

    with pytest.raises(ApiServerError) as got:
        await client.get(PODS)
    with pytest.raises(ApiServerError) as watched:
        await first_line(client)

    assert all(str(caught.value).startswith("cannot ") and url in str(caught.value) for caught in (got, watched))


@pytest.mark.parametrize(
    "host",
    ["192.0.2.1", "apiserver.invalid", "127.0.0.1.invalid", "127.0.0.1@apiserver.invalid", "[2001:db8::1]", "0.0.0.0"],
)
async def test_token_is_not_sent_in_clear_over_the_network(make_client: MakeClient, tmp_path: Path, host: str) -> None:
    token_file = tmp_path / "token"
    token_file.write_text("secret")
    client = make_client(url=f"http://{host}:6443", token_file=str(token_file))

    with pytest.raises(ApiDenied, match=r"^cannot send the token .*/token to http://.*: not encrypted; use https"):
        await client.get(PODS)


@pytest.mark.parametrize(
    ("url", "clear"),
    [
        ("http://127.0.0.1:8001", False),
        ("http://127.8.9.10", False),
        ("http://[::1]:8001", False),
        ("http://localhost:8001", False),
        ("HTTP://LOCALHOST", False),
        ("https://10.0.0.1", False),
        ("http://10.0.0.1", True),
        ("http://[fe80::1%25eth0]", True),
        ("http://localhost.invalid", True),
        ("ftp://10.0.0.1", True),
    ],
)
def test_only_https_and_this_machine_are_safe_for_a_token(url: str, clear: bool) -> None:
    assert crosses_network_in_clear(url) is clear


async def test_redirect_is_not_followed_with_our_token(make_client: MakeClient, tmp_path: Path) -> None:
    seen: list[str | None] = []

    async def answer(request: web.Request) -> web.Response:
        seen.append(request.headers.get("Authorization"))
        return web.Response(status=302, headers={"Location": "/elsewhere"})

    token_file = tmp_path / "token"
    token_file.write_text("secret")

    async with serve(answer) as url:
        client = make_client(url=url, token_file=str(token_file))
        with pytest.raises(ApiServerError, match="302"):
            await client.get(PODS)
        await client.close()

    assert seen == ["Bearer secret"]


def make_certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """A self-signed certificate for 127.0.0.1 and its key."""
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    subject = ["-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*command, *subject, *files], check=True, capture_output=True)
    return certificate, key


@pytest.mark.skipif(which("openssl") is None, reason="needs the openssl command to make certificates")
class TestTls:
    """Certificates are checked against the CA file, which may be replaced."""

    @pytest.fixture
    def pairs(self, tmp_path: Path) -> list[tuple[Path, Path]]:
        return [make_certificate(tmp_path, name) for name in ("one", "two")]

    async def test_certificate_of_another_authority_is_refused_until_the_ca_file_is_replaced(
        self, pairs: list[tuple[Path, Path]], make_client: MakeClient, tmp_path: Path
    ) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*pairs[0])
        ca_file = tmp_path / "ca.crt"
        ca_file.write_bytes(pairs[1][0].read_bytes())

        async with FakeApiServer(tls=context) as server:
            client = make_client(url=server.url, ca_file=str(ca_file))
            with pytest.raises(ApiServerError, match="cannot reach"):
                await client.get(PODS)
            replacement = tmp_path / "new.crt"
            replacement.write_bytes(pairs[0][0].read_bytes())
            replacement.rename(ca_file)

            assert await client.get(PODS) is not None
            await client.close()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("7", 7.0), ("0", 0.0), ("9999", 300.0), ("9" * 400, 300.0), ("", None), ("-1", None), ("Wed, 21 Oct 2026", None)],
)
def test_retry_after_in_seconds_is_capped_and_anything_else_ignored(text: str, seconds: float | None) -> None:
    assert parse_retry_after(text) == seconds


def test_code_of_an_error_event_gives_the_same_classes() -> None:
    assert [type(api_error("cannot", code)) for code in (410, 403, 500)] == [ApiExpired, ApiDenied, ApiServerError]
