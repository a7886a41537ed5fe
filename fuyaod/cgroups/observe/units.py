"""Which rule of the settings a systemd unit falls under. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Final

from fuyaod.model.cgroup import CgroupId
from fuyaod.model.settings import ServiceRule

TOP_LEVEL_UNITS: Final = frozenset({"/system.slice", "/user.slice", "/init.scope"})
"""Always observed: what runs on the machine beside pods. Source: systemd.special(7)."""

_ESCAPED: Final = re.compile(r"(?:\\x[0-9a-f]{2})+")


def rule_for(unit: str, rules: Sequence[ServiceRule]) -> ServiceRule | None:
    """The first rule whose shell pattern matches the unit as systemd writes it (`my\\x2djob.service`) or unescaped."""
    plain = unescape_unit(unit)
    for rule in rules:
        if fnmatchcase(unit, rule.unit) or fnmatchcase(plain, rule.unit):
            return rule
    return None


def unescape_unit(unit: str) -> str:
    """The name with `\\xHH` turned back into characters; bytes that are no UTF-8 become U+FFFD.

    Source: systemd.unit(5), "String Escaping for Inclusion in Unit Names".
    """
    return _ESCAPED.sub(lambda run: bytes.fromhex(run[0].replace("\\x", "")).decode(errors="replace"), unit)


def is_wanted(group: CgroupId, rules: Sequence[ServiceRule]) -> bool:
    """Whether a known group is observed: all of Kubernetes', the top-level units, and units that a rule names."""
    if group.unit is None:
        return True
    return group.path in TOP_LEVEL_UNITS or rule_for(group.unit, rules) is not None
