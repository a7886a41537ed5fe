"""The Kubernetes pod source as a task of the daemon, where there is an API server to ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fuyaod.errors import FuyaodError
from fuyaod.hostfs import HostRoot
from fuyaod.kube.address import find_address
from fuyaod.kube.client import KubeClient
from fuyaod.kube.observe import KubernetesPodSource
from fuyaod.model.cgroup import CgroupTree
from fuyaod.model.pods import PodSource, SourceHealth, SourceKind, SourceReport, SourceState
from fuyaod.model.settings import Settings, Switch
from fuyaod.node.identity import observe_identity


class NoKubernetes:
    """A source that says why there is none. A `PodSource`."""

    def __init__(self, detail: str, now_ns: int) -> None:
        self._health = SourceHealth(
            kind=SourceKind.KUBERNETES, state=SourceState.OFF, since_ns=now_ns, details=(detail,)
        )

    def report(self, tree: CgroupTree, at_ns: int) -> SourceReport:
        """Nothing, and why."""
        return SourceReport(health=self._health)


class KubernetesTask:
    """The source, and what keeps it informed.

    Attributes:
        source: what the observer asks.
    """

    def __init__(self, source: KubernetesPodSource | NoKubernetes, client: KubeClient | None) -> None:
        self.source: PodSource = source
        self._following = source if isinstance(source, KubernetesPodSource) else None
        self._client = client

    async def run(self) -> None:
        """Follows the API server until cancelled, then closes the connection; without a server it ends at once."""
        if self._following is None or self._client is None:
            return
        try:
            await self._following.run()
        finally:
            await self._client.close()


def kubernetes_task(
    settings: Settings, environment: Mapping[str, str], host: HostRoot, now_ns: Callable[[], int]
) -> KubernetesTask:
    """The task for this node.

    Raises:
        FuyaodError: Kubernetes is switched on and no API server is known.
    """
    wanted = settings.kubernetes
    address = find_address(wanted, environment)
    if address is None:
        if wanted.enabled is Switch.ON:
            raise FuyaodError(
                "cannot find the API server: kubernetes.enabled is on, kubernetes.server is empty and "
                "KUBERNETES_SERVICE_HOST is not set; set kubernetes.server (or FUYAOD_KUBERNETES__SERVER)"
            )
        why = "switched off" if wanted.enabled is Switch.OFF else "not in a pod, and kubernetes.server is not set"
        return KubernetesTask(NoKubernetes(why, now_ns()), None)
    name = observe_identity(host, settings.node.name).node_name
    client = KubeClient(address)
    return KubernetesTask(KubernetesPodSource(client, name, now_ns, owner_labels=wanted.owner_labels), client)
