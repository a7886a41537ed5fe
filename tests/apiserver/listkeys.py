"""Which lists are merged by key, for strategic merge patches and server-side apply."""

from tests.apiserver.errors import JsonObject
from tests.apiserver.kinds import Resource

# Source: patchMergeKey tags of the Kubernetes API types (k8s.io/api core/v1, apps/v1, batch/v1, policy/v1).
_KEY_OF_FIELD = {
    "addresses": "type",
    "conditions": "type",
    "containers": "name",
    "env": "name",
    "ephemeralContainers": "name",
    "hostAliases": "ip",
    "hostIPs": "ip",
    "imagePullSecrets": "name",
    "initContainers": "name",
    "ownerReferences": "uid",
    "podIPs": "ip",
    "ports": "containerPort",
    "resourceClaims": "name",
    "secrets": "name",
    "topologySpreadConstraints": "topologyKey",
    "volumeDevices": "devicePath",
    "volumeMounts": "mountPath",
    "volumes": "name",
}
_KEY_OF_SERVICE_FIELD = {"ports": "port"}
_SETS = {"finalizers"}


def merge_keys(resource: Resource, path: tuple[str, ...]) -> tuple[str, ...]:
    """The keys that identify an item of the list at `path` (field names only); empty when the list is atomic."""
    if path[:1] != ("metadata",) and resource.custom:
        return _keys_in_schema(resource.schema, path)
    if not path:
        return ()
    if resource.kind == "Service" and path[-1] in _KEY_OF_SERVICE_FIELD:
        return (_KEY_OF_SERVICE_FIELD[path[-1]],)
    key = _KEY_OF_FIELD.get(path[-1])
    return (key,) if key else ()


def is_set(resource: Resource, path: tuple[str, ...]) -> bool:
    """Whether the list at `path` holds scalars that are merged as a set."""
    if path[:1] != ("metadata",) and resource.custom:
        return _node(resource.schema, path).get("x-kubernetes-list-type") == "set"
    return bool(path) and path[-1] in _SETS


def _keys_in_schema(schema: JsonObject, path: tuple[str, ...]) -> tuple[str, ...]:
    node = _node(schema, path)
    if node.get("x-kubernetes-list-type") != "map":
        return ()
    return tuple(node.get("x-kubernetes-list-map-keys", ()))


def _node(schema: JsonObject, path: tuple[str, ...]) -> JsonObject:
    for name in path:
        schema = schema.get("items", schema)
        child = schema.get("properties", {}).get(name)
        extra = schema.get("additionalProperties")
        schema = child if child is not None else extra if isinstance(extra, dict) else {}
    return schema
