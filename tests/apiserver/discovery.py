"""Discovery documents and the version."""

from tests.apiserver.errors import JsonObject
from tests.apiserver.kinds import Registry, Resource

_VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
_SUBRESOURCE_KINDS = {
    "eviction": ("policy", "v1", "Eviction", ["create"]),
    "binding": ("", "", "Binding", ["create"]),
}


def document(path: str, registry: Registry) -> JsonObject | None:
    """The discovery document at a path, None when there is none."""
    match [part for part in path.split("/") if part]:
        case ["api"]:
            return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}
        case ["api", "v1"]:
            return _resource_list("v1", [r for r in registry.all() if not r.group])
        case ["apis"]:
            groups = sorted({r.group for r in registry.all() if r.group})
            return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [_group(group, registry) for group in groups]}
        case ["apis", group]:
            known = any(r.group == group for r in registry.all())
            return {"kind": "APIGroup", "apiVersion": "v1", **_group(group, registry)} if known else None
        case ["apis", group, version]:
            served = [r for r in registry.all() if (r.group, r.version) == (group, version)]
            return _resource_list(f"{group}/{version}", served) if served else None
        case ["version"]:
            return {
                "major": "1",
                "minor": "36",
                "gitVersion": "v1.36.2-fake",
                "gitCommit": "0" * 40,
                "gitTreeState": "clean",
                "buildDate": "2026-01-01T00:00:00Z",
                "goVersion": "none",
                "compiler": "none",
                "platform": "linux/amd64",
            }
        case _:
            return None


def _group(group: str, registry: Registry) -> JsonObject:
    versions = sorted({r.version for r in registry.all() if r.group == group})
    listed = [{"groupVersion": f"{group}/{version}", "version": version} for version in versions]
    return {"name": group, "versions": listed, "preferredVersion": listed[-1]}


def _resource_list(group_version: str, resources: list[Resource]) -> JsonObject:
    entries = []
    for resource in resources:
        entries.append(_entry(resource))
        entries += [_sub_entry(resource, subresource) for subresource in sorted(resource.subresources)]
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": entries}


def _entry(resource: Resource) -> JsonObject:
    entry: JsonObject = {
        "name": resource.plural,
        "singularName": resource.kind.lower(),
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": _VERBS,
    }
    return entry | ({"shortNames": list(resource.short_names)} if resource.short_names else {})


def _sub_entry(resource: Resource, subresource: str) -> JsonObject:
    group, version, kind, verbs = _SUBRESOURCE_KINDS.get(
        subresource, ("", "", resource.kind, ["get", "patch", "update"])
    )
    entry: JsonObject = {
        "name": f"{resource.plural}/{subresource}",
        "singularName": "",
        "namespaced": resource.namespaced,
        "kind": kind,
        "verbs": verbs,
    }
    return entry | ({"group": group, "version": version} if group else {})
