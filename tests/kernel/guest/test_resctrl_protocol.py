"""resctrl protocol on a real kernel with emulated enumeration: file formats and error texts, never isolation."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kernel.guest.sysfs import read_word
from tests.kernel.vm.spec import Vm

pytestmark = pytest.mark.systemd_boot


@pytest.fixture
def group(resctrl_mount: Path) -> Iterator[Path]:
    """A class of one's own."""
    folder = resctrl_mount / "test-group"
    folder.mkdir()
    yield folder
    folder.rmdir()


def test_schemata_emulated_enumeration_has_a_domain_per_l3(vm_spec: Vm, resctrl_mount: Path) -> None:
    lines = dict(line.strip().split(":") for line in (resctrl_mount / "schemata").read_text().splitlines())

    domains = range(len(vm_spec.l3_domains()))
    assert lines["L3"] == ";".join(f"{domain}=fff" for domain in domains)
    assert lines["MB"] == ";".join(f"{domain}=100" for domain in domains)


def test_info_emulated_enumeration_has_all_features(resctrl_mount: Path) -> None:
    info = {
        name: read_word(resctrl_mount / "info" / name)
        for name in ("L3/cbm_mask", "L3/num_closids", "L3/shareable_bits", "MB/min_bandwidth", "L3_MON/num_rmids")
    }

    assert info == {
        "L3/cbm_mask": "fff",
        "L3/num_closids": "8",
        "L3/shareable_bits": "c00",
        "MB/min_bandwidth": "10",
        "L3_MON/num_rmids": "32",
    }
    assert read_word(resctrl_mount / "info/L3_MON/mon_features").split() == [
        "llc_occupancy",
        "mbm_total_bytes",
        "mbm_local_bytes",
    ]


def test_mask_emulated_enumeration_changes_only_its_domain(group: Path) -> None:
    (group / "schemata").write_text("L3:0=3\n")

    assert "L3:0=003;1=fff" in (group / "schemata").read_text()


def test_mask_with_a_gap_is_refused_with_the_kernels_words(resctrl_mount: Path, group: Path) -> None:
    with pytest.raises(OSError, match="Invalid argument"):
        (group / "schemata").write_text("L3:0=5\n")

    assert read_word(resctrl_mount / "info/last_cmd_status") == "The mask 5 has non-consecutive 1-bits"


def test_kernel_with_emulated_enumeration_has_warned_of_nothing(resctrl_mount: Path) -> None:
    assert resctrl_mount.is_mount()
    assert read_word(Path("/proc/sys/kernel/tainted")) == "0"
