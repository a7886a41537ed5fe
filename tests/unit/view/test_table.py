"""Tables as text, numbers as people read them, rates between snapshots."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuyaod.model.cgroup import CgroupId, CgroupKind, CgroupMode, CgroupSample, CgroupTree, CpuStat
from fuyaod.model.findings import Finding, FindingStatus
from fuyaod.model.pressure import Pressure, PsiLine
from fuyaod.model.snapshot import NodeSnapshot
from fuyaod.model.topology import CpuTime
from fuyaod.view.rates import cpu_busy_ratio, group_rates
from fuyaod.view.screens import finding_lines, headline, screens, worst_first
from fuyaod.view.table import Table, render
from fuyaod.view.text import printable
from fuyaod.view.units import cores, percent, size, word
from tests.unit.rpc.samples import snapshot as make_snapshot

SECOND = 1_000_000_000


def test_render_aligns_columns_left_and_right() -> None:
    table = Table(title="t", columns=("name", "n>"), rows=(("a", "1"), ("long", "200")))

    assert render([table]) == "t\n  name    n\n  a       1\n  long  200"


def test_render_empty_table_says_so() -> None:
    assert render([Table(title="t", columns=("a",), rows=(), empty="nothing here")]) == "t\n  nothing here"


def test_render_cuts_lines_at_the_width() -> None:
    table = Table(title="t", columns=("a",), rows=(("x" * 50,),))

    assert max(len(line) for line in render([table], width=20).splitlines()) == 20
    assert "…" in render([table], width=20)


EVIL = "evil\x1b]0;owned\x07\x9b2J\u202e\n\x7f.service"


def test_render_shows_no_control_character_and_keeps_its_columns() -> None:
    table = Table(title=EVIL, columns=("name", "n>"), rows=((EVIL, "1"), ("plain", EVIL)), empty=EVIL)

    lines = render([table]).split("\n")

    assert len(lines) == 4
    assert all(line.isprintable() for line in lines)
    assert lines[0] == "evil�]0;owned��2J���.service"
    assert len(lines[2]) == len(lines[3])
    assert render([Table(title="t", columns=("a",), rows=(), empty=EVIL)]).split("\n")[1].isprintable()


def test_text_of_others_reaches_the_terminal_without_control_characters() -> None:
    made = make_snapshot(full=True)
    made = msgspec.structs.replace(made, host=msgspec.structs.replace(made.host, node_name=EVIL))
    evil = Finding(id=EVIL, status=FindingStatus.MISSING, summary=EVIL, cost=EVIL, mend=EVIL)

    assert headline(made).isprintable()
    lines = finding_lines([evil]).split("\n")
    assert len(lines) == 3
    assert all(line.isprintable() for line in lines)


@given(st.text())
def test_printable_text_is_as_long_and_printable_characters_stay(text: str) -> None:
    shown = printable(text)

    assert shown.isprintable()
    assert [a for a, b in zip(text, shown, strict=True) if a != b] == [c for c in text if not c.isprintable()]


@pytest.mark.parametrize(
    ("count", "expected"),
    [(None, "-"), (0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (1 << 40, "1.0 TiB"), (1 << 53, "8192.0 TiB")],
)
def test_size_has_a_binary_unit(count: int | None, expected: str) -> None:
    assert size(count) == expected


def test_unknown_is_a_dash_and_zero_is_zero() -> None:
    assert [cores(None), percent(None), word(None), word("")] == ["-"] * 4
    assert [cores(0.0), percent(0.0), word(0)] == ["0.00", "0.0 %", "0"]


def group(usage_us: int, stall_us: int, inode: int = 1) -> CgroupSample:
    line = PsiLine(avg10_pct=0, avg60_pct=0, avg300_pct=0, total_us=stall_us)
    return CgroupSample(
        id=CgroupId(path="/a", inode=inode, kind=CgroupKind.POD),
        cpu=CpuStat(usage_us=usage_us, user_us=0, system_us=0, periods=None, throttled_periods=None, throttled_us=None),
        cpu_pressure=Pressure(some=line, full=None),
        memory_current_bytes=None,
        slow=None,
        slow_at_ns=0,
    )


def node(at_s: float, sample: CgroupSample, idle_us: int = 0, user_us: int = 0) -> NodeSnapshot:
    times = CpuTime(
        user_us=user_us, nice_us=0, system_us=0, idle_us=idle_us, iowait_us=0, irq_us=0, softirq_us=0, steal_us=0
    )
    tree = CgroupTree(mode=CgroupMode.UNIFIED, mount="m", controllers=(), samples=(sample,), kept_descriptors=0)
    made = make_snapshot(full=False)
    return msgspec.structs.replace(made, at_ns=int(at_s * SECOND), cgroups=tree, cpu_time=times)


def test_rates_of_two_snapshots_are_per_second() -> None:
    rate = group_rates(node(1, group(0, 0)), node(3, group(3_000_000, 500_000)))["/a"]

    assert rate.cpu_cores == pytest.approx(1.5)
    assert rate.cpu_stall_pct == pytest.approx(25.0)


@pytest.mark.parametrize(
    ("before", "after"),
    [(group(5, 5, inode=1), group(9, 9, inode=2)), (group(5, 5), group(5, 5))],
    ids=["made anew", "same time"],
)
def test_rates_without_a_common_past_are_none(before: CgroupSample, after: CgroupSample) -> None:
    at_s = 1 if before.id.inode == after.id.inode else 2

    assert group_rates(node(1, before), node(at_s, after)) == {}


def test_rates_of_counters_that_went_back_are_zero() -> None:
    rate = group_rates(node(1, group(9_000_000, 9_000_000)), node(2, group(1, 1)))["/a"]

    assert (rate.cpu_cores, rate.cpu_stall_pct) == (0.0, 0.0)


def test_busy_ratio_is_of_all_cpu_time() -> None:
    before, after = node(1, group(0, 0)), node(2, group(0, 0), idle_us=3_000_000, user_us=1_000_000)

    assert cpu_busy_ratio(before, after) == pytest.approx(0.25)
    assert cpu_busy_ratio(None, after) is None
    assert cpu_busy_ratio(after, after) is None


def finding(status: FindingStatus, name: str) -> Finding:
    return Finding(id=name, status=status, summary="s", cost="c", mend="m")


def test_findings_come_worst_first_and_without_what_is_fine() -> None:
    found = [
        finding(FindingStatus.OK, "a"),
        finding(FindingStatus.DEGRADED, "b"),
        finding(FindingStatus.MISSING, "d"),
        finding(FindingStatus.MISSING, "c"),
    ]

    assert [f.id for f in worst_first(found, with_ok=False)] == ["c", "d", "b"]
    assert [f.id for f in worst_first(found, with_ok=True)] == ["c", "d", "b", "a"]


def test_finding_lines_hold_cost_and_mend() -> None:
    text = finding_lines([finding(FindingStatus.MISSING, "x.y")])

    assert [line.strip() for line in text.splitlines()] == ["missing   x.y: s", "costs: c", "mend:  m"]
    assert finding_lines([]) == "nothing to mend"


@pytest.mark.parametrize("full", [True, False])
def test_screens_of_any_snapshot_are_drawn(full: bool) -> None:
    now = make_snapshot(full=full)

    text = render(screens(now)) + headline(now)

    assert "NUMA nodes" in text
    assert "None" not in text


def test_screens_bound_the_pod_table() -> None:
    now = make_snapshot(full=True)
    many = msgspec.structs.replace(now, pods=now.pods * 30)

    table = next(t for t in screens(many, most=5) if t.title.startswith("pods and services"))

    assert len(table.rows) == 5
    assert "first 5 of 31" in table.title
