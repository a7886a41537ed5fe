"""Accelerators on PCI."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from fuyaod.model import CpuSet
from fuyaod.model.devices import DeviceKind, PciDevice
from fuyaod.numa.observe import observe_accelerators, observe_topology
from fuyaod.numa.observe.pci import PCI_ROOT, read_accelerators
from fuyaod.numa.observe.reading import Reading
from tests.fakes.refusals import RefusingFiles
from tests.unit.numa.trees import Tree, build, machine

NPU_HOME = "sys/devices/pci0000:c0/0000:c0:00.0/0000:c1:00.0/"
GPU_HOME = "sys/devices/pci0000:40/0000:40:01.0/0000:41:00.0/0000:42:00.0/"
BRIDGE_HOME = "sys/devices/pci0000:c0/0000:c0:00.0/"
PCI_LINKS = {
    PCI_ROOT + "0000:c1:00.0": "../../../devices/pci0000:c0/0000:c0:00.0/0000:c1:00.0",
    PCI_ROOT + "0000:c0:00.0": "../../../devices/pci0000:c0/0000:c0:00.0",
    PCI_ROOT + "0000:42:00.0": "../../../devices/pci0000:40/0000:40:01.0/0000:41:00.0/0000:42:00.0",
    NPU_HOME + "driver": "../../../../bus/pci/drivers/devdrv_device_driver",
}


def _device(home: str, class_id: str, vendor: str, device: str, **files: str | bytes | None) -> Tree:
    tree: Tree = {home + "class": class_id, home + "vendor": vendor, home + "device": device}
    return tree | {home + "numa_node": "1\n"} | {home + name: text for name, text in files.items()}


def pci_tree() -> Tree:
    """An NPU behind one bridge, a GPU behind two, and the bridge itself."""
    link: dict[str, str | bytes | None] = {
        "current_link_speed": "8.0 GT/s PCIe\n",
        "current_link_width": "8\n",
        "max_link_speed": "16.0 GT/s PCIe\n",
        "max_link_width": "16\n",
    }
    return (
        _device(NPU_HOME, "0x120000\n", "0x19e5\n", "0xd802\n", **link)
        | _device(GPU_HOME, "0x030200\n", "0x10de\n", "0x2330\n", **link)
        | _device(BRIDGE_HOME, "0x060400\n", "0x19e5\n", "0xa120\n")
        | {"sys/bus/pci/drivers/devdrv_device_driver/x": ""}
    )


def _observe(root: Path, changes: Tree | None = None) -> tuple[PciDevice, ...]:
    return observe_accelerators(build(root, pci_tree() | (changes or {}), PCI_LINKS)).value


def test_accelerators_are_read_with_link_driver_and_bridges(tmp_path: Path) -> None:
    gpu, npu = _observe(tmp_path)

    assert npu == PciDevice(
        bdf="0000:c1:00.0",
        kind=DeviceKind.NPU,
        vendor_id=0x19E5,
        device_id=0xD802,
        class_id=0x120000,
        numa_node=1,
        driver="devdrv_device_driver",
        path=("0000:c0:00.0",),
        link_speed_gts=8.0,
        link_width=8,
        max_link_speed_gts=16.0,
        max_link_width=16,
    )
    assert (gpu.kind, gpu.driver, gpu.path) == (DeviceKind.GPU, None, ("0000:40:01.0", "0000:41:00.0"))


@pytest.mark.parametrize(
    ("class_id", "vendor", "device", "driver", "kind"),
    [
        ("0x120000", "0x19e5", "0xd801", None, DeviceKind.NPU),
        ("0x120000", "0x19e5", "0xd806", None, DeviceKind.NPU),
        ("0x120000", "0x19e5", "0xa250", None, DeviceKind.ACCELERATOR),
        ("0x120000", "0x1da3", "0x1020", None, DeviceKind.ACCELERATOR),
        ("0x120000", "0x1002", "0x74a1", None, DeviceKind.GPU),
        ("0x030200", "0x10de", "0x20b2", None, DeviceKind.GPU),
        ("0x030000", "0x10de", "0x2684", "nvidia", DeviceKind.GPU),
        ("0x030000", "0x10de", "0x2684", "nouveau", None),
        ("0x030000", "0x10de", "0x2684", None, None),
        ("0x038000", "0x1002", "0x7408", "amdgpu", DeviceKind.GPU),
        ("0x030000", "0x1a03", "0x2000", "ast", None),
        ("0x010802", "0x19e5", "0xd802", None, None),
        ("0x020000", "0x15b3", "0x101d", "mlx5_core", None),
    ],
    ids=[
        "910a",
        "950",
        "kunpeng_zip_engine",
        "gaudi",
        "mi300",
        "a100",
        "geforce",
        "geforce_nouveau",
        "geforce_no_driver",
        "mi250",
        "bmc_screen",
        "npu_id_of_another_class",
        "nic",
    ],
)
def test_accelerator_kind_follows_class_vendor_and_driver(
    tmp_path: Path, class_id: str, vendor: str, device: str, driver: str | None, kind: DeviceKind | None
) -> None:
    home = PCI_ROOT + "0000:01:00.0/"
    links = {} if driver is None else {home + "driver": f"../../drivers/{driver}"}
    host = build(tmp_path, _device(home, class_id, vendor, device), links)

    assert [d.kind for d in observe_accelerators(host).value] == ([] if kind is None else [kind])


@pytest.mark.parametrize(
    ("text", "speed"),
    [
        ("16.0 GT/s PCIe", 16.0),
        ("8 GT/s", 8.0),
        ("2.5 GT/s", 2.5),
        ("Unknown", None),
        ("Unknown speed", None),
        ("", None),
    ],
    ids=str,
)
def test_accelerator_link_speed_unknown_is_none(tmp_path: Path, text: str, speed: float | None) -> None:
    assert _observe(tmp_path, {NPU_HOME + "current_link_speed": text})[1].link_speed_gts == speed


@pytest.mark.parametrize(
    ("text", "width"), [("16", 16), ("0", None), ("255", None), ("63", None), ("x", None), (None, None)], ids=str
)
def test_accelerator_link_width_that_does_not_exist_is_none(
    tmp_path: Path, text: str | None, width: int | None
) -> None:
    assert _observe(tmp_path, {NPU_HOME + "current_link_width": text})[1].link_width == width


@pytest.mark.parametrize(("text", "node"), [("-1\n", None), ("0\n", 0), (None, None), ("x", None)], ids=str)
def test_accelerator_node_unknown_is_none(tmp_path: Path, text: str | None, node: int | None) -> None:
    assert _observe(tmp_path, {NPU_HOME + "numa_node": text})[1].numa_node == node


def test_accelerator_on_a_node_that_is_not_there_is_on_no_known_node(tmp_path: Path) -> None:
    tree = machine() | pci_tree() | {NPU_HOME + "numa_node": "9\n"}

    seen = observe_topology(build(tmp_path, tree, PCI_LINKS), 0)

    assert [d.numa_node for d in seen.value.devices] == [1, None]
    assert [f.id for f in seen.findings] == ["pci.device"]


def test_accelerator_node_is_checked_only_against_nodes_that_are_known(tmp_path: Path) -> None:
    reading = Reading(build(tmp_path, pci_tree(), PCI_LINKS))

    assert [d.numa_node for d in read_accelerators(reading)] == [1, 1]
    assert [d.numa_node for d in read_accelerators(reading, CpuSet((0,)))] == [None, None]


@pytest.mark.parametrize("file", ["class", "vendor", "device"])
def test_accelerator_that_vanishes_between_listing_and_reading_is_skipped(tmp_path: Path, file: str) -> None:
    files = RefusingFiles(at_read={f"0000:c1:00.0/{file}": errno.ENODEV})

    seen = observe_accelerators(build(tmp_path, pci_tree(), PCI_LINKS, files))

    assert [d.bdf for d in seen.value] == ["0000:42:00.0"]
    assert seen.findings == ()


def test_accelerator_with_a_dangling_link_is_skipped(tmp_path: Path) -> None:
    links = PCI_LINKS | {PCI_ROOT + "0000:99:00.0": "../../../devices/pci0000:98/0000:99:00.0"}

    assert len(observe_accelerators(build(tmp_path, pci_tree(), links)).value) == 2


def test_accelerator_garbage_is_found_and_skipped(tmp_path: Path) -> None:
    host = build(tmp_path, pci_tree() | {NPU_HOME + "vendor": b"\xff\xfe"}, PCI_LINKS)

    seen = observe_accelerators(host)

    assert len(seen.value) == 1
    assert [f.id for f in seen.findings] == ["pci.device"]


def test_accelerators_host_without_pci_has_none(tmp_path: Path) -> None:
    seen = observe_accelerators(build(tmp_path, {}))

    assert (seen.value, seen.findings) == ((), ())
