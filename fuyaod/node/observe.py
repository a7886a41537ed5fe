"""`NodeObserver`: one consistent `NodeSnapshot` per call, each domain read as often as it changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fuyaod.cgroups.observe import (
    CensusObserver,
    CgroupObserver,
    CgroupPodSource,
    SystemdServiceSource,
    SystemPressureObserver,
    observe_own_budget,
)
from fuyaod.hostfs import HostRoot
from fuyaod.model.findings import Finding
from fuyaod.model.pods import PodSource
from fuyaod.model.process import Census
from fuyaod.model.settings import Settings
from fuyaod.model.snapshot import HostIdentity, NodeSnapshot, Topology
from fuyaod.node.findings import hierarchy_findings, pressure_findings, source_findings, tree_findings
from fuyaod.node.identity import observe_identity
from fuyaod.numa.observe import (
    NicReader,
    NodeMemoryReader,
    Topic,
    observe_cpu_time,
    observe_system_memory,
    observe_topology,
)
from fuyaod.qos.decide import Directory, join

Drain = Callable[[], frozenset[Topic]]


def no_events() -> frozenset[Topic]:
    """For hosts without hotplug events: only the interval says when to look again."""
    return frozenset()


class NodeObserver:
    """Looks at the whole node. Keeps descriptors and what changes slowly between calls; `close` gives them back.

    Args:
        host: where the files are.
        settings: intervals, service rules, default class.
        sources: pod sources beyond the host's own files (the Kubernetes watch), asked first.
        drain_events: what hotplug events say has to be read again.
        processes: whether processes are looked at: the census of those outside pods, and this one's own budget. Off
            for captures and replays, which speak of another machine.
    """

    def __init__(
        self,
        host: HostRoot,
        settings: Settings,
        *,
        sources: Sequence[PodSource] = (),
        drain_events: Drain = no_events,
        processes: bool = True,
    ) -> None:
        self._host = host
        self._extra_sources = tuple(sources)
        self._drain_events = drain_events
        self._seq = 0
        self._identity: HostIdentity | None = None
        self._topology: Topology | None = None
        self._topology_findings: tuple[Finding, ...] = ()
        self._node_memory: NodeMemoryReader | None = None
        self._nics = NicReader(host)
        self._directory = Directory()
        self._settings = settings
        self._pressure = SystemPressureObserver(host)
        self._cgroups = CgroupObserver(host, settings.observe, settings.qos.services)
        self._sources = self._make_sources()
        self._census = CensusObserver(host, settings.observe) if processes else None
        self._here = HostRoot("/") if processes else None

    def update_settings(self, settings: Settings) -> None:
        """Takes changed settings from the next observation on."""
        self._settings = settings
        self._directory = Directory()  # another default class decides every pod anew
        self._cgroups.reconfigure(settings.observe, settings.qos.services)
        self._sources = self._make_sources()
        if self._census is not None:
            self._census.settings = settings.observe

    def observe(self, at_ns: int, wall_s: float) -> NodeSnapshot:
        """One look. Costs CPU in proportion to the groups; see `bench/snapshot.py`.

        Args:
            at_ns: CLOCK_MONOTONIC now, in nanoseconds.
            wall_s: seconds since the epoch, for people.
        """
        self._seq += 1
        topology = self._current_topology(at_ns)
        tree = self._cgroups.observe(at_ns, self._seq - 1)
        reports = tuple(source.report(tree, at_ns) for source in self._sources)
        self._directory = join(reports, tree, self._settings.qos, self._directory)
        memory = observe_system_memory(self._host)
        node_memory = self._node_memory.read() if self._node_memory is not None else None
        cpu_time = observe_cpu_time(self._host)
        nics = self._nics.read()
        identity = self._identity or observe_identity(self._host, self._settings.node.name)
        self._identity = identity
        return NodeSnapshot(
            seq=self._seq,
            at_ns=at_ns,
            wall_s=wall_s,
            host=identity,
            topology=topology,
            memory=memory.value,
            node_memory=node_memory.value if node_memory else (),
            cpu_time=cpu_time.value,
            pressure=self._pressure.observe(),
            nics=nics.value,
            cgroups=tree,
            pods=self._directory.pods,
            services=self._directory.services,
            sources=tuple(report.health for report in reports),
            census=self._census_now(at_ns),
            own=observe_own_budget(self._here, self._host.budget) if self._here is not None else None,
            findings=(
                *self._topology_findings,
                *memory.findings,
                *(node_memory.findings if node_memory else ()),
                *cpu_time.findings,
                *nics.findings,
                *pressure_findings(self._pressure.problems, self._pressure.denied),
                *hierarchy_findings(tree),
                *tree_findings(tree, self._cgroups.problems, self._cgroups.denied, self._settings.observe.max_cgroups),
                *source_findings(reports, at_ns),
            ),
        )

    def close(self) -> None:
        """Gives all kept descriptors back."""
        self._cgroups.close()
        self._pressure.close()
        self._nics.close()
        if self._node_memory is not None:
            self._node_memory.close()

    def _make_sources(self) -> tuple[PodSource, ...]:
        return (*self._extra_sources, CgroupPodSource(), SystemdServiceSource(self._settings.qos.services))

    def _current_topology(self, at_ns: int) -> Topology:
        topics, known = self._drain_events(), self._topology
        age_limit_ns = self._settings.observe.topology_interval_s * 1_000_000_000
        is_old = known is None or at_ns - known.observed_at_ns >= age_limit_ns
        if topics & {Topic.NICS, Topic.DEVICES} or (is_old and known is not None):
            self._nics.refresh()
        if known is not None and not is_old and not topics & {Topic.TOPOLOGY, Topic.DEVICES}:
            return known
        seen = observe_topology(self._host, at_ns)
        if known is None or known.nodes != seen.value.nodes:
            if self._node_memory is not None:
                self._node_memory.close()
            self._node_memory = NodeMemoryReader(self._host, seen.value.nodes)
        self._topology, self._topology_findings = seen.value, seen.findings
        return seen.value

    def _census_now(self, at_ns: int) -> Census | None:
        return self._census.step(at_ns) if self._census is not None else None
