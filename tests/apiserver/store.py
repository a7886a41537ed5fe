"""The objects, one global resource version, and the history that watches are served from."""

import asyncio
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from tests.apiserver.errors import JsonObject, expired
from tests.apiserver.kinds import GroupResource

_HISTORY_LIMIT = 20_000


def clone(value: JsonObject) -> JsonObject:
    """A deep copy of a JSON object."""
    copied: JsonObject = msgspec.json.decode(msgspec.json.encode(value))
    return copied


@dataclass(frozen=True)
class Event:
    """One change: `type` is ADDED, MODIFIED or DELETED; `previous` is the object before it, None for ADDED."""

    rv: int
    type: str
    obj: JsonObject
    previous: JsonObject | None


Key = tuple[str, str]


def key_of(obj: JsonObject) -> Key:
    """(namespace, name); the namespace of a cluster-scoped object is ''."""
    return obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


class Store:
    """All objects by resource. Stored objects are never changed in place."""

    def __init__(self, first_rv: int = 1000) -> None:
        self.rv = first_rv
        self.compacted_rv = first_rv - 1
        self._objects: dict[GroupResource, dict[Key, JsonObject]] = {}
        self._history: dict[GroupResource, list[Event]] = {}
        self._wakers: set[asyncio.Event] = set()

    def get(self, resource: GroupResource, namespace: str, name: str) -> JsonObject | None:
        """The stored object, or None. Must not be changed by the caller."""
        return self._objects.get(resource, {}).get((namespace, name))

    def items(self, resource: GroupResource, namespace: str = "", at_rv: int | None = None) -> list[JsonObject]:
        """Objects in key order, of one namespace or ('') of all; `at_rv` asks for the state at an older version.

        Raises ApiError 410 when that version is compacted.
        """
        current = self._objects.get(resource, {})
        if at_rv is not None and at_rv < self.rv:
            current = self._rewind(resource, at_rv)
        return [current[key] for key in sorted(current) if not namespace or key[0] == namespace]

    def _rewind(self, resource: GroupResource, at_rv: int) -> dict[Key, JsonObject]:
        state = dict(self._objects.get(resource, {}))
        for event in reversed(self.since(resource, at_rv)):
            if event.previous is None:
                state.pop(key_of(event.obj), None)
            else:
                state[key_of(event.obj)] = event.previous
        return state

    def put(self, resource: GroupResource, obj: JsonObject) -> JsonObject:
        """Store a new or changed object under the next version and tell the watches."""
        objects = self._objects.setdefault(resource, {})
        previous = objects.get(key_of(obj))
        self.rv += 1
        stored = {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self.rv)}}
        objects[key_of(obj)] = stored
        self._record(resource, Event(self.rv, "ADDED" if previous is None else "MODIFIED", stored, previous))
        return stored

    def drop(self, resource: GroupResource, obj: JsonObject) -> JsonObject:
        """Remove an object; returns its last state, which carries the version of the deletion."""
        previous = self._objects[resource].pop(key_of(obj))
        self.rv += 1
        last = {**previous, "metadata": {**previous["metadata"], "resourceVersion": str(self.rv)}}
        self._record(resource, Event(self.rv, "DELETED", last, previous))
        return last

    def _record(self, resource: GroupResource, event: Event) -> None:
        history = self._history.setdefault(resource, [])
        history.append(event)
        if len(history) > _HISTORY_LIMIT:
            self.compact(history[_HISTORY_LIMIT // 2].rv)
        self.wake()

    def since(self, resource: GroupResource, rv: int) -> list[Event]:
        """Changes of a resource after `rv`. Raises ApiError 410 when some of them are compacted."""
        if rv < self.compacted_rv:
            raise expired(f"too old resource version: {rv} ({self.compacted_rv})")
        history = self._history.get(resource, [])
        return history[bisect_right(history, rv, key=lambda event: event.rv) :]

    def compact(self, rv: int | None = None) -> None:
        """Forget the history up to `rv` (default: all of it)."""
        self.compacted_rv = self.rv if rv is None else rv
        for resource, history in self._history.items():
            self._history[resource] = [event for event in history if event.rv > self.compacted_rv]

    def jump(self, by: int) -> None:
        """Advance the version without a change, as writes to resources that this server does not hold would."""
        self.rv += by

    def subscribe(self) -> asyncio.Event:
        """An event set at every change; hand it back with `unsubscribe`."""
        waker = asyncio.Event()
        self._wakers.add(waker)
        return waker

    def unsubscribe(self, waker: asyncio.Event) -> None:
        """Forget a waker of `subscribe`."""
        self._wakers.discard(waker)

    def wake(self) -> None:
        """Wake every watch, without a change."""
        for waker in self._wakers:
            waker.set()

    def purge(self, resources: Iterable[GroupResource], namespace: str) -> None:
        """Remove every object of a namespace, as the namespace controller does."""
        for resource in resources:
            for obj in self.items(resource, namespace):
                self.drop(resource, obj)

    def known(self) -> list[GroupResource]:
        """Resources that hold at least one object."""
        return [resource for resource, objects in self._objects.items() if objects]
