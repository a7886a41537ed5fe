"""Pods and services to put on a host: the readable default set, or a number of generated ones."""

from __future__ import annotations

import functools
import hashlib
import tomllib

import msgspec

from tests.hosts.shape import FOLDER


class ContainerSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A container to be placed."""

    name: str
    exclusive: int = 0
    children: tuple[str, ...] = ()


class PodSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A pod to be placed. `sandbox`: it has a pause container, as every pod of a real runtime does."""

    name: str
    namespace: str
    uid: str
    kube_qos: str
    qos_class: str | None = None
    static_hash: str | None = None
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    containers: tuple[ContainerSpec, ...]
    sandbox: bool = True

    def container_id(self, name: str) -> str:
        """64 hexadecimal digits, the same at every run."""
        return hashlib.sha256(f"{self.uid}/{name}".encode()).hexdigest()


class UnitSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A systemd unit and the slices above it."""

    unit: str
    slices: tuple[str, ...] = ()
    comm: str
    threads: int = 1
    pid: int | None = None


@functools.cache
def default_pods() -> tuple[PodSpec, ...]:
    """The readable set of `podsets/default.toml`."""
    raw = tomllib.loads((FOLDER / "podsets/default.toml").read_text())
    return msgspec.convert(raw["pods"], tuple[PodSpec, ...])


@functools.cache
def units() -> tuple[UnitSpec, ...]:
    """The services of `podsets/services.toml`."""
    raw = tomllib.loads((FOLDER / "podsets/services.toml").read_text())
    return msgspec.convert(raw["units"], tuple[UnitSpec, ...])


# What a generated pod is, by turns: class by label, and Kubernetes' own class.
_TURNS = (("HLS", "Guaranteed"), ("LS", "Burstable"), ("BE", "BestEffort"), (None, "Burstable"), ("BE", "Burstable"))


def generated_pods(count: int, containers_per_pod: int) -> tuple[PodSpec, ...]:
    """`count` pods of `containers_per_pod` containers each, without pause containers, so that the number of groups is
    exact."""
    found = []
    for number in range(count):
        qos_class, kube_qos = _TURNS[number % len(_TURNS)]
        digest = hashlib.md5(f"pod {number}".encode(), usedforsecurity=False).hexdigest()
        uid = f"{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-a{digest[17:20]}-{digest[20:]}"
        found.append(
            PodSpec(
                name=f"load-{number}",
                namespace="load",
                uid=uid,
                kube_qos=kube_qos,
                qos_class=qos_class,
                labels={"openfuyao.io/qos": qos_class} if qos_class else {},
                containers=tuple(ContainerSpec(name=f"c{index}") for index in range(containers_per_pod)),
                sandbox=False,
            )
        )
    return tuple(found)
