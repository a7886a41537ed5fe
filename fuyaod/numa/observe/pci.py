"""Accelerators on PCI: what they are, where they sit, how they are linked."""

from __future__ import annotations

import re
from typing import Final

from fuyaod.hostfs import HostRoot
from fuyaod.model.cpuset import CpuSet
from fuyaod.model.devices import DeviceKind, PciDevice
from fuyaod.numa.observe.reading import Observed, Reading

ABOUT: Final = "pci.device"
PCI_ROOT: Final = "sys/bus/pci/devices/"

BDF: Final = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
SPEED: Final = re.compile(r"(\d{1,3}(?:\.\d)?) GT/s")

WIDTHS: Final = frozenset({1, 2, 4, 8, 12, 16, 32})
"""Lanes that PCI Express knows. A link without a device says 0, a device that fell off the bus 63, the kernel's
"unknown" is 255. Source: PCI Express Base Specification, Link Status register, Negotiated Link Width."""

ACCELERATOR_CLASS: Final = 0x12
DISPLAY_CLASS: Final = 0x03
COMPUTE_SUBCLASS: Final = 0x02
"""Base classes, and the subclass "3D controller". Source: PCI Code and ID Assignment Specification."""

HUAWEI: Final = 0x19E5
NPU_IDS: Final = frozenset(
    {(HUAWEI, d) for d in (0xA126, 0xD100, 0xD105, 0xD107, 0xD500, 0xD501)}  # 310, 310B, 310P
    | {(HUAWEI, d) for d in (0xD801, 0xD802, 0xD803, 0xD804, 0xD805, 0xD806, 0xD807)}  # 910A, 910B, 910C, 950
    | {(vendor, device) for vendor in (0x20C6, 0x203F) for device in (0xD500, 0xD802)}  # the same under other brands
)
"""(vendor, device) of Ascend NPUs. The class alone does not tell: the ZIP engine inside a Kunpeng has it too.

Source: tables of the Ascend host driver (pci_device_id); 0xD107 from lspci of 310B boards.
"""

GPU_DRIVERS: Final = {0x10DE: "nvidia", 0x1002: "amdgpu"}
"""GPU vendors, and the driver through which a display controller of theirs computes. Source: PCI ID repository."""


def observe_accelerators(host: HostRoot) -> Observed[tuple[PciDevice, ...]]:
    """NPUs, GPUs and other processing accelerators by address. A device that vanishes meanwhile is left out.

    Source: Linux Documentation/ABI/testing/sysfs-bus-pci.
    """
    reading = Reading(host)
    return Observed(value=read_accelerators(reading), findings=reading.findings())


def read_accelerators(reading: Reading, nodes: CpuSet | None = None) -> tuple[PciDevice, ...]:
    """The same into a reading; a device on a node that is not in `nodes` counts as one on no known node."""
    found = (_read_device(reading, bdf, nodes) for bdf in reading.names(ABOUT, PCI_ROOT) or () if BDF.fullmatch(bdf))
    return tuple(device for device in found if device is not None)


def _read_device(reading: Reading, bdf: str, nodes: CpuSet | None) -> PciDevice | None:
    base = f"{PCI_ROOT}{bdf}/"
    class_id = reading.count(ABOUT, base + "class")
    if class_id is None or class_id >> 16 not in (ACCELERATOR_CLASS, DISPLAY_CLASS):
        return None
    vendor_id, device_id = reading.count(ABOUT, base + "vendor"), reading.count(ABOUT, base + "device")
    if vendor_id is None or device_id is None:
        return None
    driver = reading.link_name(ABOUT, base + "driver")
    kind = _kind_of(class_id, vendor_id, device_id, driver)
    path = None if kind is None else reading.resolve(ABOUT, PCI_ROOT + bdf)
    if kind is None or path is None:
        return None
    return PciDevice(
        bdf=bdf,
        kind=kind,
        vendor_id=vendor_id,
        device_id=device_id,
        class_id=class_id,
        numa_node=_numa_node(reading, base + "numa_node", nodes),
        driver=driver,
        path=bridges(path, bdf),
        link_speed_gts=_speed(reading, base + "current_link_speed"),
        link_width=_width(reading, base + "current_link_width"),
        max_link_speed_gts=_speed(reading, base + "max_link_speed"),
        max_link_width=_width(reading, base + "max_link_width"),
    )


def _kind_of(class_id: int, vendor_id: int, device_id: int, driver: str | None) -> DeviceKind | None:
    if class_id >> 16 == ACCELERATOR_CLASS:
        if (vendor_id, device_id) in NPU_IDS:
            return DeviceKind.NPU
        return DeviceKind.GPU if vendor_id in GPU_DRIVERS else DeviceKind.ACCELERATOR
    if vendor_id not in GPU_DRIVERS:
        return None
    # A graphics card computes only under its vendor's driver; a 3D controller has no screen and is there to compute.
    computes = class_id >> 8 & 0xFF == COMPUTE_SUBCLASS or driver == GPU_DRIVERS[vendor_id]
    return DeviceKind.GPU if computes else None


def addresses(path: str) -> tuple[str, ...]:
    """PCI addresses on a resolved device path, root port first."""
    return tuple(part for part in path.split("/") if BDF.fullmatch(part))


def bridges(path: str, bdf: str) -> tuple[str, ...]:
    """The bridges above a device on its resolved path, root port first."""
    return tuple(address for address in addresses(path) if address != bdf)


def _numa_node(reading: Reading, path: str, nodes: CpuSet | None) -> int | None:
    node = reading.count(ABOUT, path)
    if node is None or nodes is None or node in nodes:
        return node
    reading.problem(ABOUT, f"{path}: node {node} is not online")
    return None


def _speed(reading: Reading, path: str) -> float | None:
    match = SPEED.match(reading.text(ABOUT, path) or "")
    return float(match[1]) or None if match else None


def _width(reading: Reading, path: str) -> int | None:
    width = reading.count(ABOUT, path)
    return width if width in WIDTHS else None
