"""Eviction of pods under PodDisruptionBudgets."""

from tests.apiserver.errors import ApiError, JsonObject
from tests.apiserver.selectors import parse_labels
from tests.apiserver.store import Store
from tests.apiserver.timestamps import now_text

_BUDGETS = ("policy", "poddisruptionbudgets")


def charge_budget(store: Store, pod: JsonObject, dry_run: bool) -> None:
    """Take one disruption from the budget that covers the pod, if any does.

    A budget whose status is older than its spec allows nothing, as on the real server. Pods that are pending, finished
    or terminating are not covered. Raises ApiError 429 when the budget is used up, 500 when more than one covers the
    pod.
    """
    metadata = pod["metadata"]
    if pod["status"].get("phase") in ("Pending", "Succeeded", "Failed") or metadata.get("deletionTimestamp"):
        return
    budgets = [budget for budget in store.items(_BUDGETS, metadata["namespace"]) if _covers(budget, pod)]
    if len(budgets) > 1:
        raise ApiError(
            500, "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        )
    if not budgets:
        return
    budget = budgets[0]
    status = budget.get("status") or {}
    if status.get("observedGeneration", 0) < budget["metadata"]["generation"]:
        raise _blocked("The disruption budget is still being processed by the server.", 10)
    if status.get("disruptionsAllowed", 0) <= 0:
        raise _blocked("Cannot evict pod as it would violate the pod's disruption budget.", 0)
    if not dry_run:
        disrupted = {**status.get("disruptedPods", {}), metadata["name"]: now_text()}
        changed = {**status, "disruptionsAllowed": status["disruptionsAllowed"] - 1, "disruptedPods": disrupted}
        store.put(_BUDGETS, {**budget, "status": changed})


def _blocked(message: str, retry_after_s: int) -> ApiError:
    return ApiError(
        429, message, retry_after_s=retry_after_s, causes=[{"reason": "DisruptionBudget", "message": message}]
    )


def _covers(budget: JsonObject, pod: JsonObject) -> bool:
    selector = (budget.get("spec") or {}).get("selector")
    if selector is None:
        return False
    terms = [f"{key}={value}" for key, value in selector.get("matchLabels", {}).items()]
    for rule in selector.get("matchExpressions", ()):
        key, values = rule["key"], ",".join(rule.get("values", ()))
        match rule["operator"]:
            case "In":
                terms.append(f"{key} in ({values})")
            case "NotIn":
                terms.append(f"{key} notin ({values})")
            case "Exists":
                terms.append(key)
            case _:
                terms.append(f"!{key}")
    return parse_labels(",".join(terms))(pod)
