"""The metrics table, its rows, and the text that Prometheus reads."""

from __future__ import annotations

import re
from collections import Counter

import msgspec
import pytest
from prometheus_client.parser import text_string_to_metric_families

from fuyaod.agent.counters import AgentCounters
from fuyaod.agent.metrics.exposition import Exposition
from fuyaod.agent.metrics.table import METRICS, Metric, MetricType
from fuyaod.model.snapshot import NodeSnapshot
from tests.unit.rpc.samples import snapshot as make_snapshot


def living() -> NodeSnapshot:
    """A full snapshot whose groups are still there."""
    made = make_snapshot(full=True)
    samples = tuple(msgspec.structs.replace(s, gone=False) for s in made.cgroups.samples)
    return msgspec.structs.replace(made, cgroups=msgspec.structs.replace(made.cgroups, samples=samples))


def exposition(snapshot: NodeSnapshot | None) -> str:
    return Exposition(lambda: snapshot, AgentCounters(), lambda: 5_000_000_000).render().decode()


@pytest.mark.parametrize("metric", METRICS, ids=lambda m: m.name)
def test_metric_name_and_help_keep_the_conventions(metric: Metric) -> None:
    assert re.fullmatch(r"fuyaod_[a-z0-9]+(_[a-z0-9]+)*", metric.name)
    assert metric.name.endswith("_total") == (metric.type is MetricType.COUNTER)
    assert metric.help.endswith(".")
    assert metric.help[0].isupper() or metric.help[0].isdigit() or metric.help.startswith("memory.")
    assert len(set(metric.labels)) == len(metric.labels)


def test_metric_names_are_unique() -> None:
    assert [n for n, count in Counter(m.name for m in METRICS).items() if count > 1] == []


@pytest.mark.parametrize("metric", METRICS, ids=lambda m: m.name)
@pytest.mark.parametrize("full", [True, False], ids=["all known", "nothing known"])
def test_metric_rows_have_the_labels_of_the_table_and_no_repeats(metric: Metric, full: bool) -> None:
    rows = list(metric.read(make_snapshot(full=full)))

    assert all(len(labels) == len(metric.labels) for labels, _ in rows)
    assert len({labels for labels, _ in rows}) == len(rows)


@pytest.mark.parametrize("metric", METRICS, ids=lambda m: m.name)
def test_metric_of_a_full_snapshot_has_a_row(metric: Metric) -> None:
    assert list(metric.read(living()))


def test_group_that_is_gone_has_no_row() -> None:
    gone = make_snapshot(full=True)

    assert all(sample.gone for sample in gone.cgroups.samples)
    assert "fuyaod_pod_memory_bytes" not in exposition(gone)


def test_unknown_is_absent_and_zero_is_present() -> None:
    unknown = exposition(make_snapshot(full=False))
    zero = exposition(make_snapshot(full=True, zero=True))

    assert "fuyaod_memory_bytes{" not in unknown
    assert 'fuyaod_memory_bytes{kind="total"} 0.0' in zero


def test_exposition_parses_and_names_every_family_once() -> None:
    families = list(text_string_to_metric_families(exposition(living())))

    names = Counter(family.name for family in families)
    assert [name for name, count in names.items() if count > 1] == []
    assert len(families) > 40


def test_exposition_before_the_first_snapshot_tells_of_the_agent_only() -> None:
    text = exposition(None)

    assert "fuyaod_build_info" in text
    assert "fuyaod_node_info" not in text


def test_exposition_age_is_measured_at_the_scrape() -> None:
    snapshot = make_snapshot(full=True)

    text = exposition(snapshot)

    assert f"fuyaod_snapshot_age_seconds {(5_000_000_000 - snapshot.at_ns) / 1e9}" in text


def test_exposition_escapes_what_a_pod_name_may_hold() -> None:
    snapshot = make_snapshot(full=True)
    pod = snapshot.pods[0]
    evil = msgspec.structs.replace(pod.record, name='a"b\\c\nd{}')
    snapshot = msgspec.structs.replace(snapshot, pods=(msgspec.structs.replace(pod, record=evil),))

    families = {f.name: f for f in text_string_to_metric_families(exposition(snapshot))}

    assert families["fuyaod_pod_info"].samples[0].labels["pod"] == 'a"b\\c\nd{}'
