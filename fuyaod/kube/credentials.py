"""Files that are replaced while the agent runs: the service account's token and the cluster's CA."""

from __future__ import annotations

import ssl
from pathlib import Path

from fuyaod.errors import ApiDenied

Signature = tuple[int, int, int]

MAX_TOKEN_BYTES = 64 * 1024


class TokenFile:
    """A bearer token in a file that kubelet replaces, about once an hour. The token is in no message and no repr.

    Args:
        path: the file; empty for no token.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._signature: Signature | None = None
        self._token = ""

    def headers(self) -> dict[str, str]:
        """The Authorization header, with the token as it is in the file now; {} without a file name.

        Raises:
            ApiDenied: the file cannot be read or holds no token.
        """
        if not self.path:
            return {}
        try:
            signature = _signature(self.path)
            if signature != self._signature:
                self._read(signature)
        except OSError as error:
            raise ApiDenied(f"cannot read the token {self.path}: {error.strerror}") from error
        return {"Authorization": f"Bearer {self._token}"}

    def forget(self) -> None:
        """Read the file again next time, whatever its time stamps say."""
        self._signature = None

    def _read(self, signature: Signature) -> None:
        with Path(self.path).open("rb") as file:
            raw = file.read(MAX_TOKEN_BYTES + 1).strip()
        # A header cannot carry line breaks or other controls; aiohttp would quote them in its message.
        if not raw or len(raw) > MAX_TOKEN_BYTES or any(byte <= 0x20 or byte >= 0x7F for byte in raw):
            raise ApiDenied(f"cannot use the token {self.path}: {len(raw)} bytes that are no bearer token")
        self._token, self._signature = raw.decode("ascii"), signature


class CaFile:
    """Trust in the certificates of one file, taken anew when the file changes.

    Args:
        path: PEM file; empty for the system's own store.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._signature: Signature | None = None
        self._context: ssl.SSLContext | None = None

    def context(self) -> ssl.SSLContext:
        """A client context.

        Raises:
            ApiDenied: the file cannot be read or holds no certificate.
        """
        try:
            signature = _signature(self._path) if self._path else None
            if self._context is None or signature != self._signature:
                self._context = ssl.create_default_context(cafile=self._path or None)
                self._signature = signature
        except OSError as error:  # ssl.SSLError is one
            raise ApiDenied(f"cannot use the CA file {self._path}: {error.strerror or error}") from error
        return self._context


def _signature(path: str) -> Signature:
    """What changes when the file is replaced; follows the links that kubelet swaps."""
    stat = Path(path).stat()
    return stat.st_ino, stat.st_mtime_ns, stat.st_size
