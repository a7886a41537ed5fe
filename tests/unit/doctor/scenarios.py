"""All cases."""

from __future__ import annotations

from tests.unit.doctor.case import Case
from tests.unit.doctor.cases_edge import EDGES
from tests.unit.doctor.cases_kernel import CGROUP, HOST, PRESSURE, PRIVILEGE, RESCTRL
from tests.unit.doctor.cases_node import CPU, DEVICES, KUBELET, MEMORY

CASES = EDGES + HOST + CGROUP + PRESSURE + PRIVILEGE + RESCTRL + KUBELET + DEVICES + MEMORY + CPU

__all__ = ["CASES", "Case"]
