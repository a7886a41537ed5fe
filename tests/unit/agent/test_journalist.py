"""What the log says of a change between two snapshots, and that it says nothing per tick."""

from __future__ import annotations

import msgspec

from fuyaod.agent.journalist import MAX_EVENTS_PER_SNAPSHOT, SUMMARY_EVERY_NS, Journalist
from fuyaod.agent.log import LogTail, make_logger
from fuyaod.model.findings import Finding, FindingStatus
from fuyaod.model.pods import Pod, SourceHealth, SourceKind, SourceState
from fuyaod.model.qos import QosClass, QosVerdict
from fuyaod.model.settings import Log
from fuyaod.model.snapshot import NodeSnapshot
from tests.unit.rpc.samples import snapshot as make_snapshot

EMPTY = msgspec.structs.replace(make_snapshot(full=False), pods=(), services=(), sources=(), findings=(), at_ns=0)


class Told:
    """A journalist and what it has said."""

    def __init__(self) -> None:
        self.tail = LogTail(most=1000)
        self.journalist = Journalist(make_logger(Log(), self.tail))
        self.journalist.tell(EMPTY)
        self.after(EMPTY)

    def after(self, snapshot: NodeSnapshot) -> list[str]:
        """The lines that one more snapshot adds."""
        before = len(self.tail.lines())
        self.journalist.tell(snapshot)
        return self.tail.lines()[before:]


def pod(uid: str, qos: QosClass | None, *problems: str) -> Pod:
    made = make_snapshot(full=True).pods[0]
    record = msgspec.structs.replace(made.record, uid=uid)
    return msgspec.structs.replace(made, record=record, qos=QosVerdict(qos=qos, rule="r", problems=problems))


def with_pods(*pods: Pod) -> NodeSnapshot:
    return msgspec.structs.replace(EMPTY, pods=pods)


def test_journalist_same_snapshot_again_says_nothing() -> None:
    told = Told()
    told.after(with_pods(pod("a", QosClass.BE)))

    assert told.after(with_pods(pod("a", QosClass.BE))) == []


def test_journalist_pod_that_comes_changes_and_goes_is_told_thrice() -> None:
    told = Told()

    came = told.after(with_pods(pod("a", QosClass.BE)))
    changed = told.after(with_pods(pod("a", QosClass.HLS)))
    gone = told.after(EMPTY)

    assert ["pod_seen" in came[0], "pod_class_changed" in changed[0], "pod_gone" in gone[0]] == [True] * 3
    assert "HLS" in changed[0]
    assert [len(came), len(changed), len(gone)] == [1, 1, 1]


def test_journalist_pod_with_a_problem_is_a_warning() -> None:
    (line,) = Told().after(with_pods(pod("a", None, "unknown value 'gold'")))

    assert "[warning" in line
    assert "gold" in line


def test_journalist_burst_of_pods_is_bounded_and_counted() -> None:
    lines = Told().after(with_pods(*(pod(f"u{n}", None) for n in range(100))))

    assert len(lines) == MAX_EVENTS_PER_SNAPSHOT + 1
    assert "more_pod_events" in lines[-1]
    assert "80" in lines[-1]


def test_journalist_finding_is_told_when_it_comes_and_when_it_goes() -> None:
    told = Told()
    loss = Finding(id="x.y", status=FindingStatus.DEGRADED, summary="bad", cost="c", mend="do this")

    (came,) = told.after(msgspec.structs.replace(EMPTY, findings=(loss,)))
    (gone,) = told.after(EMPTY)

    assert "do this" in came
    assert "finding_gone" in gone


def test_journalist_findings_of_one_id_are_told_apart_and_numbers_are_no_news() -> None:
    told = Told()

    def found(*summaries: str, status: FindingStatus = FindingStatus.DEGRADED) -> NodeSnapshot:
        made = tuple(Finding(id="pci.device", status=status, summary=s) for s in summaries)
        return msgspec.structs.replace(EMPTY, findings=made)

    first = told.after(found("device A gone for 3 s", "device B gone"))
    later = told.after(found("device A gone for 4 s", "device B gone"))
    another = told.after(found("device A gone for 5 s", "device B gone", "device C lost"))
    worse = told.after(found("all gone", status=FindingStatus.MISSING))

    assert [len(first), len(later), len(another)] == [2, 0, 1]
    assert "device C" in another[0]
    assert "all gone" in worse[0]


def test_journalist_source_detail_that_comes_is_told() -> None:
    told = Told()

    def source(*details: str) -> NodeSnapshot:
        health = SourceHealth(kind=SourceKind.KUBERNETES, state=SourceState.OK, since_ns=0, details=details)
        return msgspec.structs.replace(EMPTY, sources=(health,))

    told.after(source())

    assert "forbidden" in told.after(source("owner_labels: forbidden for jobs since 3 s"))[0]
    assert told.after(source("owner_labels: forbidden for jobs since 4 s")) == []


def test_journalist_source_is_told_when_its_state_changes() -> None:
    told = Told()

    def source(state: SourceState, detail: str) -> NodeSnapshot:
        health = SourceHealth(kind=SourceKind.KUBERNETES, state=state, since_ns=0, details=(detail,))
        return msgspec.structs.replace(EMPTY, sources=(health,))

    assert len(told.after(source(SourceState.OK, ""))) == 1
    assert "hangs" in told.after(source(SourceState.STALE, "it hangs"))[0]


def test_journalist_summary_comes_once_a_minute() -> None:
    told = Told()

    just_before = told.after(msgspec.structs.replace(EMPTY, at_ns=SUMMARY_EVERY_NS - 1))
    at = told.after(msgspec.structs.replace(EMPTY, at_ns=SUMMARY_EVERY_NS))

    assert just_before == []
    assert len(at) == 1
    assert "node_state" in at[0]
