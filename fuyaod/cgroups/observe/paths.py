"""What the path of a control group says about it. Pure: no file is read here.

Three forms are understood, anywhere in the tree (`--cgroup-root`, kind and a kubelet in a slice put something in
front):

    cgroupfs   /kubepods/burstable/pod<UID>/<id>, CRI-O /kubepods/burstable/pod<UID>/crio-<id>
    systemd    /kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod<UID_>.slice/cri-containerd-<id>.scope
    mismatch   /system.slice/containerd.service/kubepods-burstable-pod<UID_>.slice:cri-containerd:<id>
               (kubelet speaks systemd, the runtime takes the name for a plain path)

Source: Kubernetes pkg/kubelet/cm/cgroup_manager_linux.go (names and escaping), runc libcontainer/cgroups/systemd
(scope names), CRI-O internal/config/cgmgr (`crio-`, `crio-conmon-`).
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from fuyaod.model.cgroup import CgroupDriver, CgroupId, CgroupKind, KubeQos

QOS_LEVELS: Final = {"burstable": KubeQos.BURSTABLE, "besteffort": KubeQos.BEST_EFFORT}
RUNTIMES: Final = {"cri-containerd": "containerd", "crio": "cri-o", "docker": "docker"}

_BARE_ID: Final = re.compile(r"[0-9a-f]{12,64}")
_ID: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z_.-]*")
_UID: Final = _ID
_MISMATCH: Final = re.compile(r"(?:.+-)?kubepods(?:-(burstable|besteffort))?-pod([^.:]+)\.slice:([^:]+):([^:]+)")
_QOS_LEVEL: Final = re.compile(r"burstable|besteffort|(?:.+-)?kubepods-(?:burstable|besteffort)\.slice")
_POD: Final = re.compile(
    r"pod(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32})"
    r"|(?:.+-)?kubepods(?:-(?:burstable|besteffort))?-pod[^.:]+\.slice(?::[^:]+:[^:]+)?"
)
"""A pod's group by its own name alone: a UID, or the hash of a static pod's manifest."""


class _Place(NamedTuple):
    """Where in Kubernetes' part of the tree a path ends: `rest` are the names below the pod."""

    driver: CgroupDriver
    qos: KubeQos | None
    pod_uid: str | None
    rest: tuple[str, ...]


def identify(path: str, inode: int) -> CgroupId | None:
    """The group at `path` (below the mount, from "/"), None for one that stands for nothing we know.

    None also for what runs beside or below a container: CRI-O's `crio-conmon-*`, the child groups a container makes
    for itself.
    """
    names = [name for name in path.split("/") if name]
    if not names:
        return None
    place = _kubernetes_place(names)
    if place is not None:
        return _kubernetes_id(path, inode, place)
    for depth, name in enumerate(names):
        mismatch = _MISMATCH.fullmatch(name)
        if mismatch is not None:
            return _mismatched_id(path, inode, mismatch) if depth == len(names) - 1 else None
    return _unit_id(path, inode, names)


def is_in_pod(path: str) -> bool:
    """Whether `path` is a pod's group or lies below one."""
    if "pod" not in path:
        return False
    names = [name for name in path.split("/") if name]
    place = _kubernetes_place(names)
    if place is not None:
        return place.pod_uid is not None
    return is_in_pod_beside_us(path) or any(_MISMATCH.fullmatch(name) for name in names)


def is_in_pod_beside_us(path: str) -> bool:
    """Whether `path` leads from a control group namespace inside Kubernetes' groups to a pod: `..` and then the pod or
    its QoS level, with no `kubepods` above them.

    Source: cgroup_namespaces(7): `/proc/PID/cgroup` is relative to the reader's own namespace.
    """
    if not path.startswith("/../"):
        return False
    names = [name for name in path.split("/") if name not in ("", "..")]
    if names and _QOS_LEVEL.fullmatch(names[0]):
        names = names[1:]
    return bool(names) and _POD.fullmatch(names[0]) is not None


def unit_name(name: str) -> str:
    """A unit's name from its group's: systemd puts `_` before names that could be taken for a kernel file.

    Source: systemd src/basic/cgroup-util.c, cg_unescape().
    """
    return name[1:] if name.startswith("_") else name


