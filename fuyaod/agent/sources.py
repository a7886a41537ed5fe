"""Which pod sources this node has beyond its own files."""

from __future__ import annotations

from collections.abc import Mapping

from fuyaod.agent.counters import AgentCounters
from fuyaod.agent.log import Logger
from fuyaod.hostfs import HostRoot
from fuyaod.model.pods import PodSource
from fuyaod.model.settings import Settings


class KubernetesTask:
    """x"""

    source: PodSource

    async def run(self, counters: AgentCounters) -> None:
        """x"""


def kubernetes_task(
    settings: Settings, environment: Mapping[str, str], host: HostRoot, log: Logger
) -> KubernetesTask | None:
    """x"""
    return None
