"""How an object is prepared before it is stored: identity, defaults, schema, isolation of status from the rest."""

import random
import re
import uuid

from tests.apiserver import crds, pods, schema
from tests.apiserver.errors import ApiError, JsonObject, invalid
from tests.apiserver.kinds import Resource
from tests.apiserver.timestamps import now_text

_NAME = re.compile(r"^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$")
_SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_FIXED_METADATA = (
    "name",
    "namespace",
    "uid",
    "creationTimestamp",
    "generateName",
    "generation",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "resourceVersion",
)


def check_identity(resource: Resource, namespace: str, body: JsonObject) -> None:
    """Raise ApiError 400 when the body contradicts the URL in kind, version or namespace."""
    for field, expected in (("apiVersion", resource.api_version), ("kind", resource.kind)):
        given = body.get(field)
        if given != expected and (given or resource.custom):
            raise ApiError(400, f"{field} in the object ({given}) does not match the expected one ({expected})")
    if body.get("metadata") is not None and not isinstance(body["metadata"], dict):
        raise ApiError(400, "metadata must be an object")
    given = (body.get("metadata") or {}).get("namespace")
    if given and given != namespace:
        raise ApiError(400, "the namespace of the provided object does not match the namespace sent on the request")


def named(resource: Resource, namespace: str, body: JsonObject) -> JsonObject:
    """A new object with its metadata completed: name (from generateName if need be), uid, creation time, generation.

    Raises ApiError 422 for a missing or malformed name, 500 for a resource version that a new object cannot have.
    """
    metadata = {key: value for key, value in (body.get("metadata") or {}).items() if value is not None}
    if metadata.pop("resourceVersion", ""):
        raise ApiError(500, "resourceVersion should not be set on objects to be created")
    if not metadata.get("name") and metadata.get("generateName"):
        metadata["name"] = metadata["generateName"] + "".join(random.choices(_SUFFIX_LETTERS, k=5))
    name = metadata.get("name", "")
    if not name:
        raise invalid(
            resource.kind,
            name,
            [("FieldValueRequired", "metadata.name", "Required value: name or generateName is required")],
        )
    if not _NAME.match(name) and not resource.group.startswith("rbac"):
        message = f'Invalid value: "{name}": not a lowercase RFC 1123 subdomain'
        raise invalid(resource.kind, name, [("FieldValueInvalid", "metadata.name", message)])
    for unset in ("deletionTimestamp", "deletionGracePeriodSeconds", "managedFields", "generation", "selfLink"):
        metadata.pop(unset, None)
    metadata |= {"uid": str(uuid.uuid4()), "creationTimestamp": now_text()}
    metadata |= {"namespace": namespace} if resource.namespaced else {}
    metadata |= {"generation": 1} if resource.counts_generation else {}
    return {**body, "apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata}


def prepared(resource: Resource, obj: JsonObject, strict: bool) -> JsonObject:
    """A new object as its kind is stored: defaults filled in, status as at birth, checked. Raises ApiError."""
    if "status" in resource.subresources and resource.kind != "Node":
        obj = {key: value for key, value in obj.items() if key != "status"}
    if resource.custom:
        return conforming(resource, obj, strict)
    match resource.kind:
        case "Pod":
            pods.check_pod(obj)
            return pods.with_defaults(obj)
        case "Namespace":
            labels = {"kubernetes.io/metadata.name": obj["metadata"]["name"], **obj["metadata"].get("labels", {})}
            metadata = {**obj["metadata"], "labels": labels}
            return {**obj, "metadata": metadata, "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}}
        case "CustomResourceDefinition":
            crds.check_crd(obj)
            return crds.established(obj)
        case "Event" if obj.get("involvedObject", {}).get("namespace", "") not in ("", obj["metadata"]["namespace"]):
            cause = ("FieldValueInvalid", "involvedObject.namespace", "Invalid value: does not match event.namespace")
            raise invalid("Event", obj["metadata"]["name"], [cause])
        case _:
            return obj


def conforming(resource: Resource, obj: JsonObject, strict: bool) -> JsonObject:
    """A custom object pruned, defaulted and validated by its schema.

    Raises ApiError 422 when it breaks the schema, 400 under strict field validation when something was pruned.
    """
    dropped: list[str] = []
    kept = schema.pruned(resource.schema, obj, dropped)
    if dropped and strict:
        raise ApiError(400, "strict decoding error: " + ", ".join(f'unknown field "{path}"' for path in dropped))
    filled: JsonObject = schema.defaulted(resource.schema, kept)
    if causes := schema.violations(resource.schema, filled, ""):
        raise invalid(f"{resource.kind}.{resource.group}", obj["metadata"]["name"], causes)
    return filled


def changed(resource: Resource, old: JsonObject, new: JsonObject, subresource: str) -> JsonObject:
    """`new` with everything restored from `old` that a write to this subresource cannot change."""
    fixed = {key: old["metadata"][key] for key in _FIXED_METADATA if key in old["metadata"]}
    free = {key: value for key, value in new["metadata"].items() if key not in _FIXED_METADATA and value is not None}
    metadata = free | fixed
    head = {"apiVersion": old["apiVersion"], "kind": old["kind"]}
    if subresource == "":
        body = {key: value for key, value in new.items() if key != "status" or "status" not in resource.subresources}
        status = {"status": old["status"]} if "status" in resource.subresources and "status" in old else {}
        return body | status | head | {"metadata": metadata}
    if subresource == "status":
        body = {key: value for key, value in old.items() if key != "status"}
        status = {"status": new["status"]} if "status" in new else {}
        return body | status | head | {"metadata": old["metadata"] if resource.custom else metadata}
    return {**old, "spec": new["spec"]}


def wants_generation(resource: Resource, old: JsonObject, new: JsonObject) -> bool:
    """Whether a change counts as one of the desired state."""
    if not resource.counts_generation:
        return False
    if not resource.custom:
        return bool(old.get("spec") != new.get("spec"))
    ignored = ("metadata", "status") if "status" in resource.subresources else ("metadata",)
    return {k: v for k, v in old.items() if k not in ignored} != {k: v for k, v in new.items() if k not in ignored}


def without_bookkeeping(obj: JsonObject) -> JsonObject:
    """The object without what changes by itself at a write: equal before and after means the write was none."""
    volatile = ("managedFields", "resourceVersion", "generation")
    return {**obj, "metadata": {key: value for key, value in obj["metadata"].items() if key not in volatile}}
