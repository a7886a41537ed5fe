"""A snapshot as tables: what `fuyaoctl snapshot` prints and the live view shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fuyaod.model.cgroup import CgroupSample
from fuyaod.model.findings import Finding, FindingStatus
from fuyaod.model.pods import SourceState
from fuyaod.model.pressure import Pressure
from fuyaod.model.qos import QosClass, QosVerdict
from fuyaod.model.snapshot import NodeSnapshot
from fuyaod.model.values import Value
from fuyaod.view.rates import GroupRate, cpu_busy_ratio, group_rates
from fuyaod.view.table import Table
from fuyaod.view.text import printable
from fuyaod.view.units import UNKNOWN, cores, percent, size, word

_ORDER = (FindingStatus.MISSING, FindingStatus.DEGRADED, FindingStatus.OK)


class Workload(Value, frozen=True, kw_only=True):
    """A pod or a service, in one row."""

    name: str
    qos: QosVerdict
    sample: CgroupSample | None
    rate: GroupRate | None


def headline(now: NodeSnapshot, before: NodeSnapshot | None = None) -> str:
    """Node, system and load in one line."""
    host = now.host
    os_name = " ".join(part for part in (host.os_id, host.os_version) if part)
    busy = cpu_busy_ratio(before, now)
    parts = [
        host.node_name,
        f"{word(host.kernel_release)} {word(host.machine)}",
        os_name or UNKNOWN,
        f"{len(now.topology.cpu.online)} CPUs online" + (f", {busy * 100:.0f} % busy" if busy is not None else ""),
    ]
    if now.memory is not None:
        parts.append(f"memory {size(now.memory.available_bytes)} of {size(now.memory.total_bytes)} available")
    return printable(" · ".join(parts))


def screens(now: NodeSnapshot, before: NodeSnapshot | None = None, most: int = 20) -> tuple[Table, ...]:
    """All tables in the order in which they are shown; `most` bounds the rows of the pod table."""
    rows = tuple(workloads(now, group_rates(before, now)))
    return (
        pressure_table(now),
        class_table(rows),
        workload_table(rows, most),
        numa_table(now),
        device_table(now),
        source_table(now),
        finding_table(now.findings, "findings of this observation"),
    )


def workloads(now: NodeSnapshot, rates: dict[str, GroupRate]) -> Iterator[Workload]:
    """Pods, then services, with what their groups use."""
    by_path = {sample.id.path: sample for sample in now.cgroups.samples}
    for pod in now.pods:
        record, path = pod.record, pod.cgroup_path or ""
        name = f"{record.namespace}/{record.name}" if record.name else f"pod {record.uid}"
        yield Workload(name=name, qos=pod.qos, sample=by_path.get(path), rate=rates.get(path))
    for service in now.services:
        path = service.record.cgroup_path
        yield Workload(name=service.record.unit, qos=service.qos, sample=by_path.get(path), rate=rates.get(path))


def pressure_table(now: NodeSnapshot) -> Table:
    """System pressure."""
    found = now.pressure
    named = (("cpu", found.cpu), ("memory", found.memory), ("io", found.io), ("irq", found.irq))
    return Table(
        title="pressure (share of time in which some / all tasks waited)",
        columns=("resource", "some 10 s>", "some 60 s>", "full 10 s>", "full 60 s>"),
        rows=tuple(_pressure_row(name, pressure) for name, pressure in named if pressure is not None),
        empty="the kernel reports no pressure (PSI is off)",
    )


def _pressure_row(name: str, pressure: Pressure) -> tuple[str, ...]:
    some, full = pressure.some, pressure.full
    return (
        name,
        percent(some.avg10_pct if some else None),
        percent(some.avg60_pct if some else None),
        percent(full.avg10_pct if full else None),
        percent(full.avg60_pct if full else None),
    )


def class_table(rows: Iterable[Workload]) -> Table:
    """Pods and services summed per class."""
    by_class: dict[QosClass | None, list[Workload]] = {QosClass.HLS: [], QosClass.LS: [], QosClass.BE: [], None: []}
    for row in rows:
        by_class[row.qos.qos].append(row)
    return Table(
        title="classes",
        columns=("class", "pods and services>", "CPUs used>", "memory>", "most stalled>"),
        rows=tuple(_class_row("left alone" if c is None else c.value, members) for c, members in by_class.items()),
    )


def _class_row(name: str, members: list[Workload]) -> tuple[str, ...]:
    used = [m.rate.cpu_cores for m in members if m.rate and m.rate.cpu_cores is not None]
    memory = [_memory(m) for m in members]
    stalled = [m.rate.cpu_stall_pct for m in members if m.rate and m.rate.cpu_stall_pct is not None]
    known = [m for m in memory if m is not None]
    return (
        name,
        str(len(members)),
        cores(sum(used) if used else None),
        size(sum(known) if known else None),
        percent(max(stalled, default=None)),
    )


def workload_table(rows: Iterable[Workload], most: int) -> Table:
    """The pods and services that use the most CPU (without rates: the most CPU time so far)."""
    ordered = sorted(rows, key=_weight, reverse=True)
    more = len(ordered) - most
    return Table(
        title="pods and services" + (f" (first {most} of {len(ordered)})" if more > 0 else ""),
        columns=("class", "CPUs>", "stalled>", "memory>", "name", "why"),
        rows=tuple(_workload_row(row) for row in ordered[:most]),
    )


def _weight(row: Workload) -> tuple[float, int]:
    used = row.rate.cpu_cores if row.rate and row.rate.cpu_cores is not None else 0.0
    return used, row.sample.cpu.usage_us if row.sample and row.sample.cpu else 0


def _workload_row(row: Workload) -> tuple[str, ...]:
    qos = row.qos
    why = qos.rule + "".join(f"; {problem}" for problem in qos.problems)
    return (
        UNKNOWN if qos.qos is None else qos.qos.value,
        cores(row.rate.cpu_cores if row.rate else None),
        percent(row.rate.cpu_stall_pct if row.rate else None),
        size(_memory(row)),
        row.name,
        why,
    )


def _memory(row: Workload) -> int | None:
    if row.sample is None:
        return None
    working_set = row.sample.working_set_bytes
    return working_set if working_set is not None else row.sample.memory_current_bytes


def numa_table(now: NodeSnapshot) -> Table:
    """NUMA nodes with their CPUs, memory, hugepages and devices."""
    memory = {m.node: m for m in now.node_memory}
    rows = []
    for node in now.topology.nodes:
        m = memory.get(node.node)
        pages = ", ".join(f"{h.free}/{h.total} x {size(h.size_bytes)}" for h in (m.hugepages if m else ()) if h.total)
        rows.append(
            (
                str(node.node),
                str(node.cpus) or "no CPUs",
                node.memory_kind.value,
                size(m.free_bytes if m else None),
                size(m.total_bytes if m else None),
                pages or UNKNOWN,
                " ".join(d.bdf for d in now.topology.devices if d.numa_node == node.node) or UNKNOWN,
            )
        )
    return Table(
        title="NUMA nodes",
        columns=("node", "CPUs", "kind", "free>", "total>", "hugepages free/total", "devices"),
        rows=tuple(rows),
    )


def device_table(now: NodeSnapshot) -> Table:
    """Accelerators and network interfaces."""
    rows = [
        (
            d.kind.value,
            d.bdf,
            f"{d.vendor_id:04x}:{d.device_id:04x}",
            word(d.numa_node),
            f"{d.link_speed_gts:g} GT/s x{d.link_width}" if d.link_speed_gts and d.link_width else UNKNOWN,
            word(d.driver),
        )
        for d in now.topology.devices
    ]
    rows += [
        (
            "nic",
            nic.name,
            word(nic.bdf),
            word(nic.numa_node),
            f"{nic.operstate}" + (f", {nic.speed_mbps} Mbit/s" if nic.speed_mbps else ""),
            word(nic.driver),
        )
        for nic in now.nics
    ]
    return Table(
        title="devices",
        columns=("kind", "name", "id", "node>", "link", "driver"),
        rows=tuple(rows),
        empty="no accelerator and no physical network interface",
    )


def source_table(now: NodeSnapshot) -> Table:
    """Where pods and services come from."""
    return Table(
        title="sources of pods and services",
        columns=("source", "state", "detail"),
        rows=tuple(
            (s.kind.value, s.state.value, "; ".join(s.details) or UNKNOWN)
            for s in now.sources
            if s.state is not SourceState.OFF or s.details
        ),
    )


def finding_table(findings: Iterable[Finding], title: str, *, with_ok: bool = False) -> Table:
    """Findings, worst first, with what they cost and how to mend them."""
    return Table(
        title=title,
        columns=("status", "id", "what is", "cost", "mend"),
        rows=tuple(
            (f.status.value, f.id, f.summary, f.cost or UNKNOWN, f.mend or UNKNOWN)
            for f in worst_first(findings, with_ok=with_ok)
        ),
    )


def finding_lines(findings: Iterable[Finding], *, with_ok: bool = False) -> str:
    """Findings, worst first, as paragraphs: what is, what it costs, how to mend it."""
    shown = worst_first(findings, with_ok=with_ok)
    return "\n".join(printable(line) for finding in shown for line in _finding_lines(finding)) or "nothing to mend"


def worst_first(findings: Iterable[Finding], *, with_ok: bool) -> list[Finding]:
    """Missing, then degraded, then (when wanted) what is fine."""
    shown = [f for f in findings if with_ok or f.status is not FindingStatus.OK]
    return sorted(shown, key=lambda f: (_ORDER.index(f.status), f.id))


def _finding_lines(finding: Finding) -> Iterator[str]:
    yield f"{finding.status.value:8}  {finding.id}: {finding.summary}"
    if finding.cost:
        yield f"{'':10}costs: {finding.cost}"
    if finding.mend:
        yield f"{'':10}mend:  {finding.mend}"
