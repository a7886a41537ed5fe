"""The target of the contract suite: the fake API server, or the real one that FUYAOD_TEST_KUBECONFIG names."""

import asyncio
import base64
import contextlib
import ssl
import tempfile
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import msgspec

from tests.apiserver import FakeApiServer

JsonObject = dict[str, Any]

_EVENT_DEADLINE_S = 15.0
_POLL_S = 0.2
PAUSE_IMAGE = "registry.invalid/pause:1"
NO_SCHEDULER = "fuyaod-test-none"
"""Pods of the suite name a scheduler that does not exist, so that a real cluster never runs them."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What the server said; `body` is {} when it was no JSON object."""

    code: int
    body: JsonObject
    headers: dict[str, str]

    @property
    def version(self) -> str:
        """resourceVersion of the object or list."""
        return str(self.body["metadata"]["resourceVersion"])


class Credentials(msgspec.Struct, frozen=True, kw_only=True):
    """Where the server is and how to speak to it."""

    url: str
    headers: dict[str, str]
    tls: ssl.SSLContext | None


def read_kubeconfig(path: Path) -> Credentials:
    """The current context of a kubeconfig: token, client certificate or basic password; no exec plugins."""
    import yaml  # type: ignore[import-untyped]

    config = yaml.safe_load(path.read_text())
    context = _named(config["contexts"], config["current-context"])["context"]
    cluster = _named(config["clusters"], context["cluster"])["cluster"]
    user = _named(config["users"], context["user"])["user"]
    headers = {"Authorization": f"Bearer {user['token']}"} if user.get("token") else {}
    if "tokenFile" in user:
        headers = {"Authorization": f"Bearer {Path(user['tokenFile']).read_text().strip()}"}
    tls = _tls(cluster, user, path.parent) if cluster["server"].startswith("https") else None
    return Credentials(url=cluster["server"].rstrip("/"), headers=headers, tls=tls)


def _named(entries: list[JsonObject], name: str) -> JsonObject:
    return next(entry for entry in entries if entry["name"] == name)


def _tls(cluster: JsonObject, user: JsonObject, base: Path) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if authority := _material(cluster, "certificate-authority", base):
        context = ssl.create_default_context(cadata=authority.decode())
    if cluster.get("insecure-skip-tls-verify"):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if certificate := _material(user, "client-certificate", base):
        key = _material(user, "client-key", base)
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "cert").write_bytes(certificate)
            Path(folder, "key").write_bytes(key)
            context.load_cert_chain(Path(folder, "cert"), Path(folder, "key"))
    return context


def _material(entry: JsonObject, name: str, base: Path) -> bytes:
    if f"{name}-data" in entry:
        return base64.b64decode(entry[f"{name}-data"])
    return (base / entry[name]).read_bytes() if name in entry else b""


