"""Label and field selectors, parsed into predicates over objects."""

import re
from collections.abc import Callable

from tests.apiserver.errors import ApiError, JsonObject
from tests.apiserver.kinds import Resource

Predicate = Callable[[JsonObject], bool]

_SET_TERM = re.compile(r"^(?P<key>[^\s!=,()]+)\s+(?P<op>in|notin)\s*\((?P<values>[^()]*)\)$")
_EQUAL_TERM = re.compile(r"^(?P<key>[^\s!=,()]+)\s*(?P<op>==|=|!=)\s*(?P<value>[^\s!=,()]*)$")
_EXISTS_TERM = re.compile(r"^(?P<not>!?)\s*(?P<key>[^\s!=,()]+)$")

# Source: the field label conversion functions of each kind in the Kubernetes sources (pkg/apis/*/v1/conversion.go).
_FIELDS = {
    "pods": {
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.nominatedNodeName",
    },
    "nodes": {"spec.unschedulable"},
    "namespaces": {"status.phase"},
    "secrets": {"type"},
    "replicasets": {"status.replicas"},
    "jobs": {"status.successful"},
    "events": {
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "source",
        "type",
    },
    "resourceslices": {"spec.nodeName", "spec.driver"},
}


def parse_labels(text: str) -> Predicate:
    """Parse a label selector: `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b,c)`, `a`, `!a`, joined by commas.

    Raises ApiError 400 when it is malformed.
    """
    terms = [_label_term(term) for term in _split(text)]
    return lambda obj: all(term(obj["metadata"].get("labels") or {}) for term in terms)


def _split(text: str) -> list[str]:
    terms = [term.strip() for term in re.split(r",(?![^(]*\))", text)] if text.strip() else []
    if any(not term for term in terms):
        raise ApiError(400, f'unable to parse requirement: empty term in selector "{text}"')
    return terms


def _label_term(term: str) -> Callable[[dict[str, str]], bool]:
    if found := _SET_TERM.match(term):
        key, values = found["key"], {value.strip() for value in found["values"].split(",")}
        if found["op"] == "in":
            return lambda labels: labels.get(key) in values
        return lambda labels: labels.get(key) not in values
    if found := _EQUAL_TERM.match(term):
        key, value = found["key"], found["value"]
        if found["op"] == "!=":
            return lambda labels: labels.get(key) != value
        return lambda labels: labels.get(key) == value
    if found := _EXISTS_TERM.match(term):
        key, wanted = found["key"], not found["not"]
        return lambda labels: (key in labels) is wanted
    raise ApiError(400, f'unable to parse requirement: found "{term}", expected a label selector')


def parse_fields(text: str, resource: Resource) -> Predicate:
    """Parse a field selector (`=`, `==`, `!=`) for one resource.

    Raises ApiError 400 when it is malformed or names a field this resource cannot be selected by.
    """
    terms = [_field_term(term, resource) for term in _split(text)]
    return lambda obj: all(term(obj) for term in terms)


def _field_term(term: str, resource: Resource) -> Predicate:
    found = _EQUAL_TERM.match(term)
    if not found:
        raise ApiError(400, f'invalid selector: "{term}"; cannot understand it')
    path, value, negated = found["key"], found["value"], found["op"] == "!="
    supported = {"metadata.name", "metadata.namespace"} | (_FIELDS.get(resource.plural, set()) - _custom_only(resource))
    if path not in supported:
        raise ApiError(400, f"field label not supported: {path}")
    keys = path.split(".")
    return lambda obj: (_field(obj, keys) == value) is not negated


def _custom_only(resource: Resource) -> set[str]:
    """A custom resource may share its plural with a built-in one: none of the built-in fields apply to it."""
    return _FIELDS.get(resource.plural, set()) if resource.custom else set()


def _field(obj: JsonObject, keys: list[str]) -> str:
    value: object = obj
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    if value is None:
        return "false" if keys[-1] in ("unschedulable", "hostNetwork") else ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def parse(query_labels: str, query_fields: str, resource: Resource) -> Predicate:
    """Both selectors of a request as one predicate."""
    labels, fields = parse_labels(query_labels), parse_fields(query_fields, resource)
    return lambda obj: labels(obj) and fields(obj)
