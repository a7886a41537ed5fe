"""kubelet and the container runtime, as their files and sockets show them. Nothing is asked over a socket."""

from __future__ import annotations

import re
from typing import Final, TypeVar

import msgspec

from fuyaod.doctor.observe.reader import Reader
from fuyaod.errors import HostParseError
from fuyaod.model.cpuset import CpuSet
from fuyaod.model.facts import CpuManagerState, KubeletFacts, MemoryManagerState, RuntimeFacts
from fuyaod.model.values import parse_cpulist

T = TypeVar("T")
ROOT: Final = "var/lib/kubelet"

RUNTIME_SOCKETS: Final = (
    "run/containerd/containerd.sock",
    "run/k3s/containerd/containerd.sock",
    "run/isulad.sock",
    "run/crio/crio.sock",
    "run/cri-dockerd.sock",
)
NRI_SOCKETS: Final = ("run/nri/nri.sock", "var/run/nri/nri.sock")
"""Source: NRI, pkg/api/plugin.go, DefaultSocketPath is /var/run/nri/nri.sock; /var/run is a link to /run."""


class _CpuState(msgspec.Struct):
    """`cpu_manager_state`. Source: Kubernetes pkg/kubelet/cm/cpumanager/state/checkpoint.go."""

    policy: str = msgspec.field(name="policyName")
    default: str = msgspec.field(name="defaultCpuSet", default="")
    entries: dict[str, dict[str, str]] | None = None


class _MemoryState(msgspec.Struct):
    """`memory_manager_state`. Source: Kubernetes pkg/kubelet/cm/memorymanager/state/checkpoint.go."""

    policy: str = msgspec.field(name="policyName")
    entries: dict[str, dict[str, msgspec.Raw]] | None = None


def observe_kubelet(reader: Reader) -> KubeletFacts:
    """kubelet's folder, configuration, manager states and sockets."""
    if not reader.there(ROOT):
        return KubeletFacts()
    text = reader.text(f"{ROOT}/config.yaml")
    plugins = reader.there(f"{ROOT}/device-plugins")
    return KubeletFacts(
        folder=True,
        config=None if text is None else config_scalars(text),
        cpu_state=cpu_manager_state(reader),
        memory_state=memory_manager_state(reader),
        pod_resources_socket=reader.there(f"{ROOT}/pod-resources/kubelet.sock"),
        device_plugins=plugin_sockets(reader) if plugins else None,
    )


def observe_runtime(reader: Reader) -> RuntimeFacts:
    """Runtime sockets that exist. CRI-O alone leaves its version in a file."""
    version = reader.line("var/lib/crio/version") or reader.line("run/crio/version")
    return RuntimeFacts(
        sockets=tuple("/" + path for path in RUNTIME_SOCKETS if reader.there(path)),
        nri_socket=reader.find(*NRI_SOCKETS),
        versions=(f"CRI-O {version[:60]}",) if version else (),
    )


def config_scalars(text: str) -> dict[str, str]:
    """Top-level `key: value` lines of kubelet's YAML; nested tables are passed over, as no YAML parser is on board.

    A file written as JSON (which YAML allows) is read as such.
    """
    if text.startswith("{"):
        return json_scalars(text)
    found: dict[str, str] = {}
    for line in text.splitlines():
        match = re.fullmatch(r"([A-Za-z]\w*):\s+(\"[^\"]*\"|'[^']*'|[^\s#'\"{\[|>&!][^#]*?)\s*(?:#.*)?", line)
        if match:
            found[match[1]] = match[2].strip("\"'")
    return found


def json_scalars(text: str) -> dict[str, str]:
    """The same for JSON, nothing when it is none."""
    try:
        table = msgspec.json.decode(text, type=dict[str, object])
    except (msgspec.MsgspecError, RecursionError):
        return {}
    return {key: str(value) for key, value in table.items() if isinstance(value, str | int | float)}


def cpu_manager_state(reader: Reader) -> CpuManagerState | None:
    """Which CPUs kubelet gave away exclusively."""
    path = f"{ROOT}/cpu_manager_state"
    state = _decode(reader, path, _CpuState)
    if state is None:
        return None
    try:
        sets = [parse_cpulist(cpus) for entry in (state.entries or {}).values() for cpus in entry.values()]
        default = parse_cpulist(state.default)
    except ValueError as error:
        reader.note(path, HostParseError(reader.host.absolute(path), state.default, f"a CPU manager state ({error})"))
        return None
    exclusive = CpuSet()
    for cpus in sets:
        exclusive |= cpus
    return CpuManagerState(policy=state.policy, default=default, exclusive=exclusive, containers=len(sets))


def memory_manager_state(reader: Reader) -> MemoryManagerState | None:
    """How many containers kubelet pinned to memory nodes."""
    state = _decode(reader, f"{ROOT}/memory_manager_state", _MemoryState)
    if state is None:
        return None
    containers = sum(len(entry) for entry in (state.entries or {}).values())
    return MemoryManagerState(policy=state.policy, containers=containers)


def plugin_sockets(reader: Reader) -> tuple[str, ...]:
    """Sockets of device plugins; kubelet's own and its checkpoint are left out."""
    names = reader.names(f"{ROOT}/device-plugins")
    return tuple(name for name in names if name.endswith(".sock") and name != "kubelet.sock")


def _decode(reader: Reader, path: str, kind: type[T]) -> T | None:
    raw = reader.raw(path)
    if raw is None:
        return None
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        reader.note(path, HostParseError(reader.host.absolute(path), raw[:40], f"kubelet's state ({error})"))
        return None
