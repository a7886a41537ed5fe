"""Where the API server is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

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
