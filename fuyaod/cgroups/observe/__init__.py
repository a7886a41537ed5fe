"""What the control groups of this host hold and use.

`CgroupObserver` gives the tree once per tick; `CgroupPodSource` and `SystemdServiceSource` read pods and services out
of it; `SystemPressureObserver`, `CensusObserver` and `observe_own_budget` give the rest of the node's load.
"""

from fuyaod.cgroups.observe.census import CensusObserver
from fuyaod.cgroups.observe.observer import CgroupObserver
from fuyaod.cgroups.observe.own import observe_own_budget
from fuyaod.cgroups.observe.pressure import SystemPressureObserver
from fuyaod.cgroups.observe.sources import CgroupPodSource, SystemdServiceSource

__all__ = [
    "CensusObserver",
    "CgroupObserver",
    "CgroupPodSource",
    "SystemPressureObserver",
    "SystemdServiceSource",
    "observe_own_budget",
]
