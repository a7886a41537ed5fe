"""`NodeSnapshot`: everything the agent knows of its node at one moment, frozen and serialisable."""

from __future__ import annotations

from typing import Final

from fuyaod.model.cgroup import CgroupTree
from fuyaod.model.devices import Nic, PciDevice
from fuyaod.model.findings import Finding
from fuyaod.model.pods import Pod, Service, SourceHealth
from fuyaod.model.pressure import SystemPressure
from fuyaod.model.process import Census, OwnBudget
from fuyaod.model.topology import CpuTime, CpuTopology, NodeMemory, NumaNode, SystemMemory
from fuyaod.model.values import Value

SNAPSHOT_SCHEMA: Final = 1
"""Raised when a field changes meaning or goes; new fields with defaults do not raise it."""


class HostIdentity(Value, frozen=True, kw_only=True):
    """What the machine runs. `os_id` and `os_version` are ID and VERSION_ID of os-release, None without that file."""

    node_name: str
    kernel_release: str | None
    machine: str | None
    os_id: str | None
    os_version: str | None
    boot_time_s: int | None


class Topology(Value, frozen=True, kw_only=True):
    """The machine as it was built: changes on hotplug only. `observed_at_ns` is when it was read."""

    observed_at_ns: int
    cpu: CpuTopology
    nodes: tuple[NumaNode, ...]
    devices: tuple[PciDevice, ...]


class NodeSnapshot(Value, frozen=True, kw_only=True):
    """One consistent view of the node.

    `at_ns` is CLOCK_MONOTONIC and the only time that decisions see; `wall_s` is for people. `seq` counts from 1 at the
    agent's start. `findings` are those of the observers: what could not be read, and why.
    """

    schema: int = SNAPSHOT_SCHEMA
    seq: int
    at_ns: int
    wall_s: float
    host: HostIdentity
    topology: Topology
    memory: SystemMemory | None
    node_memory: tuple[NodeMemory, ...]
    cpu_time: CpuTime | None
    pressure: SystemPressure
    nics: tuple[Nic, ...]
    cgroups: CgroupTree
    pods: tuple[Pod, ...]
    services: tuple[Service, ...]
    sources: tuple[SourceHealth, ...]
    census: Census | None
    own: OwnBudget | None
    findings: tuple[Finding, ...]