def _kubernetes_place(names: list[str]) -> _Place | None:
    for depth, name in enumerate(names):
        below = names[depth + 1 :]
        if name == "kubepods":
            return _cgroupfs_place(below)
        if name.endswith(".slice") and (name == "kubepods.slice" or name.endswith("-kubepods.slice")):
            return _systemd_place(name.removesuffix(".slice"), below)
    return None


def _cgroupfs_place(below: list[str]) -> _Place | None:
    driver, qos = CgroupDriver.CGROUPFS, None
    if below and below[0] in QOS_LEVELS:
        qos, below = QOS_LEVELS[below[0]], below[1:]
    if not below:
        return _Place(driver, qos, None, ())
    if not below[0].startswith("pod"):
        return None
    return _pod_place(driver, qos, below[0][3:], below[1:])


def _systemd_place(stem: str, below: list[str]) -> _Place | None:
    driver, qos = CgroupDriver.SYSTEMD, None
    if below:
        level = below[0].removeprefix(stem + "-").removesuffix(".slice")
        if level in QOS_LEVELS and below[0] == f"{stem}-{level}.slice":
            qos, stem, below = QOS_LEVELS[level], f"{stem}-{level}", below[1:]
    if not below:
        return _Place(driver, qos, None, ())
    if not (below[0].startswith(stem + "-pod") and below[0].endswith(".slice")):
        return None
    uid = below[0][len(stem) + 4 : -6].replace("_", "-")
    return _pod_place(driver, qos, uid, below[1:])


def _pod_place(driver: CgroupDriver, qos: KubeQos | None, uid: str, rest: list[str]) -> _Place | None:
    if not _UID.fullmatch(uid):
        return None
    return _Place(driver, qos or KubeQos.GUARANTEED, uid, tuple(rest))


def _kubernetes_id(path: str, inode: int, place: _Place) -> CgroupId | None:
    if place.pod_uid is None:
        return CgroupId(path=path, inode=inode, kind=CgroupKind.SLICE, kube_qos=place.qos, driver=place.driver)
    if not place.rest:
        return CgroupId(
            path=path,
            inode=inode,
            kind=CgroupKind.POD,
            pod_uid=place.pod_uid,
            kube_qos=place.qos,
            driver=place.driver,
        )
    container = _container(place.rest[0]) if len(place.rest) == 1 else None
    if container is None:
        return None
    return CgroupId(
        path=path,
        inode=inode,
        kind=CgroupKind.CONTAINER,
        pod_uid=place.pod_uid,
        kube_qos=place.qos,
        container_id=container[0],
        runtime=container[1],
        driver=place.driver,
    )


def _container(name: str) -> tuple[str, str | None] | None:
    """Container id and runtime from the name of a group right below a pod's."""
    body = name.removesuffix(".scope")
    if "conmon-" in body:
        return None
    for prefix, runtime in RUNTIMES.items():
        found = body.removeprefix(prefix + "-")
        if found != body:
            return (found, runtime) if _ID.fullmatch(found) else None
    bare = body.rpartition("-")[2] if body != name else body
    return (bare, None) if _BARE_ID.fullmatch(bare) else None


def _mismatched_id(path: str, inode: int, match: re.Match[str]) -> CgroupId | None:
    level, uid, prefix, container_id = match.groups()
    uid = uid.replace("_", "-")
    if not (_UID.fullmatch(uid) and _ID.fullmatch(container_id)):
        return None
    return CgroupId(
        path=path,
        inode=inode,
        kind=CgroupKind.CONTAINER,
        pod_uid=uid,
        kube_qos=QOS_LEVELS[level] if level else KubeQos.GUARANTEED,
        container_id=container_id,
        runtime=RUNTIMES.get(prefix),
        driver=CgroupDriver.SYSTEMD,
    )


def _unit_id(path: str, inode: int, names: list[str]) -> CgroupId | None:
    """A unit of this machine's own systemd: all above it are slices. Units inside containers and of users are not."""
    if not all(_has_stem(unit_name(name), ".slice") for name in names[:-1]):
        return None
    unit = unit_name(names[-1])
    if _has_stem(unit, ".slice"):
        return CgroupId(path=path, inode=inode, kind=CgroupKind.SLICE, unit=unit)
    if _has_stem(unit, ".service") or _has_stem(unit, ".scope"):
        return CgroupId(path=path, inode=inode, kind=CgroupKind.SERVICE, unit=unit)
    return None


def _has_stem(unit: str, suffix: str) -> bool:
    return len(unit) > len(suffix) and unit.endswith(suffix)
