from __future__ import annotations

from pathlib import Path

from fuyaod.ctl import doctor
from fuyaod.model.findings import Finding, FindingStatus
from tests.unit.ctl.conftest import Run, parsed


def test_doctor_json_has_every_finding_with_its_five_keys(run: Run, laptop: Path) -> None:
    findings = parsed(run("doctor", "--root", laptop, "--json"))["findings"]

    assert len(findings) > 10
    assert all(list(one) == ["id", "status", "summary", "cost", "mend"] for one in findings)
    assert {one["status"] for one in findings} <= {"ok", "degraded", "missing"}
    assert any(one["status"] == "ok" for one in findings)


def test_doctor_something_degraded_exits_1_and_tells_the_mend(run: Run, laptop: Path) -> None:
    bad = [one for one in parsed(run("doctor", "--root", laptop, "--json"))["findings"] if one["status"] != "ok"]

    result = run("doctor", "--root", laptop)

    assert bad
    assert result.exit_code == 1
    assert all(one["id"] in result.stdout for one in bad)
    assert f"{len(bad)} to look at" in result.stdout
    assert "mend:" in result.stdout


def test_doctor_all_shows_what_is_fine(run: Run, laptop: Path) -> None:
    fine = [one for one in parsed(run("doctor", "--root", laptop, "--json"))["findings"] if one["status"] == "ok"]

    assert f"ok        {fine[0]['id']}:" in run("doctor", "--root", laptop, "--all").stdout
    assert f"ok        {fine[0]['id']}:" not in run("doctor", "--root", laptop).stdout


def test_status_of_is_1_unless_everything_is_fine() -> None:
    fine = Finding(id="a", status=FindingStatus.OK, summary="")
    worse = Finding(id="b", status=FindingStatus.DEGRADED, summary="")
    gone = Finding(id="c", status=FindingStatus.MISSING, summary="")

    assert [doctor.status_of(found) for found in ((), (fine,), (fine, worse), (gone,))] == [0, 0, 1, 1]
