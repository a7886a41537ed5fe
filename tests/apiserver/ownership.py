"""Server-side apply and the field ownership (managedFields) behind it.

A field is a path of `fieldsV1` elements: `f:name` for a member, `k:{"type":"Ready"}` for an item of a keyed list,
`v:"x"` for a member of a set.
"""

from typing import Any

import msgspec

from tests.apiserver.errors import ApiError, JsonObject
from tests.apiserver.kinds import Resource
from tests.apiserver.listkeys import is_set, merge_keys
from tests.apiserver.store import clone
from tests.apiserver.timestamps import now_text

Path = tuple[str, ...]
Owner = tuple[str, str, str]
"""Manager, operation (Apply or Update), subresource."""

_UNOWNED = {
    ("f:metadata", f"f:{name}")
    for name in (
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "generation",
        "managedFields",
        "name",
        "namespace",
        "resourceVersion",
        "uid",
    )
}


def leaves(resource: Resource, obj: JsonObject) -> dict[Path, Any]:
    """Every owned field of an object with its value: scalars, atomic lists, members of sets, keys of list items."""
    found: dict[Path, Any] = {}
    for key, value in obj.items():
        if key not in ("apiVersion", "kind"):
            _collect(resource, value, (f"f:{key}",), (key,), found)
    return {path: value for path, value in found.items() if path[:2] not in _UNOWNED}


def _collect(resource: Resource, value: Any, path: Path, names: tuple[str, ...], found: dict[Path, Any]) -> None:
    if isinstance(value, dict) and value:
        for key, child in value.items():
            _collect(resource, child, (*path, f"f:{key}"), (*names, key), found)
        return
    if isinstance(value, list) and value and (keys := merge_keys(resource, names)):
        for item in value:
            _collect(resource, item, (*path, _item_key(item, keys)), names, found)
        return
    if isinstance(value, list) and value and is_set(resource, names):
        found.update({(*path, f"v:{_text(item)}"): item for item in value})
        return
    found[path] = value


def _item_key(item: JsonObject, keys: tuple[str, ...]) -> str:
    return "k:" + _text({key: item.get(key) for key in keys})


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def owners(obj: JsonObject) -> dict[Owner, set[Path]]:
    """Who owns which fields, read from `metadata.managedFields`."""
    entries = obj["metadata"].get("managedFields", ())
    return {
        (entry.get("manager", ""), entry.get("operation", "Update"), entry.get("subresource", "")): set(
            _parse(entry.get("fieldsV1", {}), ())
        )
        for entry in entries
    }


def _parse(fields: JsonObject, prefix: Path) -> list[Path]:
    found: list[Path] = []
    for name, below in fields.items():
        found += _parse(below, (*prefix, name)) if below else [(*prefix, name)]
    return found


def recorded(resource: Resource, obj: JsonObject, owned: dict[Owner, set[Path]]) -> JsonObject:
    """The object with its managedFields rewritten; owners without a field are dropped."""
    before = {_owner_of(entry): entry for entry in obj["metadata"].get("managedFields", ())}
    entries = []
    for owner, paths in owned.items():
        if not paths:
            continue
        fields = _render(paths)
        old = before.get(owner, {})
        entry = {
            "manager": owner[0],
            "operation": owner[1],
            "apiVersion": resource.api_version,
            "time": old["time"] if old.get("fieldsV1") == fields else now_text(),
            "fieldsType": "FieldsV1",
            "fieldsV1": fields,
        }
        entries.append({**entry, "subresource": owner[2]} if owner[2] else entry)
    return {**obj, "metadata": {**obj["metadata"], "managedFields": entries}}


def _owner_of(entry: JsonObject) -> Owner:
    return entry.get("manager", ""), entry.get("operation", "Update"), entry.get("subresource", "")


def _render(paths: set[Path]) -> JsonObject:
    root: JsonObject = {}
    for path in sorted(paths):
        node = root
        for name in path:
            node = node.setdefault(name, {})
    return root


