"""Readers of the table that speak of the machine and the agent."""

from __future__ import annotations

from collections.abc import Iterator

from fuyaod.agent.metrics.rows import Row, label, psi_lines, row, stall_rows
from fuyaod.model.pressure import Pressure
from fuyaod.model.snapshot import NodeSnapshot


def info(s: NodeSnapshot) -> Iterator[Row]:
    """Identity of the node."""
    os_name = " ".join(part for part in (s.host.os_id, s.host.os_version) if part)
    yield (s.host.node_name, label(s.host.kernel_release), label(s.host.machine), os_name), 1.0


def cpus(s: NodeSnapshot) -> Iterator[Row]:
    """CPU counts."""
    cpu = s.topology.cpu
    for state, members in (("online", cpu.online), ("offline", cpu.offline), ("isolated", cpu.isolated)):
        yield (state,), float(len(members))


def cpu_seconds(s: NodeSnapshot) -> Iterator[Row]:
    """CPU time by mode."""
    if s.cpu_time is None:
        return
    for mode in ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"):
        yield (mode,), getattr(s.cpu_time, mode + "_us") / 1e6


def memory(s: NodeSnapshot) -> Iterator[Row]:
    """Memory of the node by kind."""
    if s.memory is None:
        return
    for kind in ("total", "free", "available", "cached", "swap_total", "swap_free"):
        yield (kind,), float(getattr(s.memory, kind + "_bytes"))


def numa_memory(s: NodeSnapshot) -> Iterator[Row]:
    """Memory of each NUMA node by kind."""
    for node in s.node_memory:
        for kind in ("total", "free", "file", "anon"):
            yield (str(node.node), kind), float(getattr(node, kind + "_bytes"))


def hugepages(s: NodeSnapshot) -> Iterator[Row]:
    """Hugepages by node, size and state."""
    for node in s.node_memory:
        for pages in node.hugepages:
            for state in ("total", "free", "surplus"):
                yield (str(node.node), str(pages.size_bytes), state), float(getattr(pages, state))


def _system(s: NodeSnapshot) -> tuple[tuple[str, Pressure | None], ...]:
    p = s.pressure
    return ("cpu", p.cpu), ("memory", p.memory), ("io", p.io), ("irq", p.irq)


def stall_seconds(s: NodeSnapshot) -> Iterator[Row]:
    """PSI totals of the system."""
    return stall_rows(_system(s))


def stall_ratio(s: NodeSnapshot) -> Iterator[Row]:
    """PSI ten-second averages of the system."""
    for resource, pressure in _system(s):
        for kind, line in psi_lines(pressure):
            yield (resource, kind), line.avg10_pct / 100


def device_info(s: NodeSnapshot) -> Iterator[Row]:
    """Accelerators."""
    for d in s.topology.devices:
        yield (
            (d.bdf, d.kind.value, f"{d.vendor_id:04x}", f"{d.device_id:04x}", label(d.numa_node), label(d.driver)),
            1.0,
        )


def device_width(s: NodeSnapshot) -> Iterator[Row]:
    """Link widths."""
    for d in s.topology.devices:
        yield from row(d.link_width, d.bdf)


def device_speed(s: NodeSnapshot) -> Iterator[Row]:
    """Link speeds."""
    for d in s.topology.devices:
        yield from row(d.link_speed_gts, d.bdf)


def nic_up(s: NodeSnapshot) -> Iterator[Row]:
    """Carrier state; an interface that is administratively down has none."""
    for nic in s.nics:
        yield (nic.name, label(nic.numa_node)), float(bool(nic.carrier))


def nic_bytes(s: NodeSnapshot) -> Iterator[Row]:
    """Bytes by direction."""
    for nic in s.nics:
        yield from row(nic.rx_bytes, nic.name, "receive")
        yield from row(nic.tx_bytes, nic.name, "transmit")


def nic_errors(s: NodeSnapshot) -> Iterator[Row]:
    """Errors by direction."""
    for nic in s.nics:
        yield from row(nic.rx_errors, nic.name, "receive")
        yield from row(nic.tx_errors, nic.name, "transmit")


def nic_dropped(s: NodeSnapshot) -> Iterator[Row]:
    """Drops by direction."""
    for nic in s.nics:
        yield from row(nic.rx_dropped, nic.name, "receive")
        yield from row(nic.tx_dropped, nic.name, "transmit")


def nic_carrier_changes(s: NodeSnapshot) -> Iterator[Row]:
    """Link flaps."""
    for nic in s.nics:
        yield from row(nic.carrier_changes, nic.name)


def processes(s: NodeSnapshot) -> Iterator[Row]:
    """Census counts."""
    if s.census is not None:
        yield ("outside_pods",), float(s.census.processes)
        yield ("in_pods",), float(s.census.in_pods)


def processes_memory(s: NodeSnapshot) -> Iterator[Row]:
    """Census memory."""
    if s.census is not None:
        yield (), float(s.census.rss_bytes)


def own_memory(s: NodeSnapshot) -> Iterator[Row]:
    """What the agent holds."""
    if s.own is not None:
        yield ("resident",), float(s.own.rss_bytes)
        yield ("kernel_pinned",), float(s.own.kernel_pinned_bytes)


def own_cpu(s: NodeSnapshot) -> Iterator[Row]:
    """What the agent used."""
    if s.own is not None:
        yield (), s.own.cpu_time_us / 1e6


def own_descriptors(s: NodeSnapshot) -> Iterator[Row]:
    """Descriptors of the agent."""
    if s.own is not None:
        yield ("open",), float(s.own.open_descriptors)
        yield ("limit",), float(s.own.descriptor_limit)
