"""Pure readers of the machine: a `HostRoot` in, values and findings out. Nothing here raises for what a file holds."""

from fuyaod.numa.observe.events import HotplugEvents, Topic
from fuyaod.numa.observe.memory import (
    NodeMemoryReader,
    observe_cpu_time,
    observe_node_memory,
    observe_system_memory,
)
from fuyaod.numa.observe.nics import NicReader, observe_nics
from fuyaod.numa.observe.pci import observe_accelerators
from fuyaod.numa.observe.reading import Observed
from fuyaod.numa.observe.topology import observe_topology

__all__ = [
    "HotplugEvents",
    "NicReader",
    "NodeMemoryReader",
    "Observed",
    "Topic",
    "observe_accelerators",
    "observe_cpu_time",
    "observe_nics",
    "observe_node_memory",
    "observe_system_memory",
    "observe_topology",
]
