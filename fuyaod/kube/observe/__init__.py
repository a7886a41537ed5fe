"""The pods of this node and their owners' labels, from the API server."""

from fuyaod.kube.observe.source import KubernetesPodSource, Timing

__all__ = ["KubernetesPodSource", "Timing"]