def after_update(resource: Resource, old: JsonObject | None, new: JsonObject, owner: Owner) -> JsonObject:
    """`new` with the fields that differ from `old` owned by `owner`, and taken from everyone else."""
    before = leaves(resource, old) if old else {}
    after = leaves(resource, new)
    changed = {path for path, value in after.items() if path not in before or before[path] != value}
    owned = {other: (paths - changed) & after.keys() for other, paths in owners(old).items()} if old else {}
    owned[owner] = owned.get(owner, set()) | changed
    return recorded(resource, new, owned)


def applied(resource: Resource, current: JsonObject, config: JsonObject, owner: Owner, force: bool) -> JsonObject:
    """`current` after `owner` applied `config`: fields merged, fields it no longer names removed.

    Raises ApiError 409 when another manager owns a field with another value and `force` is off.
    """
    wanted, live, owned = leaves(resource, config), leaves(resource, current), owners(current)
    differing = {path for path, value in wanted.items() if path in live and live[path] != value}
    others = {other: paths for other, paths in owned.items() if other != owner}
    clashes = [(other, path) for other, paths in others.items() for path in sorted(paths & differing)]
    if clashes and not force:
        raise _apply_conflict(clashes)
    kept_by_others = set().union(*others.values()) if others else set()
    merged = _merge(resource, clone(current), config, ())
    for path in sorted(owned.get(owner, set()) - wanted.keys() - kept_by_others, key=_identifies_item):
        _delete(merged, path)
    result = {other: paths - differing for other, paths in others.items()} | {owner: set(wanted)}
    return recorded(resource, merged, result)


def _identifies_item(path: Path) -> bool:
    """Whether the field is the key of a list item: removed last, since the others are found through it."""
    return len(path) > 1 and path[-2][0] == "k" and path[-1][2:] in msgspec.json.decode(path[-2][2:])


def _apply_conflict(clashes: list[tuple[Owner, Path]]) -> ApiError:
    causes = [
        {
            "reason": "FieldManagerConflict",
            "message": f'conflict with "{owner[0]}"',
            "field": "".join(f".{part[2:]}" if part[0] == "f" else f"[{part[2:]}]" for part in path),
        }
        for owner, path in clashes
    ]
    return ApiError(409, f"Apply failed with {len(causes)} conflict(s)", causes=causes)


def _merge(resource: Resource, target: JsonObject, config: JsonObject, names: tuple[str, ...]) -> JsonObject:
    for key, value in config.items():
        at = (*names, key)
        old = target.get(key)
        keys = merge_keys(resource, at) if isinstance(value, list) else ()
        if isinstance(value, dict) and isinstance(old, dict):
            target[key] = _merge(resource, old, value, at)
        elif keys and isinstance(old, list):
            target[key] = _merge_items(resource, old, value, keys, at)
        elif isinstance(value, list) and isinstance(old, list) and is_set(resource, at):
            target[key] = [*old, *(item for item in value if item not in old)]
        else:
            target[key] = value
    return target


def _merge_items(resource: Resource, old: list[Any], new: list[Any], keys: Path, at: tuple[str, ...]) -> list[Any]:
    merged = list(old)
    for item in new:
        same = [i for i, other in enumerate(merged) if _item_key(other, keys) == _item_key(item, keys)]
        if same:
            merged[same[0]] = _merge(resource, dict(merged[same[0]]), item, at)
        else:
            merged.append(item)
    return merged


def _delete(node: Any, path: Path) -> None:
    """Remove one field, and the containers that it leaves empty."""
    name, rest = path[0], path[1:]
    if isinstance(node, list):
        at = next((i for i, item in enumerate(node) if _names_item(name, item)), None)
        if at is None:
            return
        if rest and isinstance(node[at], dict):
            _delete(node[at], rest)
        if not rest or not node[at]:
            del node[at]
        return
    key = name[2:]
    if not isinstance(node, dict) or key not in node:
        return
    if rest:
        _delete(node[key], rest)
    if not rest or node[key] in ({}, []):
        del node[key]


def _names_item(name: str, item: Any) -> bool:
    value = msgspec.json.decode(name[2:])
    if name[0] == "v":
        return bool(item == value)
    return isinstance(item, dict) and all(item.get(key) == wanted for key, wanted in value.items())
