"""Kubernetes as the node sees it: the only place of the agent that speaks to the API server.

address, credentials   where the server is, and files that change under us (token hourly, CA rarely)
client, lines          HTTP with limits and deadlines; watches line by line in bounded memory
wire, quantity         the fields that are read, and nothing else of the objects
observe/               the watch of this node's pods, their owners' labels: a `PodSource`
"""

from fuyaod.kube.address import ApiAddress, find_address
from fuyaod.kube.client import KubeClient
from fuyaod.kube.observe import KubernetesPodSource

__all__ = ["ApiAddress", "KubeClient", "KubernetesPodSource", "find_address"]
