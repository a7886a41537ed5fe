import msgspec
import pytest

from tests.kernel.vm.host import HostFacts, Unmet, read_host_facts, unmet_requirement

FIT = HostFacts(
    system="Linux", machine="x86_64", os_id="debian", os_version="12", uid=0, has_apt=True, open_files=20_000
)


def test_machine_that_fits_meets_every_requirement() -> None:
    assert unmet_requirement(FIT) is None


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"machine": "aarch64"}, "needs Linux on x86-64, this is Linux on aarch64"),
        ({"system": "Darwin"}, "needs Linux on x86-64, this is Darwin on x86_64"),
        ({"os_id": "ubuntu", "os_version": "22.04"}, "needs Debian 12, this is ubuntu 22.04"),
        ({"os_version": ""}, "needs Debian 12, this is debian"),
        ({"uid": 1000}, "needs root (packages, file server of the guest), this is uid 1000"),
        ({"has_apt": False}, "needs apt-get, which is not installed"),
        ({"open_files": 1024}, "needs 10000 open files, the hard limit is 1024"),
    ],
    ids=["arm64", "macos", "ubuntu", "debian sid", "user", "no apt", "few files"],
)
def test_machine_that_does_not_fit_is_told_why(change: dict[str, object], reason: str) -> None:
    assert unmet_requirement(msgspec.structs.replace(FIT, **change)) == Unmet(reason=reason)


def test_facts_of_this_machine_can_be_read() -> None:
    assert read_host_facts().open_files > 0
