"""The table of metrics: name, type, help, labels, and how each is read from a snapshot.

Names follow `fuyaod_<noun>_<unit>[_total]`. What the host does not report is absent, never 0.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from typing import NamedTuple

from fuyaod.agent.metrics import node_rows, workload_rows
from fuyaod.agent.metrics.rows import Row
from fuyaod.model.snapshot import NodeSnapshot


class MetricType(enum.Enum):
    """Prometheus types in use."""

    GAUGE = "gauge"
    COUNTER = "counter"


class Metric(NamedTuple):
    """One line of the table. `name` of a counter carries its `_total`."""

    name: str
    type: MetricType
    help: str
    labels: tuple[str, ...]
    read: Callable[[NodeSnapshot], Iterable[Row]]


G, C = MetricType.GAUGE, MetricType.COUNTER
POD = ("namespace", "pod", "uid", "qos")
UNIT = ("unit", "qos")

METRICS: tuple[Metric, ...] = (
    # node
    Metric(
        "fuyaod_node_info", G, "What the machine runs; always 1.", ("node", "kernel", "machine", "os"), node_rows.info
    ),
    Metric("fuyaod_cpus", G, "Logical CPUs by state.", ("state",), node_rows.cpus),
    Metric("fuyaod_cpu_seconds_total", C, "CPU time of all CPUs by mode.", ("mode",), node_rows.cpu_seconds),
    Metric("fuyaod_memory_bytes", G, "Memory of the node.", ("kind",), node_rows.memory),
    Metric("fuyaod_numa_memory_bytes", G, "Memory of one NUMA node.", ("numa_node", "kind"), node_rows.numa_memory),
    Metric(
        "fuyaod_numa_hugepages",
        G,
        "Hugepages of one size on one NUMA node.",
        ("numa_node", "size_bytes", "state"),
        node_rows.hugepages,
    ),
    Metric(
        "fuyaod_pressure_stall_seconds_total",
        C,
        "Time in which some or all tasks of the node stalled (PSI).",
        ("resource", "kind"),
        node_rows.stall_seconds,
    ),
    Metric(
        "fuyaod_pressure_avg10_ratio",
        G,
        "Share of the last 10 s in which tasks of the node stalled (PSI).",
        ("resource", "kind"),
        node_rows.stall_ratio,
    ),
    # devices
    Metric(
        "fuyaod_device_info",
        G,
        "An accelerator on PCI; always 1. numa_node is empty where the platform does not know it.",
        ("bdf", "kind", "vendor_id", "device_id", "numa_node", "driver"),
        node_rows.device_info,
    ),
    Metric("fuyaod_device_link_width_lanes", G, "PCI lanes in use.", ("bdf",), node_rows.device_width),
    Metric("fuyaod_device_link_speed_gts", G, "PCI speed per lane in GT/s.", ("bdf",), node_rows.device_speed),
    Metric("fuyaod_nic_up", G, "Whether the interface has a carrier.", ("nic", "numa_node"), node_rows.nic_up),
    Metric("fuyaod_nic_bytes_total", C, "Bytes on the wire.", ("nic", "direction"), node_rows.nic_bytes),
    Metric("fuyaod_nic_errors_total", C, "Errors the driver counted.", ("nic", "direction"), node_rows.nic_errors),
    Metric("fuyaod_nic_dropped_total", C, "Packets dropped.", ("nic", "direction"), node_rows.nic_dropped),
    Metric(
        "fuyaod_nic_carrier_changes_total", C, "Times the link came or went.", ("nic",), node_rows.nic_carrier_changes
    ),
    # classes, pods and services
    Metric("fuyaod_pods", G, "Pods by class; none: left alone.", ("qos",), workload_rows.pods_by_class),
    Metric("fuyaod_services", G, "Mapped systemd units by class.", ("qos",), workload_rows.services_by_class),
    Metric(
        "fuyaod_pods_with_problems", G, "Pods whose claims conflict or are unknown.", (), workload_rows.problem_pods
    ),
    Metric(
        "fuyaod_pod_info",
        G,
        "A pod and the rule that gave its class; always 1.",
        (*POD, "kube_qos", "rule"),
        workload_rows.pod_info,
    ),
    Metric("fuyaod_pod_cpu_usage_seconds_total", C, "CPU time.", POD, workload_rows.pod_cpu),
    Metric(
        "fuyaod_pod_cpu_throttled_seconds_total",
        C,
        "Time spent throttled by cpu.max.",
        POD,
        workload_rows.pod_throttled,
    ),
    Metric(
        "fuyaod_pod_pressure_stall_seconds_total",
        C,
        "Time in which some or all tasks of the pod stalled (PSI).",
        (*POD, "resource", "kind"),
        workload_rows.pod_stall,
    ),
    Metric("fuyaod_pod_memory_bytes", G, "Memory charged.", POD, workload_rows.pod_memory),
    Metric(
        "fuyaod_pod_working_set_bytes",
        G,
        "Memory charged less inactive file pages.",
        POD,
        workload_rows.pod_working_set,
    ),
    Metric(
        "fuyaod_pod_memory_events_total",
        C,
        "memory.events of the pod.",
        (*POD, "event"),
        workload_rows.pod_memory_events,
    ),
    Metric(
        "fuyaod_pod_io_bytes_total",
        C,
        "Bytes read and written on block devices.",
        (*POD, "direction"),
        workload_rows.pod_io,
    ),
    Metric("fuyaod_pod_pids", G, "Tasks in the pod.", POD, workload_rows.pod_pids),
    Metric("fuyaod_service_cpu_usage_seconds_total", C, "CPU time.", UNIT, workload_rows.service_cpu),
    Metric("fuyaod_service_memory_bytes", G, "Memory charged.", UNIT, workload_rows.service_memory),
    Metric(
        "fuyaod_service_pressure_stall_seconds_total",
        C,
        "Time in which some or all tasks of the unit stalled (PSI).",
        (*UNIT, "resource", "kind"),
        workload_rows.service_stall,
    ),
    # what we know and from whom
    Metric(
        "fuyaod_source_up",
        G,
        "1 when the pod source answers now; no row for a source that is off.",
        ("source", "state"),
        workload_rows.sources,
    ),
    Metric(
        "fuyaod_source_dropped_total",
        C,
        "Things a source sent that could not be understood.",
        ("source",),
        workload_rows.source_dropped,
    ),
    Metric("fuyaod_findings", G, "Findings of the observers by status.", ("status",), workload_rows.findings),
    Metric("fuyaod_cgroups", G, "Groups observed, by kind.", ("kind",), workload_rows.cgroups),
    Metric("fuyaod_processes", G, "Processes by place (census).", ("place",), node_rows.processes),
    Metric(
        "fuyaod_processes_outside_pods_memory_bytes",
        G,
        "Resident memory of processes outside pods (census).",
        (),
        node_rows.processes_memory,
    ),
    # the agent itself
    Metric(
        "fuyaod_agent_memory_bytes",
        G,
        "Memory of the agent: resident, and kernel pages pinned by kept descriptors.",
        ("kind",),
        node_rows.own_memory,
    ),
    Metric("fuyaod_agent_cpu_seconds_total", C, "CPU time of the agent.", (), node_rows.own_cpu),
    Metric("fuyaod_agent_descriptors", G, "Open descriptors and their limit.", ("kind",), node_rows.own_descriptors),
)
