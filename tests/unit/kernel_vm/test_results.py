from pathlib import Path

import pytest

from tests.kernel.results import Counts, judge_boot, merge, read_counts, summary_line

REPORT = '<testsuites><testsuite name="pytest" errors="1" failures="2" skipped="3" tests="10" /></testsuites>'


def test_counts_of_a_report_take_errors_as_failures(tmp_path: Path) -> None:
    report = tmp_path / "r.xml"
    report.write_text(REPORT)

    assert read_counts(report) == Counts(passed=4, failed=3, skipped=3)


@pytest.mark.parametrize("content", [None, "", REPORT[:40]], ids=["no file", "empty", "cut"])
def test_counts_of_a_report_that_cannot_be_read_are_none(tmp_path: Path, content: str | None) -> None:
    report = tmp_path / "r.xml"
    if content is not None:
        report.write_text(content)

    assert read_counts(report) is None


@pytest.mark.parametrize(
    ("counts", "exit_code", "expected", "judged"),
    [
        (Counts(passed=5, skipped=1), 0, 6, Counts(passed=5, skipped=1)),
        (Counts(passed=5, failed=1), 1, 6, Counts(passed=5, failed=1)),
        (None, None, 6, Counts(failed=6)),
        (Counts(passed=2), 0, 6, Counts(passed=2, failed=4)),
        (Counts(passed=6), 3, 6, Counts(passed=6, failed=1)),
        (Counts(passed=6), None, 6, Counts(passed=6, failed=1)),
    ],
    ids=["all ran", "one failed", "guest died", "tests lost", "pytest broke", "died after the tests"],
)
def test_boot_counts_what_left_no_result_as_failed(
    counts: Counts | None, exit_code: int | None, expected: int, judged: Counts
) -> None:
    assert judge_boot(counts, exit_code, expected) == judged


def test_merge_adds_the_boots() -> None:
    assert merge([Counts(1, 2, 3), Counts(10, 20, 30)]) == Counts(11, 22, 33)


def test_merge_of_nothing_is_zero() -> None:
    assert merge([]) == Counts(0, 0, 0)


def test_summary_is_one_line_with_all_numbers() -> None:
    assert summary_line(Counts(4, 3, 2), 9.96) == "kernel tests: 4 passed, 3 failed, 2 skipped in 10.0 s"
