"""What `doctor` and the observers found, for people and for machines."""

from __future__ import annotations

import enum

from fuyaod.model.values import Value


class FindingStatus(enum.Enum):
    """OK: as it should be. DEGRADED: works with a loss. MISSING: a capability is not there."""

    OK = "ok"
    DEGRADED = "degraded"
    MISSING = "missing"


class Finding(Value, frozen=True, kw_only=True):
    """One thing that was checked.

    `id` is stable (`psi.cgroup`, `kernel.cgroup_v2`), `summary` says what is, `cost` what it costs the user ("" when
    nothing), `mend` the exact thing to do ("" when nothing).
    """

    id: str
    status: FindingStatus
    summary: str
    cost: str = ""
    mend: str = ""
