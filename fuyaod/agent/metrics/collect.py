"""The scrape-time collector over the last snapshot, on a registry of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from fuyaod import __version__
from fuyaod.agent.counters import AgentCounters
from fuyaod.agent.metrics.table import METRICS, MetricType
from fuyaod.model.snapshot import NodeSnapshot


class SnapshotCollector(Collector):
    """Turns the last snapshot and the agent's counters into metric families when somebody asks.

    Args:
        latest: the last snapshot, None before the first.
        counters: the agent's own.
        now_ns: the monotonic clock, for the snapshot's age.
    """

    def __init__(
        self, latest: Callable[[], NodeSnapshot | None], counters: AgentCounters, now_ns: Callable[[], int]
    ) -> None:
        self._latest = latest
        self._counters = counters
        self._now_ns = now_ns

    def describe(self) -> Iterable[Metric]:
        """Nothing ahead of time: names are unique by the table's test."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """All families; a metric without a row is left out."""
        yield from self._own()
        snapshot = self._latest()
        if snapshot is None:
            return
        age = GaugeMetricFamily("fuyaod_snapshot_age_seconds", "Age of the snapshot behind this answer.")
        age.add_metric([], (self._now_ns() - snapshot.at_ns) / 1e9)
        yield age
        for metric in METRICS:
            make = CounterMetricFamily if metric.type is MetricType.COUNTER else GaugeMetricFamily
            family = make(metric.name, metric.help, labels=metric.labels)
            for labels, value in metric.read(snapshot):
                family.add_metric(labels, value)
            if family.samples:
                yield family

    def _own(self) -> Iterable[Metric]:
        counters = self._counters
        info = GaugeMetricFamily("fuyaod_build_info", "The running version; always 1.", labels=["version"])
        info.add_metric([__version__], 1.0)
        yield info
        plain = (
            ("fuyaod_ticks_total", "Observations completed.", counters.ticks),
            ("fuyaod_tick_cpu_seconds_total", "CPU time that observing took.", counters.tick_cpu_s),
            ("fuyaod_tick_seconds_total", "Wall time that observing took.", counters.tick_wall_s),
            ("fuyaod_missed_ticks_total", "Ticks skipped because the one before took too long.", counters.missed_ticks),
        )
        for name, text, value in plain:
            yield CounterMetricFamily(name, text, value=value)
        by_label = (
            ("fuyaod_loop_errors_total", "Unexpected errors at a loop's edge.", "loop", counters.loop_errors),
            ("fuyaod_settings_reloads_total", "Changed settings files by result.", "result", counters.reloads),
        )
        for name, text, label, counts in by_label:
            family = CounterMetricFamily(name, text, labels=[label])
            for name_of, count in counts.items():
                family.add_metric([name_of], count)
            yield family


def make_registry(collector: SnapshotCollector) -> CollectorRegistry:
    """A registry with that collector alone; the library's global one, with its process and GC metrics, is not used."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(collector)
    return registry
