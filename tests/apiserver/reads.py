"""Lists: versions, pages, selectors."""

import base64
import binascii
from collections.abc import Mapping

import msgspec

from tests.apiserver import selectors
from tests.apiserver.errors import ApiError, JsonObject, expired, invalid
from tests.apiserver.store import Key, Store, key_of
from tests.apiserver.target import Target
from tests.apiserver.views import as_list


def parse_rv(text: str) -> int:
    """A resource version of a query, 0 when unset. Raises ApiError 422 when it is no number."""
    if text and not text.isdecimal():
        raise invalid(
            "ListOptions.meta.k8s.io", "", [("FieldValueInvalid", "resourceVersion", f'Invalid value: "{text}"')]
        )
    return int(text or 0)


def list_objects(store: Store, target: Target, query: Mapping[str, str], metadata_only: bool) -> JsonObject:
    """The answer to a LIST. Raises ApiError 400, 410, 422, 504."""
    at_rv, start = _position(store, query)
    wanted = selectors.parse(query.get("labelSelector", ""), query.get("fieldSelector", ""), target.resource)
    every = store.items(target.resource.key, target.namespace, at_rv)
    matching = [obj for obj in every if wanted(obj) and key_of(obj) > start]
    limit = int(query.get("limit") or 0)
    page = matching[:limit] if limit else matching
    metadata: JsonObject = {"resourceVersion": str(at_rv)}
    if len(page) < len(matching):
        metadata["continue"] = _continue_token(at_rv, key_of(page[-1]))
        if not query.get("labelSelector") and not query.get("fieldSelector"):
            metadata["remainingItemCount"] = len(matching) - len(page)
    return as_list(page, target.resource, metadata, metadata_only)


def _position(store: Store, query: Mapping[str, str]) -> tuple[int, Key]:
    match = query.get("resourceVersionMatch", "")
    rv = parse_rv(query.get("resourceVersion", ""))
    if token := query.get("continue", ""):
        at_rv, start = _parse_token(token)
        if at_rv < store.compacted_rv:
            raise expired("The provided continue parameter is too old to display a consistent list result.")
        return at_rv, start
    if match and not query.get("resourceVersion"):
        message = "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided"
        raise invalid("ListOptions.meta.k8s.io", "", [("FieldValueForbidden", "resourceVersionMatch", message)])
    check_not_ahead(store, rv)
    if match == "Exact":
        if rv < store.compacted_rv:
            raise expired(f"The resourceVersion for the provided list is too old: {rv}")
        return rv, ("", "")
    return store.rv, ("", "")


def check_not_ahead(store: Store, rv: int) -> None:
    """Raise ApiError 504 for a version that is yet to come."""
    if rv > store.rv:
        cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
        raise ApiError(504, f"Too large resource version: {rv}, current: {store.rv}", retry_after_s=1, causes=[cause])


def _continue_token(rv: int, last: Key) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode({"rv": rv, "start": list(last)})).decode()


def _parse_token(token: str) -> tuple[int, Key]:
    try:
        fields = msgspec.json.decode(base64.urlsafe_b64decode(token))
        return fields["rv"], (fields["start"][0], fields["start"][1])
    except (binascii.Error, msgspec.DecodeError, KeyError, TypeError, IndexError, ValueError) as error:
        raise ApiError(400, f"continue key is not valid: {error}") from error
