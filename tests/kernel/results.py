"""Counting what the guests' pytest runs reported."""

import xml.etree.ElementTree as ET
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

EXIT_OK = 0
EXIT_FAILED = 1

_PYTEST_OK = 0


class Counts(NamedTuple):
    """Numbers of tests by outcome."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def plus(self, other: "Counts") -> "Counts":
        """Both together."""
        return Counts(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


def read_counts(junit: Path) -> Counts | None:
    """Counts from a JUnit file that pytest wrote; None when there is none or it is cut off."""
    try:
        root = ET.fromstring(junit.read_bytes())
    except (FileNotFoundError, ET.ParseError):
        return None
    total = Counts()
    for suite in root.iter("testsuite"):
        failed = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        skipped = int(suite.get("skipped", 0))
        passed = int(suite.get("tests", 0)) - failed - skipped
        total = total.plus(Counts(passed=passed, failed=failed, skipped=skipped))
    return total


def judge_boot(counts: Counts | None, exit_code: int | None, expected: int) -> Counts:
    """What one boot counts for: a test that was to run and left no result has failed.

    Args:
        counts: from the guest's JUnit file.
        exit_code: of the guest's pytest, None when it did not end.
        expected: tests that were to run.
    """
    counts = counts or Counts()
    missing = expected - sum(counts)
    if missing > 0:
        counts = counts._replace(failed=counts.failed + missing)
    if exit_code != _PYTEST_OK and not counts.failed:
        counts = counts._replace(failed=1)
    return counts


def merge(parts: Iterable[Counts]) -> Counts:
    """All boots together."""
    total = Counts()
    for part in parts:
        total = total.plus(part)
    return total


def summary_line(counts: Counts, seconds: float) -> str:
    """The last line of a run."""
    return f"kernel tests: {counts.passed} passed, {counts.failed} failed, {counts.skipped} skipped in {seconds:.1f} s"
