"""Network interfaces."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import pytest

from fuyaod.model.devices import Nic
from fuyaod.numa.observe import NicReader, observe_nics
from tests.fakes.refusals import RefusingFiles
from tests.unit.numa.trees import NET, NODE, Tree, build

PCI_HOME = "sys/devices/pci0000:bc/0000:bc:00.0/0000:bd:00.0/"
VIRTIO_HOME = "sys/devices/pci0000:00/0000:00:03.0/"
NIC_LINKS = {
    NET + "eth0": f"../../../{PCI_HOME}net/eth0",
    PCI_HOME + "net/eth0/device": "../../../0000:bd:00.0",
    PCI_HOME + "driver": "../../../../bus/pci/drivers/mlx5_core",
    NET + "eth1": f"../../../{VIRTIO_HOME}virtio2/net/eth1",
    VIRTIO_HOME + "virtio2/net/eth1/device": "../../../virtio2",
    VIRTIO_HOME + "virtio2/driver": "../../../../bus/virtio/drivers/virtio_net",
    NET + "lo": "../../devices/virtual/net/lo",
}


def _interface(base: str, **changes: str | bytes | None) -> Tree:
    files: dict[str, str | bytes | None] = {
        "operstate": "up\n",
        "carrier": "1\n",
        "speed": "100000\n",
        "mtu": "9000\n",
        "carrier_changes": "2\n",
    }
    counters = ("rx_bytes", "tx_bytes", "rx_errors", "tx_errors", "rx_dropped", "tx_dropped")
    files |= {f"statistics/{name}": f"{number}\n" for number, name in enumerate(counters, start=11)}
    return {base + name: text for name, text in (files | changes).items()}


def nic_tree() -> Tree:
    """eth0 on PCI, eth1 on virtio whose PCI parent knows the node, lo without a device."""
    return (
        _interface(PCI_HOME + "net/eth0/")
        | _interface(VIRTIO_HOME + "virtio2/net/eth1/", speed="-1\n")
        | _interface("sys/devices/virtual/net/lo/", operstate="unknown\n")
        | {PCI_HOME + "numa_node": "1\n", VIRTIO_HOME + "numa_node": "0\n", VIRTIO_HOME + "virtio2/status": "0xf\n"}
        | {"sys/bus/pci/drivers/mlx5_core/x": "", "sys/bus/virtio/drivers/virtio_net/x": ""}
    )


def _observe(root: Path, changes: Tree | None = None) -> tuple[Nic, ...]:
    return observe_nics(build(root, nic_tree() | (changes or {}), NIC_LINKS)).value


def test_nics_with_a_device_are_read_and_virtual_ones_left_out(tmp_path: Path) -> None:
    eth0, eth1 = _observe(tmp_path)

    assert eth0 == Nic(
        name="eth0",
        bdf="0000:bd:00.0",
        numa_node=1,
        driver="mlx5_core",
        operstate="up",
        carrier=True,
        speed_mbps=100_000,
        mtu=9000,
        rx_bytes=11,
        tx_bytes=12,
        rx_errors=13,
        tx_errors=14,
        rx_dropped=15,
        tx_dropped=16,
        carrier_changes=2,
    )
    assert (eth1.bdf, eth1.numa_node, eth1.driver) == ("0000:00:03.0", 0, "virtio_net")
    assert eth1.speed_mbps is None


def test_nics_down_interface_has_neither_carrier_nor_speed(tmp_path: Path) -> None:
    tree = nic_tree() | {PCI_HOME + "net/eth0/operstate": "down\n"}

    for ending in ("eth0/carrier", "eth0/speed"):
        root = tmp_path / ending
        seen = observe_nics(build(root, tree, NIC_LINKS, RefusingFiles(at_read={ending: errno.EINVAL})))

        assert seen.findings == ()
        assert None in (seen.value[0].carrier, seen.value[0].speed_mbps)
        assert seen.value[0].operstate == "down"


@pytest.mark.parametrize("text", ["-1\n", "0\n", "4294967295\n", "", "x\n", None], ids=repr)
def test_nics_speed_unknown_is_none(tmp_path: Path, text: str | None) -> None:
    assert _observe(tmp_path, {PCI_HOME + "net/eth0/speed": text})[0].speed_mbps is None


def test_nics_reader_reads_counters_each_time_and_the_link_on_refresh(tmp_path: Path) -> None:
    host = build(tmp_path, nic_tree(), NIC_LINKS)
    reader = NicReader(host)
    reader.read()
    (tmp_path / PCI_HOME / "net/eth0/statistics/rx_bytes").write_text("99\n")
    (tmp_path / PCI_HOME / "net/eth0/operstate").write_text("down\n")

    before = reader.read().value[0]
    reader.refresh()
    after = reader.read().value[0]
    reader.close()

    assert (before.rx_bytes, before.operstate) == (99, "up")
    assert after.operstate == "down"
    assert host.budget.kept == 0


def test_nics_reader_counters_of_an_interface_made_anew_start_again(tmp_path: Path) -> None:
    host = build(tmp_path, nic_tree(), NIC_LINKS)
    reader = NicReader(host)
    reader.read()
    counter = tmp_path / PCI_HOME / "net/eth0/statistics/rx_bytes"
    counter.unlink()
    counter.write_text("1\n")

    reader.refresh()

    assert reader.read().value[0].rx_bytes == 1
    reader.close()


def test_nics_reader_vanished_interface_is_left_out(tmp_path: Path) -> None:
    reader = NicReader(build(tmp_path, nic_tree(), NIC_LINKS))
    shutil.rmtree(tmp_path / PCI_HOME / "net/eth0")

    assert [nic.name for nic in reader.read().value] == ["eth1"]
    reader.close()


@pytest.mark.parametrize("text", ["", "x", "-4", "1_000", "+5", b"\xff\x00", "9" * 19, "9" * 30], ids=repr)
def test_nics_broken_counter_is_none_and_found(tmp_path: Path, text: str | bytes) -> None:
    tree = nic_tree() | {PCI_HOME + "net/eth0/statistics/rx_bytes": text}

    seen = observe_nics(build(tmp_path, tree, NIC_LINKS))

    assert (seen.value[0].rx_bytes, seen.value[0].tx_bytes) == (None, 12)
    assert [f.id for f in seen.findings] == ["nic.interface"]
    assert "eth0/statistics/rx_bytes" in seen.findings[0].summary


def test_nics_largest_counter_is_taken(tmp_path: Path) -> None:
    eth0, _ = _observe(tmp_path, {PCI_HOME + "net/eth0/statistics/rx_bytes": f"{(1 << 63) - 1}\n"})

    assert eth0.rx_bytes == (1 << 63) - 1


def test_nics_denied_counter_is_found_as_long_as_it_is_denied(tmp_path: Path) -> None:
    files = RefusingFiles()
    reader = NicReader(build(tmp_path, nic_tree(), NIC_LINKS, files))
    healthy = reader.read()
    files.at_read["eth0/statistics/rx_bytes"] = errno.EACCES

    denied = reader.read()
    files.at_read.clear()
    granted = reader.read()
    reader.close()

    assert denied.value[0].rx_bytes is None
    assert "EACCES" in denied.findings[0].summary
    assert denied.findings[0].mend
    assert granted == healthy


def test_nics_problems_of_the_link_and_of_a_counter_are_one_finding(tmp_path: Path) -> None:
    changes: Tree = {PCI_HOME + "net/eth0/operstate": "sideways\n", PCI_HOME + "net/eth0/statistics/rx_bytes": "x\n"}
    reader = NicReader(build(tmp_path, nic_tree() | changes, NIC_LINKS))

    for _ in range(2):
        (finding,) = reader.read().findings
        assert "sideways" in finding.summary
        assert "rx_bytes" in finding.summary
        assert "more" not in finding.summary
    reader.close()


def test_nics_interface_that_may_not_be_looked_at_is_kept(tmp_path: Path) -> None:
    files = RefusingFiles(at_read=dict.fromkeys(("_bytes", "_errors", "_dropped", "_changes"), errno.EACCES))
    files.at_stat["net/eth0"] = errno.EACCES

    seen = observe_nics(build(tmp_path, nic_tree(), NIC_LINKS, files))

    assert [nic.name for nic in seen.value] == ["eth0", "eth1"]


@pytest.mark.parametrize(
    ("file", "text"),
    [("carrier", "7\n"), ("carrier", "x\n"), ("speed", b"\xff\x00"), ("speed", "fast\n"), ("mtu", "x\n")],
    ids=str,
)
def test_nics_broken_link_file_is_none_and_found(tmp_path: Path, file: str, text: str | bytes) -> None:
    seen = observe_nics(build(tmp_path, nic_tree() | {f"{PCI_HOME}net/eth0/{file}": text}, NIC_LINKS))

    eth0 = seen.value[0]
    assert {"carrier": eth0.carrier, "speed": eth0.speed_mbps, "mtu": eth0.mtu}[file] is None
    assert [f.id for f in seen.findings] == ["nic.interface"]


def test_nics_denied_link_file_is_found(tmp_path: Path) -> None:
    files = RefusingFiles(at_open={"eth0/carrier": errno.EACCES})

    seen = observe_nics(build(tmp_path, nic_tree(), NIC_LINKS, files))

    assert seen.value[0].carrier is None
    assert "EACCES" in seen.findings[0].summary


@pytest.mark.parametrize(("online", "expected"), [("0\n", None), ("0-1\n", 1)], ids=["offline", "online"])
def test_nics_node_that_is_not_online_is_found_and_none(tmp_path: Path, online: str, expected: int | None) -> None:
    seen = observe_nics(build(tmp_path, nic_tree() | {NODE + "online": online}, NIC_LINKS))

    assert [nic.numa_node for nic in seen.value] == [expected, 0]
    assert [f.id for f in seen.findings] == ([] if expected else ["nic.interface"])


def test_nics_parent_of_a_virtio_device_on_a_node_that_is_not_online_is_found(tmp_path: Path) -> None:
    changes: Tree = {NODE + "online": "0\n", PCI_HOME + "numa_node": "-1\n", VIRTIO_HOME + "numa_node": "1\n"}

    seen = observe_nics(build(tmp_path, nic_tree() | changes, NIC_LINKS))

    assert [nic.numa_node for nic in seen.value] == [None, None]
    assert [f.id for f in seen.findings] == ["nic.interface"]


def test_nics_unknown_operstate_is_found(tmp_path: Path) -> None:
    seen = observe_nics(build(tmp_path, nic_tree() | {PCI_HOME + "net/eth0/operstate": "sideways\n"}, NIC_LINKS))

    assert seen.value[0].operstate == "unknown"
    assert [f.id for f in seen.findings] == ["nic.interface"]


def test_nics_platform_device_has_a_node_and_no_bdf(tmp_path: Path) -> None:
    home = "sys/devices/platform/HISI00C2:00/"
    tree = _interface(home + "net/eth9/") | {home + "numa_node": "2\n"}
    links = {NET + "eth9": f"../../../{home}net/eth9", home + "net/eth9/device": "../../../HISI00C2:00"}

    (nic,) = observe_nics(build(tmp_path, tree, links)).value

    assert (nic.bdf, nic.numa_node, nic.driver) == (None, 2, None)


def test_nics_host_without_network_has_none(tmp_path: Path) -> None:
    seen = observe_nics(build(tmp_path, {}))

    assert (seen.value, seen.findings) == ((), ())
