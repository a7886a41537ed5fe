"""How objects are shown: full, or metadata only (PartialObjectMetadata), as the Accept header asks."""

from tests.apiserver.errors import ApiError, JsonObject
from tests.apiserver.kinds import Resource

_ANY = ("application/json", "application/*", "*/*", "")


def wants_metadata_only(accept: str) -> bool:
    """Whether the client prefers PartialObjectMetadata. Raises ApiError 406 when it takes no JSON at all."""
    for entry in accept.split(","):
        media, *parameters = [part.strip() for part in entry.split(";")]
        given = {key: value for key, _, value in (parameter.partition("=") for parameter in parameters)}
        if media not in _ANY:
            continue
        shape = given.get("as", "")
        if shape in ("PartialObjectMetadata", "PartialObjectMetadataList") and given.get("g") == "meta.k8s.io":
            return True
        if not shape:
            return False
    raise ApiError(406, "only the following media types are accepted: application/json")


def shown(obj: JsonObject, resource: Resource, metadata_only: bool) -> JsonObject:
    """One object as the client wants it, in the version of the URL."""
    if metadata_only:
        return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": obj["metadata"]}
    return {**obj, "apiVersion": resource.api_version}


def as_list(items: list[JsonObject], resource: Resource, metadata: JsonObject, metadata_only: bool) -> JsonObject:
    """A list object. Items of built-in lists carry no kind and version of their own, as on the real server."""
    if metadata_only:
        bare = [shown(item, resource, True) for item in items]
        return {
            "kind": "PartialObjectMetadataList",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": metadata,
            "items": bare,
        }
    if not resource.custom:
        items = [{key: value for key, value in item.items() if key not in ("kind", "apiVersion")} for item in items]
    else:
        items = [shown(item, resource, False) for item in items]
    return {"kind": resource.list_kind, "apiVersion": resource.api_version, "metadata": metadata, "items": items}