class Watch:
    """An open watch: events in order."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    async def next(self) -> tuple[str, JsonObject]:
        """The next event that is no bookmark, as (type, object). Fails after 15 s or at the end of the stream."""
        while True:
            kind, obj = await self.next_of_any_type()
            if kind != "BOOKMARK":
                return kind, obj

    async def next_of_any_type(self) -> tuple[str, JsonObject]:
        """The next event, bookmarks too."""
        async with asyncio.timeout(_EVENT_DEADLINE_S):
            line = await self._response.content.readline()
        assert line, "the watch ended before the event came"
        event = msgspec.json.decode(line)
        return event["type"], event["object"]

    async def names(self, count: int) -> list[tuple[str, str]]:
        """The next `count` events as (type, name)."""
        events = [await self.next() for _ in range(count)]
        return [(kind, obj["metadata"]["name"]) for kind, obj in events]

    async def rest(self) -> list[tuple[str, JsonObject]]:
        """Every event until the server ends the watch."""
        async with asyncio.timeout(_EVENT_DEADLINE_S):
            lines = (await self._response.content.read()).splitlines()
        events = [msgspec.json.decode(line) for line in lines]
        return [(event["type"], event["object"]) for event in events]


class Cluster:
    """A client for one test: its own namespace, and a record of what it made, to be removed at the end."""

    def __init__(self, credentials: Credentials, session: aiohttp.ClientSession, fake: FakeApiServer | None) -> None:
        self.fake = fake
        self.id = f"fuyaod-test-{uuid.uuid4().hex[:10]}"
        self._credentials = credentials
        self._session = session
        self._made: list[str] = []

    @property
    def ns(self) -> str:
        """Path of the test's namespace in the core group."""
        return f"/api/v1/namespaces/{self.id}"

    def group(self, group_version: str) -> str:
        """Path of the test's namespace in another API group."""
        return f"/apis/{group_version}/namespaces/{self.id}"

    async def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        content_type: str = "application/json",
        accept: str = "application/json",
        **query: str,
    ) -> Answer:
        """One request; `body` is JSON, or bytes sent as they are."""
        data = body if isinstance(body, bytes) or body is None else msgspec.json.encode(body)
        headers = {**self._credentials.headers, "Accept": accept, "User-Agent": "contract/1"}
        if data is not None:
            headers["Content-Type"] = content_type
        url = self._credentials.url + path
        request = self._session.request(method, url, data=data, headers=headers, params=query, ssl=self._ssl())
        async with request as response:
            raw = await response.read()
            answer = Answer(code=response.status, body=_parsed(raw), headers=dict(response.headers))
        if method == "POST" and answer.code == 201 and "dryRun" not in query and "metadata" in answer.body:
            self._made.append(f"{path}/{answer.body['metadata'].get('name', '')}")
        return answer

    def _ssl(self) -> ssl.SSLContext | bool:
        return self._credentials.tls or True

    async def ok(self, method: str, path: str, body: Any = None, **options: str) -> Answer:
        """A request that must succeed."""
        answer = await self.call(method, path, body, **options)
        assert answer.code in (200, 201), answer
        return answer

    async def patch(self, path: str, body: Any, patch_type: str = "merge-patch+json", **query: str) -> Answer:
        """A PATCH of one of the patch types."""
        return await self.call("PATCH", path, body, content_type=f"application/{patch_type}", **query)

    @contextlib.asynccontextmanager
    async def watch(self, path: str, *, accept: str = "application/json", **query: str) -> AsyncIterator[Watch]:
        """Open a watch."""
        headers = {**self._credentials.headers, "Accept": accept}
        params = {"timeoutSeconds": "60", **query, "watch": "true"}
        url = self._credentials.url + path
        async with self._session.get(url, headers=headers, params=params, ssl=self._ssl()) as response:
            assert response.status == 200, await response.text()
            yield Watch(response)

    async def until(self, method: str, path: str, code: int, body: Any = None) -> Answer:
        """Repeat a request until it is answered with `code`; fails after 15 s."""
        async with asyncio.timeout(_EVENT_DEADLINE_S):
            while (answer := await self.call(method, path, body)).code != code:  # noqa: ASYNC110 - another process
                await asyncio.sleep(_POLL_S)
        return answer

    async def open(self) -> None:
        """Make the namespace and the service account that pods need."""
        await self.ok("POST", "/api/v1/namespaces", {"metadata": {"name": self.id}})
        await self.call("POST", f"{self.ns}/serviceaccounts", {"metadata": {"name": "default"}})

    async def close(self) -> None:
        """Remove everything the test made, newest first, finalizers included."""
        for path in reversed(self._made):
            await self.patch(path, {"metadata": {"finalizers": None}})
            await self.call("DELETE", path, {"gracePeriodSeconds": 0})

    async def make_node(self, cpu: str = "4", memory: str = "8Gi") -> str:
        """A node of the test's own, with something to allocate; returns its name."""
        name = f"{self.id}-node"
        await self.ok("POST", "/api/v1/nodes", {"metadata": {"name": name, "labels": {"fuyaod-test": "true"}}})
        room = {"cpu": cpu, "memory": memory, "pods": "110"}
        await self.patch(f"/api/v1/nodes/{name}/status", {"status": {"capacity": room, "allocatable": room}})
        return name

    async def make_pod(
        self, name: str, *, node: str = "", labels: dict[str, str] | None = None, **resources: Any
    ) -> Answer:
        """A pod with one container `main` that no scheduler takes."""
        container = {"name": "main", "image": PAUSE_IMAGE, "resources": resources}
        spec = {"containers": [container], "schedulerName": NO_SCHEDULER, "automountServiceAccountToken": False}
        spec |= {"nodeName": node} if node else {}
        return await self.ok(
            "POST", f"{self.ns}/pods", {"metadata": {"name": name, "labels": labels or {}}, "spec": spec}
        )

    async def set_running(self, name: str) -> None:
        """Report a pod running and ready, as its kubelet would."""
        conditions = [{"type": kind, "status": "True"} for kind in ("Ready", "ContainersReady", "Initialized")]
        answer = await self.patch(
            f"{self.ns}/pods/{name}/status", {"status": {"phase": "Running", "conditions": conditions}}
        )
        assert answer.code == 200, answer


def _parsed(raw: bytes) -> JsonObject:
    try:
        value = msgspec.json.decode(raw)
    except msgspec.DecodeError:
        return {}
    return value if isinstance(value, dict) else {}
