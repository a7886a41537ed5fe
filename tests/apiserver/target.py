"""What a request is about: verb, resource, namespace, name, subresource."""

from collections.abc import Mapping
from dataclasses import dataclass

from tests.apiserver.errors import ApiError
from tests.apiserver.kinds import Registry, Resource

_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch"}
_TRUE = ("1", "true", "True")


@dataclass(frozen=True, kw_only=True)
class Target:
    """A request for a resource; `name` is '' for a collection, `namespace` '' for all of them or a cluster-scoped
    resource.
    """

    verb: str
    resource: Resource
    namespace: str = ""
    name: str = ""
    subresource: str = ""


def parse_target(method: str, path: str, query: Mapping[str, str], registry: Registry) -> Target | None:
    """What a request means, or None when its path is no resource path. Raises ApiError 404 for an unknown resource,
    405.
    """
    parts = [part for part in path.split("/") if part]
    match parts:
        case ["api", version, *rest] if rest:
            group = ""
        case ["apis", group, version, *rest] if rest:
            pass
        case _:
            return None
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in ("status", "finalize"):
        namespace, rest = rest[1], rest[2:]
    resource = registry.find(group, version, rest[0])
    if resource is None or len(rest) > 3:
        raise ApiError(404, "the server could not find the requested resource")
    name, subresource = (rest[1] if len(rest) > 1 else ""), (rest[2] if len(rest) > 2 else "")
    if subresource and subresource not in resource.subresources:
        raise ApiError(404, "the server could not find the requested resource")
    verb = _verb(method, name, query)
    if resource.namespaced and not namespace and verb not in ("list", "watch"):
        raise ApiError(405, "the server does not allow this method on the requested resource")
    return Target(verb=verb, resource=resource, namespace=namespace, name=name, subresource=subresource)


def _verb(method: str, name: str, query: Mapping[str, str]) -> str:
    if method == "GET":
        if name:
            return "get"
        return "watch" if is_true(query, "watch") else "list"
    if method == "DELETE":
        return "delete" if name else "deletecollection"
    if method not in _VERBS:
        raise ApiError(405, "the server does not allow this method on the requested resource")
    return _VERBS[method]


def is_true(query: Mapping[str, str], key: str) -> bool:
    """Whether a boolean query parameter is set."""
    return query.get(key, "") in _TRUE
