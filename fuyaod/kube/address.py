"""Where the API server is."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from fuyaod.model.settings import Kubernetes, Switch
from fuyaod.model.values import Value

SERVICE_ACCOUNT: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
"""Where a pod finds its token and the CA. Source: Kubernetes documentation, "Accessing the Kubernetes API from a
Pod"."""


class ApiAddress(Value, frozen=True, kw_only=True):
    """`url` without a trailing slash. `token_file` and `ca_file` are empty where none is used."""

    url: str
    token_file: str = ""
    ca_file: str = ""


def find_address(settings: Kubernetes, environment: Mapping[str, str]) -> ApiAddress | None:
    """The server that the settings name, else the one every pod is told of; None when it is off or there is none.

    Source: Kubernetes documentation, "Accessing the Kubernetes API from a Pod" (KUBERNETES_SERVICE_HOST and _PORT).
    """
    if settings.enabled is Switch.OFF:
        return None
    if settings.server:
        url = settings.server.rstrip("/")
        ca_file = settings.ca_file if url.startswith("https://") else ""
        return ApiAddress(url=url, token_file=settings.token_file, ca_file=ca_file)
    url = _in_cluster_url(environment)
    if not url:
        return None
    return ApiAddress(
        url=url,
        token_file=settings.token_file or f"{SERVICE_ACCOUNT}/token",
        ca_file=settings.ca_file or f"{SERVICE_ACCOUNT}/ca.crt",
    )


def _in_cluster_url(environment: Mapping[str, str]) -> str:
    host = environment.get("KUBERNETES_SERVICE_HOST", "")
    port = environment.get("KUBERNETES_SERVICE_PORT", "443")
    if not host:
        return ""
    return f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"


def crosses_network_in_clear(url: str) -> bool:
    """Whether others could read what is sent there: anything but https, unless it stays on this machine.

    Raises:
        ValueError: it is no URL.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme == "https" or host == "localhost":
        return False
    try:
        return not ip_address(host).is_loopback
    except ValueError:
        return True
