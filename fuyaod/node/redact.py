"""What of a recording may leave the machine: a list of what is kept, so that a file nobody thought of stays at home."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from fuyaod.hostfs.record import Tape
from fuyaod.model.pods import Container, OwnerRef, PodRecord, SourceHealth, SourceReport
from fuyaod.qos.decide import ACCEPTED, PROTECTED_NAMESPACE

NODE_NAME: Final = "node"

KEPT: Final = re.compile(
    r"""
      sys/.*
    | proc/(stat|meminfo|filesystems|config\.gz) | proc/pressure/.* | proc/sys/.*
    | proc/self/(cgroup|limits|timens_offsets|ns/.*)
    | (etc|usr/lib)/os-release | usr/local/Ascend/.*/version\.info | (var/lib|run)/crio/version
    """,
    re.VERBOSE,
).fullmatch
"""Files kept as they are: numbers of the kernel, names of control groups, units and interfaces, versions."""

KEPT_NAMES: Final = re.compile(
    r"(sys|dev|lib|usr|run|var/run|proc/self/ns|etc/os-release|var/lib/kubelet/device-plugins)(/.*)?"
).fullmatch
"""Folders whose listings, and links whose targets, are kept."""

BOOT_OPTIONS: Final = frozenset(
    (
        *("isolcpus", "nohz_full", "nosmt", "maxcpus", "nr_cpus", "mitigations", "clocksource", "tsc"),
        *("psi", "cgroup", "cgroup_no_v1", "systemd.unified_cgroup_hierarchy", "swapaccount", "rdt", "arm64.mpam"),
        *("hugepages", "hugepagesz", "default_hugepagesz", "transparent_hugepage"),
        *("numa", "numa_balancing", "mem_sampling_on", "numa_icon"),
    )
)
"""Boot options that decisions or `doctor` read; the rest (disks, consoles, credentials) stays at home."""

KUBELET_OPTIONS: Final = re.compile(
    r"(cgroupDriver|cgroupRoot|cpuManagerPolicy|memoryManagerPolicy|topologyManager(Policy|Scope)|reservedSystemCPUs"
    r"|systemCgroups|kubeletCgroups|cgroupsPerQOS|failSwapOn|apiVersion|kind)"
).fullmatch
"""Scalars of kubelet's configuration that are kept."""


def clean_tape(tape: Tape) -> Tape:
    """The tape without personal details. A file of any other path, and one that is no text where text is cleaned, is
    left out."""
    text = {path: cleaned for path, raw in tape.text.items() if (cleaned := _clean(path, raw)) is not None}
    return msgspec.structs.replace(
        tape,
        text=text,
        binary={path: raw for path, raw in tape.binary.items() if path not in CLEANERS and KEPT(path)},
        links={path: target for path, target in tape.links.items() if KEPT_NAMES(path)},
        folders={path: names for path, names in tape.folders.items() if KEPT_NAMES(path)},
    )


def clean_report(report: SourceReport) -> SourceReport:
    """What a source knew, with names replaced by stable stand-ins and only the labels that claim a class."""
    known = report.health
    health = SourceHealth(kind=known.kind, state=known.state, since_ns=known.since_ns, dropped=known.dropped)
    return SourceReport(health=health, pods=tuple(map(_clean_pod, report.pods)), services=report.services)


def alias(name: str) -> str:
    """A stand-in that is the same for the same name."""
    return hashlib.sha256(name.encode(errors="replace")).hexdigest()[:10]


def _clean(path: str, raw: str) -> str | None:
    cleaner = CLEANERS.get(path)
    if cleaner is not None:
        return cleaner(raw)
    return raw if KEPT(path) else None


def _clean_hostname(_: str) -> str:
    return NODE_NAME + "\n"


def _clean_cmdline(raw: str) -> str:
    return " ".join(word for word in raw.split() if word.partition("=")[0] in BOOT_OPTIONS) + "\n"


def _clean_cpuinfo(raw: str) -> str:
    return "".join(line for line in raw.splitlines(keepends=True) if not line.lower().startswith("serial"))


def _clean_status(raw: str) -> str:
    kept = ("Cap", "NoNewPrivs")
    return "".join(line for line in raw.splitlines(keepends=True) if line.startswith(kept))


def _clean_mountinfo(raw: str) -> str:
    return "".join(line for line in raw.splitlines(keepends=True) if " - cgroup2 " in line)


def _clean_kubelet_config(raw: str) -> str:
    if raw.lstrip().startswith("{"):
        table = _table(raw)
        kept = {k: v for k, v in table.items() if KUBELET_OPTIONS(k) and isinstance(v, str | int | float)}
        return msgspec.json.encode(kept).decode()
    return "".join(line for line in raw.splitlines(keepends=True) if KUBELET_OPTIONS(line.partition(":")[0]))


def _clean_manager_state(raw: str) -> str:
    table = _table(raw)
    entries = table.get("entries")
    kept = {k: v for k, v in table.items() if k in ("policyName", "defaultCpuSet")}
    if isinstance(entries, dict):
        kept["entries"] = {
            alias(pod): {f"container-{n}": value for n, value in enumerate(of_pod.values())}
            for pod, of_pod in entries.items()
            if isinstance(of_pod, dict)
        }
    return msgspec.json.encode(kept).decode()


def _table(raw: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(raw, type=dict[str, Any])
    except msgspec.MsgspecError:
        return {}


CLEANERS: Final[Mapping[str, Callable[[str], str]]] = {
    "proc/sys/kernel/hostname": _clean_hostname,
    "proc/sys/kernel/random/boot_id": lambda _: "",
    "proc/cmdline": _clean_cmdline,
    "proc/cpuinfo": _clean_cpuinfo,
    "proc/self/status": _clean_status,
    "proc/self/mountinfo": _clean_mountinfo,
    "var/lib/kubelet/config.yaml": _clean_kubelet_config,
    "var/lib/kubelet/cpu_manager_state": _clean_manager_state,
    "var/lib/kubelet/memory_manager_state": _clean_manager_state,
}
"""Files that are kept in part."""


def _clean_pod(pod: PodRecord) -> PodRecord:
    return msgspec.structs.replace(
        pod,
        namespace=pod.namespace if pod.namespace in (None, PROTECTED_NAMESPACE) else alias(pod.namespace),
        name=None if pod.name is None else alias(pod.name),
        labels=_claims_only(pod.labels),
        annotations=_claims_only(pod.annotations),
        owners=tuple(map(_clean_owner, pod.owners)),
        containers=tuple(_clean_container(container, n) for n, container in enumerate(pod.containers)),
    )


def _clean_owner(owner: OwnerRef) -> OwnerRef:
    return OwnerRef(
        kind=owner.kind,
        name=alias(owner.name),
        labels=None if owner.labels is None else _claims_only(owner.labels),
        annotations=None if owner.annotations is None else _claims_only(owner.annotations),
    )


def _clean_container(container: Container, number: int) -> Container:
    return msgspec.structs.replace(container, name=f"container-{number}")


def _claims_only(labels: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in labels.items() if key in ACCEPTED}
