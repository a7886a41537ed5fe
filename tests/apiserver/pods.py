"""Rules of pods that other kinds do not have: defaults, QoS class, what an update may change, resize."""

from decimal import Decimal, InvalidOperation
from typing import Any

from tests.apiserver.errors import ApiError, JsonObject, invalid

_SUFFIXES = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "": Decimal(1),
    "k": Decimal(10**3),
    "M": Decimal(10**6),
    "G": Decimal(10**9),
    "T": Decimal(10**12),
    "P": Decimal(10**15),
    "E": Decimal(10**18),
} | {f"{letter}i": Decimal(1024**power) for power, letter in enumerate("KMGTPE", 1)}

_SPEC_DEFAULTS: JsonObject = {
    "restartPolicy": "Always",
    "dnsPolicy": "ClusterFirst",
    "schedulerName": "default-scheduler",
    "serviceAccountName": "default",
    "terminationGracePeriodSeconds": 30,
    "securityContext": {},
    "enableServiceLinks": True,
    "priority": 0,
}
_MUTABLE_SPEC = ("activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds", "schedulingGates")
_CONTAINER_LISTS = ("containers", "initContainers")


def amount(quantity: Any) -> Decimal:
    """The number a resource quantity stands for. Raises ApiError 400 when it is none."""
    text = str(quantity)
    digits = text.rstrip("numkMGTPEKi")
    try:
        return Decimal(digits) * _SUFFIXES[text[len(digits) :]]
    except (InvalidOperation, KeyError) as error:
        raise ApiError(400, f'quantities must match the regular expression: "{text}"') from error


def with_defaults(pod: JsonObject) -> JsonObject:
    """A new pod as the server stores it: defaults of its spec, requests from limits, phase Pending and its QoS
    class.
    """
    spec = _SPEC_DEFAULTS | pod["spec"]
    for field in _CONTAINER_LISTS:
        if field in spec:
            spec[field] = [_container_with_defaults(container) for container in spec[field]]
    return {**pod, "spec": spec, "status": {"phase": "Pending", "qosClass": qos_class(spec)}}


def _container_with_defaults(container: JsonObject) -> JsonObject:
    resources = dict(container.get("resources") or {})
    if limits := resources.get("limits"):
        resources["requests"] = {**limits, **resources.get("requests", {})}
    defaults = {"imagePullPolicy": "IfNotPresent", "terminationMessagePath": "/dev/termination-log"}
    return {**defaults, **container, "resources": resources}


def qos_class(spec: JsonObject) -> str:
    """Guaranteed, Burstable or BestEffort.

    Source: Kubernetes documentation, "Pod Quality of Service Classes".
    """
    containers = [container for field in _CONTAINER_LISTS for container in spec.get(field) or ()]
    resources = [container.get("resources") or {} for container in containers]
    named = [
        r.get(side, {}).get(name) for r in resources for side in ("requests", "limits") for name in ("cpu", "memory")
    ]
    if all(value is None or amount(value) == 0 for value in named):
        return "BestEffort"
    guaranteed = all(_equal_limit(r, name) for r in resources for name in ("cpu", "memory"))
    return "Guaranteed" if guaranteed else "Burstable"


def _equal_limit(resources: JsonObject, name: str) -> bool:
    limit = resources.get("limits", {}).get(name)
    return limit is not None and amount(limit) == amount(resources.get("requests", {}).get(name, limit))


def check_pod(pod: JsonObject) -> None:
    """Raise ApiError 422 for a new pod without a usable spec."""
    spec, name = pod.get("spec"), pod["metadata"].get("name", "")
    if not isinstance(spec, dict) or not spec.get("containers"):
        raise invalid("Pod", name, [("FieldValueRequired", "spec.containers", "Required value")])
    for field in _CONTAINER_LISTS:
        for index, container in enumerate(spec.get(field) or ()):
            missing = [key for key in ("name", "image") if not container.get(key)]
            if missing:
                at = f"spec.{field}[{index}].{missing[0]}"
                raise invalid("Pod", name, [("FieldValueRequired", at, "Required value")])


def check_update(old: JsonObject, new: JsonObject) -> None:
    """Raise ApiError 422 when an update changes what is fixed in a pod's spec."""
    if _fixed(old["spec"]) != _fixed(new["spec"]):
        message = "Forbidden: pod updates may not change fields other than `spec.containers[*].image`"
        raise invalid("Pod", new["metadata"]["name"], [("FieldValueForbidden", "spec", message)])


def _fixed(spec: JsonObject) -> JsonObject:
    fixed = {key: value for key, value in spec.items() if key not in _MUTABLE_SPEC}
    for field in _CONTAINER_LISTS:
        if field in fixed:
            fixed[field] = [{**container, "image": ""} for container in fixed[field]]
    return fixed


def check_resize(old: JsonObject, new: JsonObject, node: JsonObject | None) -> None:
    """Raise ApiError for a resize the server refuses.

    422 when it changes more than CPU and memory of containers, or the QoS class; 403 when the requests exceed what
    `node` can allocate.
    """
    name = new["metadata"]["name"]
    if _without_resources(old["spec"]) != _without_resources(new["spec"]):
        message = "Forbidden: only cpu and memory resources are mutable"
        raise invalid("Pod", name, [("FieldValueForbidden", "spec", message)])
    before, after = qos_class(old["spec"]), qos_class(new["spec"])
    if before != after:
        message = f'Invalid value: "{after}": Pod QOS Class may not change as a result of resizing'
        raise invalid("Pod", name, [("FieldValueInvalid", "metadata", message)])
    allocatable = ((node or {}).get("status") or {}).get("allocatable") or {}
    for resource in ("cpu", "memory"):
        requested = sum(
            (
                amount((c.get("resources") or {}).get("requests", {}).get(resource, 0))
                for c in new["spec"]["containers"]
            ),
            Decimal(0),
        )
        if resource in allocatable and requested > amount(allocatable[resource]):
            raise ApiError(
                403, f'pods "{name}" is forbidden: NodeCapacity: {resource} request exceeds the node allocatable'
            )


def _without_resources(spec: JsonObject) -> JsonObject:
    bare = dict(spec)
    for field in _CONTAINER_LISTS:
        if field in bare:
            bare[field] = [{k: v for k, v in c.items() if k != "resources"} for c in bare[field]]
    return bare
