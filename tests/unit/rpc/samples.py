"""Snapshots whose every leaf has a value of its own, so that a value tells which field it came from."""

from __future__ import annotations

import enum
import itertools
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import msgspec

from fuyaod.model.cgroup import CgroupKind, CgroupSample
from fuyaod.model.cpuset import CpuSet
from fuyaod.model.pods import Container, Pod, Service
from fuyaod.model.snapshot import NodeSnapshot

S = TypeVar("S", bound=msgspec.Struct)


class Maker:
    """Builds any value type by its annotations. `full` fills what may be None, else it stays None; `zero` makes all
    numbers 0, `whole` gives whole numbers instead of the count."""

    def __init__(self, *, full: bool, zero: bool = False, whole: Callable[[], int] | None = None) -> None:
        self._full = full
        self._zero = zero
        self._whole = whole
        self._numbers = itertools.count(100)

    def make(self, kind: type[S]) -> S:
        """An instance of a struct type."""
        hints = typing.get_type_hints(kind)
        fields = {f.name: self._value(hints[f.name], f.name) for f in msgspec.structs.fields(kind)}
        return kind(**fields)

    def _value(self, kind: Any, name: str) -> Any:
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin in (typing.Union, types.UnionType):
            inner = next(a for a in arguments if a is not type(None))
            return self._value(inner, name) if self._full else None
        if origin is tuple:
            return (self._value(arguments[0], name),)
        if origin is dict:
            return {self._value(arguments[0], name): self._value(arguments[1], name)}
        return self._leaf(kind, name)

    def _leaf(self, kind: Any, name: str) -> Any:
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            return self.make(kind)
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return next(iter(kind))
        number = 0 if self._zero else next(self._numbers)
        values = {
            bool: not self._zero,
            int: number if self._whole is None else self._whole(),
            float: 0.0 if self._zero else number + 0.5,
            str: f"{name}-{number}",
            CpuSet: CpuSet([number]),
        }
        return values[kind]


def snapshot(*, full: bool, zero: bool = False, whole: Callable[[], int] | None = None) -> NodeSnapshot:
    """A node with one pod of one container and a sandbox, one service and one slice, each with its group."""
    maker = Maker(full=full, zero=zero, whole=whole)
    made = maker.make(NodeSnapshot)
    if not full:
        return made
    pod, service = made.pods[0], made.services[0]
    pod = msgspec.structs.replace(pod, container_paths=("/pod/container", "/pod/sandbox"), cgroup_path="/pod")
    record = msgspec.structs.replace(service.record, cgroup_path="/service")
    samples = (
        _group(maker, "/slice", CgroupKind.SLICE),
        _group(maker, "/pod", CgroupKind.POD),
        _group(maker, "/pod/container", CgroupKind.CONTAINER, _container(pod).container_id),
        _group(maker, "/pod/sandbox", CgroupKind.CONTAINER, "the-sandbox"),
        _group(maker, "/service", CgroupKind.SERVICE),
    )
    return msgspec.structs.replace(
        made,
        cgroups=msgspec.structs.replace(made.cgroups, samples=samples),
        pods=(pod,),
        services=(Service(record=record, qos=service.qos),),
    )


def _container(pod: Pod) -> Container:
    return pod.record.containers[0]


def _group(maker: Maker, path: str, kind: CgroupKind, container_id: str | None = None) -> CgroupSample:
    sample = maker.make(CgroupSample)
    identity = msgspec.structs.replace(sample.id, path=path, kind=kind)
    if container_id is not None:
        identity = msgspec.structs.replace(identity, container_id=container_id)
    return msgspec.structs.replace(sample, id=identity)


def leaves(value: object, name: str = "") -> Iterator[tuple[str, object]]:
    """Field name and value of everything below that is no struct, tuple or dict."""
    match value:
        case msgspec.Struct():
            for field in msgspec.structs.fields(value):
                yield from leaves(getattr(value, field.name), field.name)
        case tuple():
            for one in value:
                yield from leaves(one, name)
        case dict():
            for key, one in value.items():
                yield name, key
                yield from leaves(one, name)
        case _:
            yield name, value
