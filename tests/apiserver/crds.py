"""CustomResourceDefinitions: what is refused, and the status of an accepted one."""

from typing import Any

from tests.apiserver.errors import JsonObject, invalid
from tests.apiserver.schema import Cause
from tests.apiserver.timestamps import now_text


def check_crd(crd: JsonObject) -> None:
    """Raise ApiError 422 for a definition that the real server refuses."""
    spec = crd.get("spec") or {}
    name = crd["metadata"].get("name", "")
    causes: list[Cause] = [
        ("FieldValueRequired", f"spec.{key}", "Required value")
        for key in ("group", "names", "scope", "versions")
        if not spec.get(key)
    ]
    if not causes:
        expected = f"{spec['names'].get('plural')}.{spec['group']}"
        if name != expected:
            causes.append(
                (
                    "FieldValueInvalid",
                    "metadata.name",
                    f'Invalid value: "{name}": must be spec.names.plural+"."+spec.group',
                )
            )
        if sum(bool(version.get("storage")) for version in spec["versions"]) != 1:
            causes.append(
                (
                    "FieldValueInvalid",
                    "spec.versions",
                    "Invalid value: must have exactly one version marked as storage version",
                )
            )
        for index, version in enumerate(spec["versions"]):
            at = f"spec.versions[{index}].schema.openAPIV3Schema"
            root = version.get("schema", {}).get("openAPIV3Schema")
            causes += [("FieldValueRequired", at, "Required value")] if root is None else _not_structural(root, at)
    if causes:
        raise invalid("CustomResourceDefinition.apiextensions.k8s.io", name, causes)


def _not_structural(schema: Any, at: str) -> list[Cause]:
    """Every node of a structural schema has a type, unless it is int-or-string or keeps unknown fields."""
    causes: list[Cause] = []
    free = schema.get("x-kubernetes-int-or-string") or schema.get("x-kubernetes-preserve-unknown-fields")
    kind = schema.get("type")
    if kind is None and not free:
        causes.append(
            ("FieldValueRequired", f"{at}.type", "Required value: must not be empty for specified object fields")
        )
    if kind is not None and kind not in ("object", "array", "string", "boolean", "integer", "number"):
        causes.append(("FieldValueNotSupported", f"{at}.type", f'Unsupported value: "{kind}"'))
    if "properties" in schema and schema.get("additionalProperties"):
        causes.append(
            ("FieldValueForbidden", f"{at}.additionalProperties", "Forbidden: mutually exclusive with properties")
        )
    for name, child in schema.get("properties", {}).items():
        causes += _not_structural(child, f"{at}.properties[{name}]")
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            causes += _not_structural(schema[key], f"{at}.{key}")
    return causes


def established(crd: JsonObject) -> JsonObject:
    """The definition with its names filled in and the status of one that is served."""
    spec = crd["spec"]
    kind = spec["names"]["kind"]
    names = {"singular": kind.lower(), "listKind": f"{kind}List", **spec["names"]}
    condition = {"status": "True", "lastTransitionTime": now_text(), "message": "", "reason": ""}
    return {
        **crd,
        "spec": {**spec, "names": names},
        "status": {
            "acceptedNames": names,
            "storedVersions": [version["name"] for version in spec["versions"] if version["storage"]],
            "conditions": [
                {**condition, "type": "NamesAccepted", "reason": "NoConflicts", "message": "no conflicts found"},
                {
                    **condition,
                    "type": "Established",
                    "reason": "InitialNamesAccepted",
                    "message": "the initial names have been accepted",
                },
            ],
        },
    }
