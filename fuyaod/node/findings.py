"""What the observers could not read, as findings: what is missing, why, and what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from fuyaod.model.cgroup import CgroupMode, CgroupTree
from fuyaod.model.findings import Finding, FindingStatus
from fuyaod.model.pods import SourceHealth, SourceReport, SourceState

STARTING_GRACE_NS: Final = 5_000_000_000
"""A source that has not answered yet is a finding after this time; a sound API server takes well under a second."""


def pressure_findings(problems: Mapping[str, str], denied: bool) -> tuple[Finding, ...]:
    """System pressure files that gave no value, by path, and whether more rights would help."""
    if not problems:
        return ()
    return (
        Finding(
            id="pressure.system",
            status=FindingStatus.DEGRADED,
            summary="; ".join(problems.values()),
            cost="pressure of the whole node is missing from the snapshot",
            mend=_mend(denied),
        ),
    )


def tree_findings(tree: CgroupTree, problems: Mapping[str, str], denied: bool, max_cgroups: int) -> tuple[Finding, ...]:
    """Files of groups that gave no value, and groups beyond the limit."""
    found = []
    if problems:
        first = next(iter(problems.values()))
        found.append(
            Finding(
                id="cgroups.unreadable",
                status=FindingStatus.DEGRADED,
                summary=f"{len(problems)} files of groups gave no value, first: {first}",
                cost="their values are missing from the snapshot",
                mend=_mend(denied),
            )
        )
    if tree.left_out:
        found.append(
            Finding(
                id="cgroups.left_out",
                status=FindingStatus.DEGRADED,
                summary=f"{tree.left_out} groups are beyond the {max_cgroups} that are observed",
                cost="pods and services in them are not seen",
                mend="raise observe.max_cgroups",
            )
        )
    return tuple(found)


def hierarchy_findings(tree: CgroupTree) -> tuple[Finding, ...]:
    """What the host's cgroup layout keeps from us."""
    unseen = "no group is seen: pods are known from the API server alone"
    match tree.mode:
        case CgroupMode.UNIFIED:
            return ()
        case CgroupMode.HYBRID:
            summary, cost = "cgroup v2 has no controllers, v1 has them", "only CPU time and pressure of groups are seen"
        case CgroupMode.LEGACY:
            summary, cost = "only cgroup v1 is mounted", unseen
        case CgroupMode.NONE:
            summary, cost = "no cgroup filesystem is mounted", unseen
    return (
        Finding(
            id="cgroups.hierarchy",
            status=FindingStatus.DEGRADED,
            summary=summary,
            cost=cost,
            mend="boot with `systemd.unified_cgroup_hierarchy=1 cgroup_no_v1=all`; see `fuyaoctl doctor`",
        ),
    )


def source_findings(reports: Sequence[SourceReport], at_ns: int) -> tuple[Finding, ...]:
    """Pod sources that do not answer."""
    return tuple(_source_finding(report.health) for report in reports if _is_silent(report.health, at_ns))


def _is_silent(health: SourceHealth, at_ns: int) -> bool:
    if health.state is SourceState.STARTING:
        return at_ns - health.since_ns > STARTING_GRACE_NS
    return health.state is SourceState.STALE


def _source_finding(health: SourceHealth) -> Finding:
    return Finding(
        id=f"source.{health.kind.value}",
        status=FindingStatus.DEGRADED,
        summary=f"{health.kind.value} is {health.state.value}: {'; '.join(health.details)}",
        cost="pods are known from the last answer and from the cgroup tree only",
        mend="see the detail; the agent keeps trying",
    )


def _mend(denied: bool) -> str:
    if denied:
        return "run as root, or mount the host's /sys and /proc into the container"
    return "nothing to do if it passes: the files are read again; else `fuyaoctl capture` and report it"
