"""Which hierarchy this host gives us."""

from __future__ import annotations

from fuyaod.errors import FuyaodError
from fuyaod.hostfs import HostRoot
from fuyaod.hostfs.parse import parse_words
from fuyaod.model.cgroup import CgroupMode
from fuyaod.model.values import Value

UNIFIED_MOUNT = "sys/fs/cgroup"
HYBRID_MOUNT = "sys/fs/cgroup/unified"


class Hierarchy(Value, frozen=True, kw_only=True):
    """The v2 hierarchy; `mount` is its folder relative to the host root, None on a host without one.

    `controllers` are those of its root. `problem` is why the answer may be wrong, None when it is not.
    """

    mode: CgroupMode
    mount: str | None
    controllers: tuple[str, ...]
    problem: FuyaodError | None = None


def find_hierarchy(host: HostRoot) -> Hierarchy:
    """Looks where systemd and all distributions mount cgroups. Never raises.

    Source: systemd docs/CGROUP_DELEGATION.md, "Three Different Tree Setups".
    """
    try:
        for mode, mount in ((CgroupMode.UNIFIED, UNIFIED_MOUNT), (CgroupMode.HYBRID, HYBRID_MOUNT)):
            path = f"{mount}/cgroup.controllers"
            controllers = host.read(path)
            if controllers is not None:
                return Hierarchy(mode=mode, mount=mount, controllers=parse_words(controllers, host.absolute(path)))
        mode = CgroupMode.LEGACY if _has_v1(host) else CgroupMode.NONE
        return Hierarchy(mode=mode, mount=None, controllers=())
    except FuyaodError as error:
        return Hierarchy(mode=CgroupMode.NONE, mount=None, controllers=(), problem=error)


def _has_v1(host: HostRoot) -> bool:
    """Every v1 hierarchy has a `tasks` file in its root."""
    names = host.list(UNIFIED_MOUNT) or ()
    return any(host.exists(f"{UNIFIED_MOUNT}/{name}/tasks") for name in names)
