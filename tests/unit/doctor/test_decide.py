"""Every finding in both directions, and the promises that hold for all of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuyaod.doctor import diagnose
from fuyaod.doctor.decide.verdict import listed, size, version_of
from fuyaod.model.facts import HostFacts
from fuyaod.model.findings import Finding, FindingStatus
from fuyaod.model.values import decode, encode
from tests.unit.doctor.ideal import IDEAL, but
from tests.unit.doctor.scenarios import CASES, Case
from tests.unit.doctor.strategies import records

DOCUMENT = Path(__file__).parents[3] / "docs" / "doctor.md"
OTHER_OBSERVERS = {"pci.device"}
"""Findings that come from `fuyaod.numa.observe` and are passed on."""


def by_id(facts: HostFacts) -> dict[str, Finding]:
    return {finding.id: finding for finding in diagnose(facts)}


def documented() -> list[str]:
    return re.findall(r"^\| `([a-z_]+\.[a-z_]+)` \|", DOCUMENT.read_text(), re.MULTILINE)


def test_diagnose_ideal_host_says_ok_to_everything() -> None:
    worse = {finding.id: finding.summary for finding in diagnose(IDEAL) if finding.status is not FindingStatus.OK}

    assert worse == {}
    assert {case.id for case in CASES} == set(by_id(IDEAL))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.id}-{case.name.replace(' ', '_')}")
def test_finding_under_facts_has_status_summary_and_mend(case: Case) -> None:
    finding = by_id(case.facts)[case.id]

    assert finding.status is case.status, finding
    assert case.says in finding.summary
    assert case.mends in finding.mend


@pytest.mark.parametrize("finding_id", sorted(by_id(IDEAL)))
def test_every_finding_but_smt_has_a_case_that_is_not_ok(finding_id: str) -> None:
    cases = [case for case in CASES if case.id == finding_id]

    assert any(case.status is not FindingStatus.OK for case in cases) or finding_id == "cpu.smt"


def test_document_lists_each_finding_once() -> None:
    rows = documented()

    assert len(rows) == len(set(rows))
    assert set(rows) == set(by_id(IDEAL)) | OTHER_OBSERVERS


def check_promises(facts: HostFacts) -> None:
    findings = diagnose(facts)
    ids = [finding.id for finding in findings]
    known = by_id(IDEAL)
    own = [finding for finding in findings if finding not in facts.found]
    assert len({finding.id for finding in own}) == len(own), ids
    assert findings == diagnose(facts)
    for finding in own:
        assert finding.id in known
        assert finding.summary
        assert bool(finding.cost) is bool(finding.mend) is (finding.status is not FindingStatus.OK)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.id}-{case.name.replace(' ', '_')}")
def test_findings_of_a_case_keep_their_promises(case: Case) -> None:
    check_promises(case.facts)


@given(facts=records(HostFacts))
@settings(max_examples=80, deadline=None)
def test_findings_of_any_facts_keep_their_promises(facts: HostFacts) -> None:
    check_promises(facts)


def test_diagnose_nothing_known_names_the_root_first() -> None:
    findings = diagnose(HostFacts())

    assert [finding.id for finding in findings if finding.status is FindingStatus.MISSING] == [
        "kernel.release",
        "cgroup.hierarchy",
    ]
    assert "--root" in by_id(HostFacts())["kernel.release"].mend


def test_diagnose_without_own_process_says_nothing_about_privileges() -> None:
    assert not [name for name in by_id(but(process=None)) if name.startswith(("privilege.", "psi.trigger"))]


@pytest.mark.parametrize(
    ("facts", "unknown"),
    [
        (but("cgroup", mount_options=None), {"cgroup.writable", "cgroup.memory_recursiveprot"}),
        (but("cgroup", levels=()), {"cgroup.delegation"}),
        (but("cpu", present=None), {"cpu.offline"}),
        (but("cpu", online=None), {"cpu.offline", "kubelet.offline_cpus"}),
        (but("kubelet", cpu_state=None), {"kubelet.state", "kubelet.offline_cpus"}),
        (but("process", no_new_privs=None), {"privilege.no_new_privs"}),
        (but("clock", kernel_synchronised=None, sync_daemons=()), {"clock.sync"}),
    ],
    ids=lambda value: ",".join(sorted(value)) if isinstance(value, set) else "",
)
def test_diagnose_unknown_fact_leaves_its_findings_out(facts: HostFacts, unknown: set[str]) -> None:
    assert set(by_id(IDEAL)) - set(by_id(facts)) == unknown


def test_diagnose_without_kubelet_leaves_its_policies_out() -> None:
    names = set(by_id(but("kubelet", folder=False)))

    assert {name for name in names if name.startswith("kubelet.")} == {"kubelet.present"}


def test_diagnose_passes_on_what_other_observers_found() -> None:
    other = Finding(id="pci.device", status=FindingStatus.DEGRADED, summary="s", cost="c", mend="m")

    assert diagnose(but(found=(other,)))[-1] == other


def test_facts_survive_json() -> None:
    assert decode(encode(IDEAL), HostFacts) == IDEAL


@pytest.mark.parametrize(
    ("release", "version"),
    [
        ("6.6.0-72.0.0.76.oe2403sp1.aarch64", (6, 6)),
        ("5.10", (5, 10)),
        ("6.18-rc1", (6, 18)),
        ("6", None),
        ("", None),
        (None, None),
        ("x.1", None),
        ("6.x", None),
        ("٦.1", None),
        ("99999.1", None),
    ],
)
def test_version_of_release_is_major_and_minor(release: str | None, version: tuple[int, int] | None) -> None:
    assert version_of(release) == version


@given(text=st.text(max_size=30))
def test_version_of_any_text_never_raises(text: str) -> None:
    version_of(text)


def test_listed_long_list_counts_its_tail() -> None:
    assert listed(["a", "b", "c"], 2) == "a, b and 1 more"
    assert listed(["a", "b"], 2) == "a, b"


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 bytes"), (1000, "1000 bytes"), (65536, "64 KiB"), (1 << 30, "1 GiB"), (3 << 19, "1536 KiB")],
)
def test_size_uses_the_largest_unit_that_divides(count: int, text: str) -> None:
    assert size(count) == text
