"""Says what changed between snapshots, as log events: nothing per tick, one summary a minute."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from fuyaod.agent.log import Logger
from fuyaod.model.findings import Finding
from fuyaod.model.pods import Pod, SourceHealth, SourceState
from fuyaod.model.snapshot import NodeSnapshot

SUMMARY_EVERY_NS: Final = 60_000_000_000
MAX_EVENTS_PER_SNAPSHOT: Final = 20
"""A burst of pods is told by its first 20 and a count."""


class Journalist:
    """Compares each snapshot with the one before and logs what a person would want to know."""

    def __init__(self, log: Logger) -> None:
        self._log = log
        self._pods: dict[str, Pod] = {}
        self._findings: frozenset[Finding] = frozenset()
        self._wordings: set[str] = set()
        self._sources: dict[str, SourceHealth] = {}
        self._told_ns: int | None = None

    def tell(self, now: NodeSnapshot) -> None:
        """Logs changes of pods, classes, sources and findings, and the minute's summary."""
        self._tell_pods({pod.record.uid: pod for pod in now.pods})
        self._tell_sources({source.kind.value: source for source in now.sources})
        self._tell_findings(frozenset(now.findings))
        if self._told_ns is None or now.at_ns - self._told_ns >= SUMMARY_EVERY_NS:
            self._told_ns = now.at_ns
            self._summary(now)

    def _tell_pods(self, pods: dict[str, Pod]) -> None:
        before, self._pods = self._pods, pods
        events: list[tuple[str, Pod]] = [("pod_seen", pods[uid]) for uid in pods.keys() - before.keys()]
        events += [("pod_gone", before[uid]) for uid in before.keys() - pods.keys()]
        same = pods.keys() & before.keys()
        events += [("pod_class_changed", pods[u]) for u in same if pods[u].qos.qos is not before[u].qos.qos]
        for event, pod in events[:MAX_EVENTS_PER_SNAPSHOT]:
            qos = pod.qos.qos.value if pod.qos.qos else None
            record = pod.record
            say = self._log.warning if pod.qos.problems and event != "pod_gone" else self._log.info
            say(
                event,
                pod=record.uid,
                namespace=record.namespace,
                name=record.name,
                qos=qos,
                rule=pod.qos.rule,
                problems=list(pod.qos.problems),
            )
        if len(events) > MAX_EVENTS_PER_SNAPSHOT:
            self._log.info("more_pod_events", count=len(events) - MAX_EVENTS_PER_SNAPSHOT)

    def _tell_sources(self, sources: dict[str, SourceHealth]) -> None:
        for name, source in sources.items():
            before = self._sources.get(name)
            if before is None or (before.state, _wording(before)) != (source.state, _wording(source)):
                say = self._log.warning if source.state is SourceState.STALE else self._log.info
                say("source_state", source=name, state=source.state.value, details=list(source.details))
        self._sources = sources

    def _tell_findings(self, findings: frozenset[Finding]) -> None:
        kinds = {(f.id, f.status) for f in findings}
        known = {(f.id, f.status) for f in self._findings}
        for f in sorted(findings - self._findings, key=lambda f: (f.id, f.summary))[:MAX_EVENTS_PER_SNAPSHOT]:
            # The same finding with other numbers is no news; another device under the same id is.
            if (f.id, f.status) not in known or _without_numbers(f.summary) not in self._wordings:
                self._log.warning(
                    "finding", id=f.id, status=f.status.value, summary=f.summary, cost=f.cost, mend=f.mend
                )
        for name, status in sorted(known - kinds, key=lambda kind: kind[0]):
            self._log.info("finding_gone", id=name, status=status.value)
        self._findings = findings
        self._wordings = {_without_numbers(f.summary) for f in findings}

    def _summary(self, now: NodeSnapshot) -> None:
        classes = Counter(pod.qos.qos.value if pod.qos.qos else "none" for pod in now.pods)
        cpu, memory = now.pressure.cpu, now.pressure.memory
        self._log.info(
            "node_state",
            seq=now.seq,
            cpus_online=len(now.topology.cpu.online),
            numa_nodes=len(now.topology.nodes),
            devices=len(now.topology.devices),
            memory_available_bytes=now.memory.available_bytes if now.memory else None,
            psi_cpu_some_avg10_pct=cpu.some.avg10_pct if cpu and cpu.some else None,
            psi_memory_some_avg10_pct=memory.some.avg10_pct if memory and memory.some else None,
            pods=dict(classes),
            services=len(now.services),
            cgroups=len(now.cgroups.samples),
            findings=len(now.findings),
        )


def _wording(source: SourceHealth) -> tuple[str, ...]:
    return tuple(map(_without_numbers, source.details))


def _without_numbers(text: str) -> str:
    return re.sub(r"\d+", "n", text)
