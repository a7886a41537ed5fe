"""Pressure of the whole system."""

from __future__ import annotations

import errno
from typing import Final

from fuyaod.errors import FuyaodError, HostDenied, HostFileError
from fuyaod.hostfs import HostRoot, KeptFile
from fuyaod.hostfs.parse import parse_pressure
from fuyaod.model.pressure import Pressure, SystemPressure

RESOURCES: Final = ("cpu", "memory", "io", "irq")


class SystemPressureObserver:
    """Reads `/proc/pressure/*` with kept descriptors. `problems` tells after each `observe` what gave no value and why,
    `denied` whether more rights would help.

    A resource is None where the kernel has no file for it, where reading gives EOPNOTSUPP (a kernel built with
    PSI_DEFAULT_DISABLED and booted without `psi=1`, which is no problem), and where there is a problem.
    """

    def __init__(self, host: HostRoot) -> None:
        self._host = host
        self._kept = [host.keep(f"proc/pressure/{resource}") for resource in RESOURCES]
        self.problems: dict[str, str] = {}
        self.denied = False

    def observe(self) -> SystemPressure:
        """The pressure now. Never raises."""
        self.problems, self.denied = {}, False
        cpu, memory, io, irq = [self._read(kept) for kept in self._kept]
        return SystemPressure(cpu=cpu, memory=memory, io=io, irq=irq)

    def close(self) -> None:
        """Gives the descriptors back."""
        for kept in self._kept:
            kept.close()

    def _read(self, kept: KeptFile) -> Pressure | None:
        try:
            raw = kept.read()
            return None if raw is None else parse_pressure(raw, self._host.absolute(kept.relative))
        except FuyaodError as error:
            if not isinstance(error, HostFileError) or error.errno != errno.EOPNOTSUPP:
                self.problems[kept.relative] = str(error)
                self.denied = self.denied or isinstance(error, HostDenied)
        return None
