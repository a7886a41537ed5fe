"""The parts of API objects that the agent reads. Everything else, managedFields above all, is skipped while parsing.

Fields that a broken server might send as null are optional: one odd object must not cost the others.
"""

from __future__ import annotations

from typing import Final, TypeVar

import msgspec

T = TypeVar("T")

Quantities = dict[str, str | int | float]


class Wire(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """An object of the API; unknown fields are ignored."""


class Reference(Wire, frozen=True, kw_only=True):
    """metadata.ownerReferences[]."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool | None = None


class Metadata(Wire, frozen=True, kw_only=True):
    """metadata."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: list[Reference] | None = None
    deletion_timestamp: str | None = None


class Resources(Wire, frozen=True, kw_only=True):
    """resources of a container or a pod."""

    requests: Quantities | None = None
    limits: Quantities | None = None


class Container(Wire, frozen=True, kw_only=True):
    """spec.containers[] and spec.initContainers[]."""

    name: str
    resources: Resources | None = None
    restart_policy: str | None = None


class PodSpec(Wire, frozen=True, kw_only=True):
    """spec of a pod."""

    containers: list[Container] | None = None
    init_containers: list[Container] | None = None
    overhead: Quantities | None = None
    priority: int | None = None
    resources: Resources | None = None


class ContainerStatus(Wire, frozen=True, kw_only=True):
    """status.containerStatuses[]."""

    name: str
    container_id: str | None = msgspec.field(default=None, name="containerID")


class PodStatus(Wire, frozen=True, kw_only=True):
    """status of a pod."""

    phase: str | None = None
    qos_class: str | None = None
    container_statuses: list[ContainerStatus] | None = None
    init_container_statuses: list[ContainerStatus] | None = None


class Pod(Wire, frozen=True, kw_only=True):
    """A pod."""

    metadata: Metadata
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


class ObjectList(Wire, frozen=True, kw_only=True):
    """A list whose items are decoded one by one, so that a bad one costs only itself."""

    metadata: Metadata
    items: list[msgspec.Raw] | None = None


class PartialObject(Wire, frozen=True, kw_only=True):
    """Any object of which only the metadata counts."""

    metadata: Metadata


class Status(Wire, frozen=True, kw_only=True):
    """A failure, as answer or as object of an ERROR event."""

    code: int = 0
    reason: str = ""
    message: str = ""


class WatchEvent(Wire, frozen=True, kw_only=True):
    """One line of a watch."""

    type: str
    object: msgspec.Raw


class Decoders:
    """The decoders of one client, made once."""

    def __init__(self) -> None:
        self.pod: Final = msgspec.json.Decoder(Pod)
        self.list: Final = msgspec.json.Decoder(ObjectList)
        self.event: Final = msgspec.json.Decoder(WatchEvent)
        self.partial: Final = msgspec.json.Decoder(PartialObject)


def decoded(decoder: msgspec.json.Decoder[T], raw: bytes | bytearray | msgspec.Raw) -> T | None:
    """The object, None when the bytes are no JSON or of another shape."""
    try:
        return decoder.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def decode_status(raw: bytes | bytearray | msgspec.Raw) -> Status | None:
    """The Status of a failure, None when it is none."""
    return decoded(msgspec.json.Decoder(Status), raw)
