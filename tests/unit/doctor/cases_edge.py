"""The last value that is still good, and words that summaries must have."""

from __future__ import annotations

import msgspec

from fuyaod.model.facts import Limit
from fuyaod.model.topology import Hugepages
from tests.unit.doctor.case import DEGRADED, MISSING, OK, ROOT_ALONE, Case, replace
from tests.unit.doctor.ideal import IDEAL, but, memory_node

ONE_GIB = (Hugepages(size_bytes=1 << 30, total=8, free=8, surplus=0),)
EDGES = (
    Case("kernel.release", "oldest", but("kernel", release="5.10.0"), OK, "5.10.0"),
    Case("kernel.distribution", "id alone", but("kernel", os_name=None), OK, "openEuler"),
    Case("systemd.running", "oldest", but("kernel", systemd_version="244"), OK, "244"),
    Case("cgroup.kill", "no group, first", replace(ROOT_ALONE, "kernel", release="5.14.0"), OK, "5.14"),
    Case("cgroup.delegation", "names controllers", IDEAL, OK, "cpu cpuset memory io pids enabled"),
    Case("privilege.memlock", "enough", but("process", cap_eff=0, memlock=Limit(soft=64 << 20, hard=0)), OK, "64 MiB"),
    Case("privilege.nofile", "enough", but("process", nofile=Limit(soft=0, hard=8192)), OK, "8192"),
    Case(
        "resctrl.classes",
        "four",
        but("resctrl", resources=(msgspec.structs.replace(IDEAL.resctrl.resources[0], num_closids=4),)),
        OK,
        "4 classes",
    ),
    Case("resctrl.cache", "shape", IDEAL, OK, "L3 mask 7fff, at least 1 bit, shared with I/O: c00"),
    Case("resctrl.bandwidth", "shape", IDEAL, OK, "MB from 10 in steps of 10"),
    Case("resctrl.mounted", "names", IDEAL, OK, "allocates L3, MB"),
    Case("resctrl.monitoring", "local only", but("resctrl", monitors=("mbm_local_bytes",)), OK, "for 256 groups"),
    Case("npu.driver", "no manager", but("accelerators", davinci_manager=False), MISSING, "no /dev/davinci_manager"),
    Case(
        "npu.present",
        "manager alone",
        but("accelerators", devices=(), davinci_nodes=(), ascend_version=None),
        DEGRADED,
        "version not known",
    ),
    Case("gpu.driver", "version", IDEAL, OK, "550.54.15: /dev/nvidia0"),
    Case(
        "memory.hugepages",
        "other size",
        but("memory", nodes=(memory_node(0), memory_node(1, hugepages=ONE_GIB))),
        DEGRADED,
        "2 MiB not on node 1, 1 GiB not on node 0",
    ),
    Case("memory.nodes", "two", IDEAL, OK, "2 NUMA nodes"),
    Case("memory.nodes", "one", but("memory", nodes=(memory_node(0),)), OK, "1 NUMA node"),
    Case(
        "memory.swap",
        "on, kubelet not mounted",
        replace(but("memory", swap_total_bytes=1 << 30), "kubelet", folder=False),
        DEGRADED,
        "1024 MiB",
    ),
    Case("clock.source", "hpet, others", but("clock", source="hpet"), DEGRADED, "available: tsc, hpet"),
    Case("clock.sync", "who", IDEAL, OK, "(chrony)"),
)
