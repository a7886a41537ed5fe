"""The three QoS classes and how a pod came to its class."""

from __future__ import annotations

import enum
from typing import Final

from fuyaod.model.values import Value

CLAIM_KEYS: Final = frozenset(
    (
        "openfuyao.io/qos",
        "openfuyao.com/qos",
        "openfuyao.com/qos-level",
        "koordinator.sh/qosClass",
        "volcano.sh/preemptable",
    )
)
"""Keys of labels and annotations that claim a class; what their values mean is decided in `fuyaod.qos`."""


class QosClass(enum.Enum):
    """Highly latency sensitive, latency sensitive, best effort; strongest first."""

    HLS = "HLS"
    LS = "LS"
    BE = "BE"

    @property
    def strength(self) -> int:
        """3 for HLS, 2 for LS, 1 for BE: where claims disagree, the highest wins."""
        match self:
            case QosClass.HLS:
                return 3
            case QosClass.LS:
                return 2
            case QosClass.BE:
                return 1


class ClaimOrigin(enum.Enum):
    """Where a claim to a class stands."""

    POD_LABEL = "pod_label"
    POD_ANNOTATION = "pod_annotation"
    OWNER_LABEL = "owner_label"
    OWNER_ANNOTATION = "owner_annotation"


class QosClaim(Value, frozen=True, kw_only=True):
    """One statement that a pod or unit belongs to a class.

    `qos` is None when nobody knows the value (`raw`): it is reported and never guessed.
    """

    origin: ClaimOrigin
    key: str
    raw: str
    qos: QosClass | None


class QosVerdict(Value, frozen=True, kw_only=True):
    """The class of a pod or unit, with the rule that gave it and everything that was claimed.

    `qos` None means the pod is left alone. `problems` are sentences for people: unknown values, conflicts, refused
    claims.
    """

    qos: QosClass | None
    rule: str
    claims: tuple[QosClaim, ...] = ()
    problems: tuple[str, ...] = ()
