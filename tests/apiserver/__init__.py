"""An in-process Kubernetes API server for tests.

It speaks the API over HTTP: resource versions, watch with bookmarks and 410, every patch kind, subresources, custom
resources and discovery. It has no controllers, no scheduler and no kubelet, like a bare kube-apiserver.
`tests/contract/test_apiserver.py` runs the same checks against it and against a real server, so a behaviour is added
there first.

Not modelled: protobuf and CBOR bodies, YAML in apply patches, CEL rules, admission webhooks, RBAC (a fault answers 403
on demand), defaulting of built-in kinds beyond what the tests of this project read, conversion of custom resources,
aggregated discovery, the OpenAPI documents.
"""

from tests.apiserver.faults import Cut, Fault, Garbage, Hang, Latency, Refuse, Stall
from tests.apiserver.server import FakeApiServer

__all__ = ["Cut", "FakeApiServer", "Fault", "Garbage", "Hang", "Latency", "Refuse", "Stall"]
