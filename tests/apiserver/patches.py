"""JSON, merge and strategic merge patches."""

from typing import Any

import msgspec

from tests.apiserver.errors import ApiError, JsonObject
from tests.apiserver.kinds import Resource
from tests.apiserver.listkeys import is_set, merge_keys
from tests.apiserver.store import clone

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"


def decode(body: bytes) -> Any:
    """A JSON request body. Raises ApiError 400 when it is not JSON."""
    try:
        return msgspec.json.decode(body)
    except msgspec.DecodeError as error:
        raise ApiError(400, f"the object provided is unrecognized: {error}") from error


def patched(resource: Resource, current: JsonObject, content_type: str, body: bytes) -> JsonObject:
    """`current` with a JSON, merge or strategic patch applied; `current` itself is left alone.

    Raises ApiError 415 for a patch type the resource does not take, 400 or 422 for a patch that cannot be applied.
    """
    patch = decode(body)
    if content_type == JSON_PATCH:
        return json_patch(current, patch)
    if not isinstance(patch, dict):
        raise ApiError(400, "a merge patch must be an object")
    if content_type == MERGE_PATCH:
        merged: JsonObject = merge_patch(clone(current), patch)
        return merged
    if content_type == STRATEGIC_PATCH and not resource.custom:
        return strategic_patch(resource, clone(current), patch, ())
    raise ApiError(415, f"the body of the request was in an unknown format - {content_type}")


def merge_patch(target: Any, patch: Any) -> Any:
    """RFC 7386. Changes `target` where it can; use the result."""
    if not isinstance(patch, dict):
        return patch
    merged = target if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged


def json_patch(current: JsonObject, operations: Any) -> JsonObject:
    """RFC 6902. Raises ApiError 422 when an operation does not apply, 400 when the patch is malformed."""
    if not isinstance(operations, list) or not all(isinstance(op, dict) and "path" in op for op in operations):
        raise ApiError(400, "a JSON patch must be a list of operations with a path")
    document: Any = clone(current)
    for operation in operations:
        try:
            document = _operate(document, operation)
        except (KeyError, IndexError, ValueError, TypeError) as error:
            raise ApiError(422, f"cannot apply {operation.get('op')} at {operation['path']}: {error!r}") from error
    if not isinstance(document, dict):
        raise ApiError(422, "a JSON patch must leave an object")
    return document


def _operate(document: Any, operation: JsonObject) -> Any:
    path = _pointer(operation["path"])
    match operation.get("op"):
        case "add":
            return _add(document, path, operation["value"])
        case "remove":
            return _remove(document, path)
        case "replace":
            _lookup(document, path)
            return _add(_remove(document, path), path, operation["value"]) if path else operation["value"]
        case "move":
            source = _pointer(operation["from"])
            value = _lookup(document, source)
            return _add(_remove(document, source), path, value)
        case "copy":
            value = msgspec.json.decode(msgspec.json.encode(_lookup(document, _pointer(operation["from"]))))
            return _add(document, path, value)
        case "test":
            if _lookup(document, path) != operation.get("value"):
                raise ValueError("test failed")
            return document
        case other:
            raise ValueError(f"unknown operation {other}")


def _pointer(text: str) -> list[str]:
    if text and not text.startswith("/"):
        raise ValueError(f"not a JSON pointer: {text}")
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]


def _lookup(document: Any, path: list[str]) -> Any:
    for part in path:
        document = document[_index(part)] if isinstance(document, list) else document[part]
    return document


def _index(part: str) -> int:
    if not part.isdecimal():
        raise ValueError(f"not an index: {part}")
    return int(part)


def _add(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    parent = _lookup(document, path[:-1])
    if not isinstance(parent, list):
        parent[path[-1]] = value
        return document
    index = len(parent) if path[-1] == "-" else _index(path[-1])
    if index > len(parent):
        raise IndexError(f"index {index} is beyond the end")
    parent.insert(index, value)
    return document


def _remove(document: Any, path: list[str]) -> Any:
    parent = _lookup(document, path[:-1])
    del parent[_index(path[-1]) if isinstance(parent, list) else path[-1]]
    return document


def strategic_patch(resource: Resource, target: JsonObject, patch: JsonObject, path: tuple[str, ...]) -> JsonObject:
    """Strategic merge with its directives ($patch, $retainKeys, $deleteFromPrimitiveList, $setElementOrder).

    Changes `target`; use the result.
    """
    match patch.get("$patch"):
        case "replace":
            return {key: value for key, value in patch.items() if key != "$patch"}
        case "delete":
            return {}
    if isinstance(retained := patch.get("$retainKeys"), list):
        target = {key: value for key, value in target.items() if key in retained}
    for key, value in patch.items():
        if key.startswith("$deleteFromPrimitiveList/"):
            field = key.partition("/")[2]
            target[field] = [item for item in target.get(field, []) if item not in value]
        elif key.startswith("$"):
            continue
        elif value is None:
            target.pop(key, None)
        else:
            target[key] = _strategic_value(resource, target.get(key), value, (*path, key))
    return target


def _strategic_value(resource: Resource, old: Any, new: Any, path: tuple[str, ...]) -> Any:
    if isinstance(new, dict):
        return strategic_patch(resource, old if isinstance(old, dict) else {}, new, path)
    if not isinstance(new, list):
        return new
    if is_set(resource, path):
        return [*(old or []), *(item for item in new if item not in (old or []))]
    keys = merge_keys(resource, path)
    if not keys or not all(isinstance(item, dict) for item in new):
        return new
    return _strategic_list(resource, old if isinstance(old, list) else [], new, keys[0], path)


def _strategic_list(resource: Resource, old: list[Any], new: list[Any], key: str, path: tuple[str, ...]) -> list[Any]:
    if any(item.get("$patch") == "replace" for item in new):
        return [item for item in new if item.get("$patch") != "replace"]
    merged = list(old)
    for item in new:
        if key not in item:
            raise ApiError(400, f"map: {item} does not contain declared merge key: {key}")
        at = next((index for index, other in enumerate(merged) if other.get(key) == item[key]), None)
        if item.get("$patch") == "delete":
            merged = [other for other in merged if other.get(key) != item[key]]
        elif at is None:
            merged.append(strategic_patch(resource, {}, item, path))
        else:
            merged[at] = strategic_patch(resource, dict(merged[at]), item, path)
    return merged
