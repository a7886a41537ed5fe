"""Pressure files: whether they are there, and whether reading them gives numbers."""

from __future__ import annotations

import errno
from typing import Final

from fuyaod.doctor.observe.reader import Reader
from fuyaod.errors import FuyaodError, HostFileError
from fuyaod.hostfs.parse import parse_pressure
from fuyaod.model.facts import CgroupFacts, PsiFacts, PsiState

RESOURCES: Final = ("cpu", "memory", "io", "irq")
"""Source: Linux Documentation/accounting/psi.rst; irq since 6.1 with CONFIG_IRQ_TIME_ACCOUNTING."""


def observe_psi(reader: Reader, cgroup: CgroupFacts) -> PsiFacts:
    """System pressure, and that of the deepest group on the way to the pods (the root group has no such files)."""
    system = {name: pressure_state(reader, f"proc/pressure/{name}") for name in RESOURCES}
    groups = [*reversed(cgroup.levels), *cgroup.others]
    path = next((group.path for group in groups if group.path != "/"), None)
    if path is None or cgroup.mount is None:
        return PsiFacts(system=system)
    return PsiFacts(
        system=system, cgroup=pressure_state(reader, f"{cgroup.mount}{path}/cpu.pressure"), cgroup_path=path
    )


def pressure_state(reader: Reader, path: str) -> PsiState:
    """What reading one pressure file gives. EOPNOTSUPP is an answer here and no refusal."""
    try:
        raw = reader.host.read(path)
        if raw is None:
            return PsiState.ABSENT
        if not raw.strip():  # a copied tree has an empty file where the kernel refuses to read
            return PsiState.SWITCHED_OFF
        parse_pressure(raw, reader.host.absolute(path))
    except HostFileError as error:
        if error.errno == errno.EOPNOTSUPP:
            return PsiState.SWITCHED_OFF
        reader.note(path, error)
        return PsiState.REFUSED
    except (FuyaodError, ValueError) as error:
        reader.note(path, error)
        return PsiState.REFUSED
    return PsiState.READABLE
