"""Values that flow between observe, decide and act. No I/O, no clock, no settings are read here."""

from fuyaod.model.cpuset import CpuSet
from fuyaod.model.snapshot import NodeSnapshot

__all__ = ["CpuSet", "NodeSnapshot"]
