"""Structural schemas of custom resources: pruning, defaults, validation."""

import re
from typing import Any

from tests.apiserver.errors import JsonObject

Cause = tuple[str, str, str]
"""(reason, field, message) of a field error."""

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
}
_ROOT_FIELDS = ("apiVersion", "kind", "metadata")


def pruned(schema: JsonObject, obj: JsonObject, dropped: list[str]) -> JsonObject:
    """A custom object without the fields its schema does not name; their paths are appended to `dropped`."""
    root = {key: obj[key] for key in _ROOT_FIELDS if key in obj}
    body: JsonObject = _prune(schema, {k: v for k, v in obj.items() if k not in _ROOT_FIELDS}, "", dropped)
    return root | body


def _prune(schema: JsonObject, value: Any, path: str, dropped: list[str]) -> Any:
    if isinstance(value, list):
        items = schema.get("items", {})
        return [_prune(items, item, f"{path}[{index}]", dropped) for index, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    properties, extra = schema.get("properties", {}), schema.get("additionalProperties")
    kept: JsonObject = {}
    for key, child in value.items():
        at = f"{path}.{key}" if path else key
        if key in properties:
            kept[key] = _prune(properties[key], child, at, dropped)
        elif isinstance(extra, dict):
            kept[key] = _prune(extra, child, at, dropped)
        elif extra is True or schema.get("x-kubernetes-preserve-unknown-fields"):
            kept[key] = child
        else:
            dropped.append(at)
    return kept


def defaulted(schema: JsonObject, value: Any) -> Any:
    """A value with the defaults of its schema filled in."""
    if isinstance(value, list):
        return [defaulted(schema.get("items", {}), item) for item in value]
    if not isinstance(value, dict):
        return value
    filled = dict(value)
    for key, child in schema.get("properties", {}).items():
        if "default" in child and (key not in filled or (filled[key] is None and not child.get("nullable"))):
            filled[key] = child["default"]
        if key in filled:
            filled[key] = defaulted(child, filled[key])
    extra = schema.get("additionalProperties")
    if isinstance(extra, dict):
        known = schema.get("properties", {})
        filled |= {key: defaulted(extra, child) for key, child in filled.items() if key not in known}
    return filled


def violations(schema: JsonObject, value: Any, path: str) -> list[Cause]:
    """What a value breaks in its schema, deepest last."""
    if value is None and schema.get("nullable"):
        return []
    if wrong := _wrong_type(schema, value, path):
        return [wrong]
    found = [*_scalar_violations(schema, value, path)]
    if isinstance(value, list):
        found += _list_violations(schema, value, path)
    if isinstance(value, dict):
        found += _object_violations(schema, value, path)
    return found


def _wrong_type(schema: JsonObject, value: Any, path: str) -> Cause | None:
    if schema.get("x-kubernetes-int-or-string"):
        fits = isinstance(value, (int, str)) and not isinstance(value, bool)
        return None if fits else ("FieldValueTypeInvalid", path, "must be an integer or a string")
    wanted = schema.get("type")
    if wanted is None:
        return None
    whole = wanted == "integer" and isinstance(value, float) and value.is_integer()
    fits = isinstance(value, _TYPES[wanted]) and (wanted == "boolean" or not isinstance(value, bool))
    if fits or whole:
        return None
    message = f"Invalid value: {path} in body must be of type {wanted}"
    return ("FieldValueTypeInvalid", path, message)


def _scalar_violations(schema: JsonObject, value: Any, path: str) -> list[Cause]:
    found: list[Cause] = []
    if "enum" in schema and value not in schema["enum"]:
        allowed = ", ".join(f'"{item}"' for item in schema["enum"])
        found.append(("FieldValueNotSupported", path, f'Unsupported value: "{value}": supported values: {allowed}'))
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if "minimum" in schema and value < schema["minimum"]:
            found.append(_out_of_range(path, value, f"greater than or equal to {schema['minimum']}"))
        if "maximum" in schema and value > schema["maximum"]:
            found.append(_out_of_range(path, value, f"less than or equal to {schema['maximum']}"))
    if isinstance(value, str):
        if len(value) < schema.get("minLength", 0) or len(value) > schema.get("maxLength", len(value)):
            found.append(_out_of_range(path, value, "of the length the schema allows"))
        if "pattern" in schema and not re.search(schema["pattern"], value):
            found.append(_out_of_range(path, value, f"matching '{schema['pattern']}'"))
    return found


def _out_of_range(path: str, value: Any, rule: str) -> Cause:
    return ("FieldValueInvalid", path, f"Invalid value: {value!r}: {path} in body should be {rule}")


def _list_violations(schema: JsonObject, value: list[Any], path: str) -> list[Cause]:
    found: list[Cause] = []
    if len(value) < schema.get("minItems", 0) or len(value) > schema.get("maxItems", len(value)):
        found.append(_out_of_range(path, len(value), "a number of items the schema allows"))
    if schema.get("x-kubernetes-list-type") == "map":
        keys = [tuple(item.get(key) for key in schema["x-kubernetes-list-map-keys"]) for item in value]
        found += [
            ("FieldValueDuplicate", f"{path}[{i}]", "Duplicate value") for i, k in enumerate(keys) if k in keys[:i]
        ]
    for index, item in enumerate(value):
        found += violations(schema.get("items", {}), item, f"{path}[{index}]")
    return found


def _object_violations(schema: JsonObject, value: JsonObject, path: str) -> list[Cause]:
    prefix = f"{path}." if path else ""
    found: list[Cause] = [
        ("FieldValueRequired", f"{prefix}{key}", "Required value")
        for key in schema.get("required", ())
        if key not in value
    ]
    properties, extra = schema.get("properties", {}), schema.get("additionalProperties")
    for key, child in value.items():
        if key in properties:
            found += violations(properties[key], child, f"{prefix}{key}")
        elif isinstance(extra, dict):
            found += violations(extra, child, f"{prefix}{key}")
    return found
