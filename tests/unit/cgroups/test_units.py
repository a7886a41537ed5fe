"""Units and the rules of the settings."""

import pytest

from fuyaod.cgroups.observe.units import rule_for, unescape_unit
from fuyaod.model.qos import QosClass
from fuyaod.model.settings import ServiceRule


def _rules(*patterns: str) -> tuple[ServiceRule, ...]:
    return tuple(ServiceRule(unit=pattern, qos=QosClass.LS) for pattern in patterns)


@pytest.mark.parametrize(
    ("unit", "patterns", "first"),
    [
        ("nginx.service", ("nginx.service",), 0),
        ("batch-night.slice", ("nginx.service", "batch-*.slice"), 1),
        ("batch-night.slice", ("batch-*", "batch-night.slice"), 0),
        ("getty@tty1.service", ("getty@*.service",), 0),
        ("Nginx.service", ("nginx.service",), None),
        ("nginx.service", (), None),
        (r"my\x2djob.service", ("my-job.service",), 0),
        (r"my\x2djob.service", (r"my\x2djob.service",), 0),
        ("job[1].service", ("job[[]1].service",), 0),
        ("a.service", ("[",), None),
    ],
)
def test_rule_for_unit_is_first_whose_pattern_matches(unit: str, patterns: tuple[str, ...], first: int | None) -> None:
    rules = _rules(*patterns)

    assert rule_for(unit, rules) is (None if first is None else rules[first])


@pytest.mark.parametrize(
    ("unit", "plain"),
    [
        (r"dev-disk\x2dby\x2duuid.swap", "dev-disk-by-uuid.swap"),
        (r"caf\xc3\xa9.service", "café.service"),
        (r"bad\xff.service", "bad\ufffd.service"),
        (r"cut\x2.service", r"cut\x2.service"),
    ],
)
def test_unescape_unit_turns_codes_into_characters(unit: str, plain: str) -> None:
    assert unescape_unit(unit) == plain
