"""The pods of this node as the API server last told."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from fuyaod.kube import wire
from fuyaod.kube.observe.records import OwnerKey, controller_of, pod_record
from fuyaod.model.pods import OwnerRef, PodRecord

MAX_PODS: Final = 2000
"""Nothing that others can make grows without a bound. Kubelet runs 110 pods by default, 500 on the largest nodes
(kubelet's maxPods); finished ones stay until they are collected."""

OwnerLookup = Callable[[OwnerKey], tuple[OwnerRef, ...]]


class PodTable:
    """Pods by uid. Records that did not change keep their identity, so that nothing is decided twice.

    Args:
        owners: what is known of a controller and those above it.
    """

    def __init__(self, owners: OwnerLookup) -> None:
        self._owners = owners
        self._records: dict[str, PodRecord] = {}
        self._controllers: dict[str, OwnerKey] = {}
        self._sorted: tuple[PodRecord, ...] | None = ()

    def records(self) -> tuple[PodRecord, ...]:
        """All pods by uid; the same tuple until something changes."""
        if self._sorted is None:
            self._sorted = tuple(self._records[uid] for uid in sorted(self._records))
        return self._sorted

    def controllers(self) -> set[OwnerKey]:
        """The controllers of all pods."""
        return set(self._controllers.values())

    def put(self, pod: wire.Pod) -> None:
        """Take a new or changed pod. Raises ValueError for one that makes no sense, or that is one too many."""
        if len(self._records) >= MAX_PODS and pod.metadata.uid not in self._records:
            raise ValueError(f"cannot take pod {pod.metadata.namespace}/{pod.metadata.name}: {MAX_PODS} are known")
        controller = controller_of(pod.metadata)
        owners = () if controller is None else self._owners(controller)
        self._set(pod_record(pod, owners), controller)

    def remove(self, uid: str) -> None:
        """Forget a pod; one that is not known is ignored."""
        if self._records.pop(uid, None) is not None:
            self._controllers.pop(uid, None)
            self._sorted = None

    def keep_only(self, uids: Iterable[str]) -> None:
        """Forget every pod but these."""
        for uid in self._records.keys() - set(uids):
            self.remove(uid)

    def refresh_owners(self) -> None:
        """Look at all owners again."""
        for uid, controller in self._controllers.items():
            record, owners = self._records[uid], self._owners(controller)
            if record.owners != owners:
                self._set(_with_owners(record, owners), controller)

    def _set(self, record: PodRecord, controller: OwnerKey | None) -> None:
        if controller is not None:
            self._controllers[record.uid] = controller
        else:
            self._controllers.pop(record.uid, None)
        if self._records.get(record.uid) != record:
            self._records[record.uid] = record
            self._sorted = None


def _with_owners(record: PodRecord, owners: tuple[OwnerRef, ...]) -> PodRecord:
    return msgspec.structs.replace(record, owners=owners)
