"""Which class a pod gets, by the labels in the mission's list."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuyaod.model.pods import OwnerRef, PodRecord, SourceKind
from fuyaod.model.qos import CLAIM_KEYS, QosClass
from fuyaod.model.settings import Qos
from fuyaod.qos.decide import ACCEPTED, classify_pod

HLS, LS, BE = QosClass.HLS, QosClass.LS, QosClass.BE
DEFAULT_BE = Qos(default_class=BE)


def pod(
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    owners: tuple[OwnerRef, ...] = (),
    namespace: str | None = "prod",
) -> PodRecord:
    return PodRecord(
        uid="u",
        cgroup_uid="u",
        source=SourceKind.KUBERNETES,
        namespace=namespace,
        name="p",
        labels=labels or {},
        annotations=annotations or {},
        owners=owners,
    )


def owner(labels: dict[str, str], kind: str = "Deployment") -> OwnerRef:
    return OwnerRef(kind=kind, name="d", labels=labels)


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("openfuyao.io/qos", "HLS", HLS),
        ("openfuyao.io/qos", "hls", HLS),
        ("openfuyao.com/qos", "Ls", LS),
        ("openfuyao.com/qos-level", "be", BE),
        ("openfuyao.com/qos-level", "LLS", HLS),
        ("openfuyao.com/qos-level", " BE ", BE),
        ("koordinator.sh/qosClass", "LSE", HLS),
        ("koordinator.sh/qosClass", "LSR", HLS),
        ("koordinator.sh/qosClass", "LS", LS),
        ("koordinator.sh/qosClass", "BE", BE),
        ("volcano.sh/preemptable", "true", BE),
        ("volcano.sh/preemptable", "True", BE),
    ],
)
def test_classify_accepted_label_or_annotation_gives_class(key: str, value: str, expected: QosClass) -> None:
    assert classify_pod(pod(labels={key: value}), Qos()).qos is expected
    assert classify_pod(pod(annotations={key: value}), Qos()).qos is expected


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("openfuyao.com/qos-level", "gold"),
        ("openfuyao.com/qos-level", ""),
        ("openfuyao.com/qos-level", "LSR"),
        ("koordinator.sh/qosClass", "HLS"),
        ("koordinator.sh/qosClass", "SYSTEM"),
        ("volcano.sh/preemptable", "yes"),
    ],
)
def test_classify_unknown_value_is_reported_and_never_guessed(key: str, value: str) -> None:
    verdict = classify_pod(pod(labels={key: value}), Qos())

    assert verdict.qos is None
    assert len(verdict.problems) == 1
    assert key in verdict.problems[0]


def test_classify_preemptable_false_claims_nothing() -> None:
    verdict = classify_pod(pod(labels={"volcano.sh/preemptable": "false"}), Qos())

    assert verdict.qos is None
    assert verdict.claims == ()
    assert verdict.problems == ()


def test_classify_no_claim_is_left_alone() -> None:
    verdict = classify_pod(pod(), Qos())

    assert verdict.qos is None
    assert "left alone" in verdict.rule


def test_classify_no_claim_with_default_takes_default() -> None:
    assert classify_pod(pod(), DEFAULT_BE).qos is BE


def test_classify_conflict_strongest_wins_and_is_reported() -> None:
    record = pod(labels={"openfuyao.com/qos-level": "BE"}, annotations={"koordinator.sh/qosClass": "LSR"})

    verdict = classify_pod(record, Qos())

    assert verdict.qos is HLS
    assert "conflict" in verdict.problems[0]
    assert "openfuyao.com/qos-level=BE" in verdict.problems[0]


def test_classify_two_sources_that_agree_are_no_conflict() -> None:
    record = pod(labels={"openfuyao.com/qos-level": "BE", "volcano.sh/preemptable": "true"})

    assert classify_pod(record, Qos()).problems == ()


def test_classify_owner_label_counts_when_pod_is_silent() -> None:
    chain = (OwnerRef(kind="ReplicaSet", name="r", labels={}), owner({"openfuyao.com/qos-level": "LS"}))

    verdict = classify_pod(pod(owners=chain), Qos())

    assert verdict.qos is LS
    assert verdict.rule.startswith("owner_label")


def test_classify_owner_stronger_than_pod_wins_and_is_reported() -> None:
    record = pod(labels={"openfuyao.io/qos": "BE"}, owners=(owner({"openfuyao.io/qos": "HLS"}),))

    verdict = classify_pod(record, Qos())

    assert verdict.qos is HLS
    assert verdict.problems


def test_classify_unread_owner_labels_claim_nothing() -> None:
    assert classify_pod(pod(owners=(OwnerRef(kind="Job", name="j"),)), Qos()).claims == ()


@pytest.mark.parametrize("settings", [Qos(), DEFAULT_BE], ids=["no default", "default BE"])
def test_classify_kube_system_is_be_only_by_its_own_word(settings: Qos) -> None:
    by_owner = pod(owners=(owner({"openfuyao.io/qos": "BE"}),), namespace="kube-system")
    by_itself = pod(labels={"openfuyao.io/qos": "BE"}, namespace="kube-system")

    assert classify_pod(by_owner, settings).qos is None
    assert classify_pod(by_owner, settings).problems
    assert classify_pod(pod(namespace="kube-system"), settings).qos is None
    assert classify_pod(by_itself, settings).qos is BE


def test_classify_kube_system_takes_other_defaults() -> None:
    assert classify_pod(pod(namespace="kube-system"), Qos(default_class=LS)).qos is LS


def test_classify_unknown_namespace_is_never_be_by_default() -> None:
    assert classify_pod(pod(namespace=None), DEFAULT_BE).qos is None
    assert classify_pod(pod(namespace=None), Qos(default_class=LS)).qos is LS


def test_classify_giant_unknown_value_is_cut_in_report() -> None:
    verdict = classify_pod(pod(labels={"openfuyao.io/qos": "x" * 10_000}), Qos())

    assert len(verdict.problems[0]) < 200


_LABELS = st.dictionaries(
    st.sampled_from([*ACCEPTED, "app"]),
    st.sampled_from(["HLS", "ls", "BE", "LSR", "true", "false", "?", ""]),
    max_size=6,
)


@given(labels=_LABELS, annotations=_LABELS, owner_labels=_LABELS)
def test_classify_any_claims_never_weaker_than_the_pods_strongest(
    labels: dict[str, str], annotations: dict[str, str], owner_labels: dict[str, str]
) -> None:
    verdict = classify_pod(pod(labels, annotations, (owner(owner_labels),)), Qos())

    strengths = [c.qos.strength for c in verdict.claims if c.qos is not None]
    assert (verdict.qos.strength if verdict.qos else 0) == max(strengths, default=0)
    assert len([p for p in verdict.problems if "unknown" in p]) == sum(1 for c in verdict.claims if c.qos is None)


def test_accepted_keys_are_those_that_sources_keep_first() -> None:
    assert ACCEPTED.keys() == CLAIM_KEYS
