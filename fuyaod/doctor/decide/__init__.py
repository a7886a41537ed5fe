"""Judges the facts. Pure: no file, no clock, no environment.

To add a check, write a function `(facts) -> Finding | None` in the module of its area, yield it there, add a row to
docs/doctor.md and both directions to `tests/unit/doctor/cases_*.py`.
"""

from __future__ import annotations

from typing import Final

from fuyaod.doctor.decide.cgroup import diagnose_cgroup
from fuyaod.doctor.decide.clock import diagnose_clock
from fuyaod.doctor.decide.cpu import diagnose_cpu
from fuyaod.doctor.decide.kernel import diagnose_kernel
from fuyaod.doctor.decide.kubelet import diagnose_kubelet
from fuyaod.doctor.decide.memory import diagnose_memory
from fuyaod.doctor.decide.npu import diagnose_npu
from fuyaod.doctor.decide.privilege import diagnose_privilege
from fuyaod.doctor.decide.psi import diagnose_psi
from fuyaod.doctor.decide.resctrl import diagnose_resctrl
from fuyaod.doctor.decide.runtime import diagnose_runtime
from fuyaod.model.facts import HostFacts
from fuyaod.model.findings import Finding

AREAS: Final = (
    diagnose_kernel,
    diagnose_cgroup,
    diagnose_psi,
    diagnose_privilege,
    diagnose_resctrl,
    diagnose_kubelet,
    diagnose_runtime,
    diagnose_npu,
    diagnose_memory,
    diagnose_cpu,
    diagnose_clock,
)


def diagnose(facts: HostFacts) -> tuple[Finding, ...]:
    """All findings, in the fixed order of the areas. A check that the facts say nothing about gives none."""
    judged = (finding for area in AREAS for finding in area(facts) if finding is not None)
    return (*judged, *facts.found)
