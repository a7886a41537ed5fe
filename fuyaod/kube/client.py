"""Raw JSON over HTTP: GET and WATCH with limits on size and time, and failures as `ApiServerError`."""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Annotated, Final, NoReturn

import aiohttp
from msgspec import Meta

from fuyaod.errors import ApiDenied, ApiExpired, ApiServerError, ApiSilent
from fuyaod.kube.address import ApiAddress, crosses_network_in_clear
from fuyaod.kube.credentials import CaFile, TokenFile
from fuyaod.kube.lines import bounded_lines
from fuyaod.kube.wire import decode_status
from fuyaod.model.values import Value

USER_AGENT: Final = "fuyaod"
METADATA_ONLY: Final = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
"""Source: Kubernetes documentation, "Kubernetes API Concepts", section on metadata-only fetches."""

MAX_ERROR_BYTES: Final = 16 * 1024
MAX_RETRY_AFTER_S: Final = 300.0

_PLAIN_PATH: Final = re.compile(r"(/(?!\.{1,2}(/|$))[A-Za-z0-9._-]+)+")

Positive = Annotated[float, Meta(gt=0)]


class Limits(Value, frozen=True, kw_only=True):
    """What one request may take.

    `max_body_bytes`: a whole answer. `max_line_bytes`: one event of a watch; etcd refuses objects above 1.5 MiB.
    `connect_s`: until connected. `answer_s`: until the answer begins, and between two of its bytes. `total_s`: a whole
    GET.
    """

    max_body_bytes: int = 32 * 1024 * 1024
    max_line_bytes: int = 2 * 1024 * 1024
    connect_s: Positive = 5.0
    answer_s: Positive = 15.0
    total_s: Positive = 60.0


class KubeClient:
    """One connection pool to one API server. Use inside a running event loop, `close` at the end.

    Args:
        address: where the server is.
        limits: of every request.
    """

    def __init__(self, address: ApiAddress, limits: Limits | None = None) -> None:
        self.url = address.url
        self._limits = limits or Limits()
        self._token = TokenFile(address.token_file)
        self._ca = CaFile(address.ca_file) if address.url.startswith("https://") else None
        self._session: aiohttp.ClientSession | None = None

    async def get(
        self, path: str, query: Mapping[str, str] | None = None, *, metadata_only: bool = False
    ) -> bytearray | None:
        """The body of a 200, None for 404.

        Raises:
            ApiServerError: or one of its kinds, for everything else.
        """
        accept = METADATA_ONLY if metadata_only else "application/json"
        try:
            async with asyncio.timeout(self._limits.total_s):
                response = await self._request(path, query or {}, accept)
                async with response:
                    if response.status == 404:
                        return None
                    await self._check(path, response)
                    return await self._read(path, response, self._limits.max_body_bytes)
        except (aiohttp.ClientError, OSError) as error:  # TimeoutError is an OSError
            self._fail(path, error)

    @asynccontextmanager
    async def watch(
        self, path: str, query: Mapping[str, str], silent_after_s: float
    ) -> AsyncIterator[AsyncIterator[bytes | None]]:
        """The lines of a watch that the server accepted; None stands for one above the limit.

        Raises:
            ApiSilent: no byte for `silent_after_s` seconds.
            ApiServerError: or one of its kinds; also while the lines are read.
        """
        try:
            response = await self._request(path, query, "application/json")
            async with response:
                await self._check(path, response)
                yield bounded_lines(response.content, self._limits.max_line_bytes, silent_after_s)
        except TimeoutError as error:
            text = f"cannot watch {self.url}{path}: no byte for {silent_after_s:g} s"
            raise ApiSilent(text) from error
        except (aiohttp.ClientError, OSError) as error:
            self._fail(path, error)

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _request(self, path: str, query: Mapping[str, str], accept: str) -> aiohttp.ClientResponse:
        response = await self._send(path, query, accept)
        if response.status != 401:
            return response
        # The token may have been replaced between our read and this request.
        response.release()
        self._token.forget()
        return await self._send(path, query, accept)

    async def _send(self, path: str, query: Mapping[str, str], accept: str) -> aiohttp.ClientResponse:
        # Names of objects become part of it: nothing may be left that a URL reads as something else than a name.
        if not _PLAIN_PATH.fullmatch(path):
            raise ApiServerError(f"cannot ask for {path[:300]!a}: no plain path")
        headers = {"Accept": accept, "Accept-Encoding": "identity", "User-Agent": USER_AGENT}
        tls: ssl.SSLContext | bool = self._ca.context() if self._ca is not None else True
        try:
            headers |= self._authorization()
            async with asyncio.timeout(self._limits.connect_s + self._limits.answer_s):
                return await self._pool().get(
                    self.url + path, params=query, headers=headers, ssl=tls, allow_redirects=False
                )
        except TimeoutError as error:
            raise ApiServerError(f"cannot reach {self.url}{path}: no answer in time") from error
        except aiohttp.ClientError:  # some are ValueErrors, too
            raise
        except ValueError as error:  # UnicodeError is one
            raise ApiServerError(f"cannot use the address {self.url}: {error}") from error

    def _authorization(self) -> dict[str, str]:
        if self._token.path and crosses_network_in_clear(self.url):
            raise ApiDenied(
                f"cannot send the token {self._token.path} to {self.url}: not encrypted; use https, or no token_file"
            )
        return self._token.headers()

    def _pool(self) -> aiohttp.ClientSession:
        if self._session is None:
            timeout = aiohttp.ClientTimeout(total=None, sock_connect=self._limits.connect_s)
            self._session = aiohttp.ClientSession(
                timeout=timeout,
                connector=aiohttp.TCPConnector(limit=4, enable_cleanup_closed=False),
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._session

    async def _read(self, path: str, response: aiohttp.ClientResponse, limit: int) -> bytearray:
        body = bytearray()
        while True:
            async with asyncio.timeout(self._limits.answer_s):
                chunk = await response.content.readany()
            if not chunk:
                return body
            body += chunk
            if len(body) > limit:
                raise ApiServerError(f"cannot read {self.url}{path}: answer of more than {limit} bytes")

    async def _check(self, path: str, response: aiohttp.ClientResponse) -> None:
        if response.status == 200:
            return
        message = await self._message(path, response)
        raise api_error(
            f"cannot read {self.url}{path}: {response.status} {message}",
            response.status,
            parse_retry_after(response.headers.get("Retry-After", "")),
        )

    async def _message(self, path: str, response: aiohttp.ClientResponse) -> str:
        try:
            status = decode_status(await self._read(path, response, MAX_ERROR_BYTES))
        except (ApiServerError, aiohttp.ClientError, OSError):
            status = None
        return (status.message or status.reason if status is not None else "") or (response.reason or "")

    def _fail(self, path: str, error: Exception) -> NoReturn:
        if isinstance(error, TimeoutError):
            raise ApiServerError(f"cannot read {self.url}{path}: the answer stopped half-way") from error
        raise ApiServerError(f"cannot reach {self.url}{path}: {str(error) or type(error).__name__}") from error


def api_error(text: str, code: int, retry_after_s: float | None = None) -> ApiServerError:
    """The right class for a status code, of an answer or of an ERROR event."""
    kinds = {401: ApiDenied, 403: ApiDenied, 410: ApiExpired}
    return kinds.get(code, ApiServerError)(text, code=code, retry_after_s=retry_after_s)


def parse_retry_after(text: str) -> float | None:
    """Seconds of a Retry-After header, at most 300; None when it is absent, a date, or nonsense."""
    if not (text.isascii() and text.isdigit()):
        return None
    return min(float(text[:9]), MAX_RETRY_AFTER_S)
