"""Devices on PCI and network interfaces, with where they sit."""

from __future__ import annotations

import enum

from fuyaod.model.values import Value


class DeviceKind(enum.Enum):
    """What a PCI device is to this product."""

    NPU = "npu"
    GPU = "gpu"
    ACCELERATOR = "accelerator"


class PciDevice(Value, frozen=True, kw_only=True):
    """An accelerator on PCI.

    `bdf` is lower case as in sysfs (`0000:c1:00.0`). `numa_node` is None where the platform does not know (sysfs says
    -1).
    `path` lists the bridges from the root port down to the device, for locality between devices.
    Link speed is in GT/s per lane, width in lanes; None where the device reports none ("Unknown").
    """

    bdf: str
    kind: DeviceKind
    vendor_id: int
    device_id: int
    class_id: int
    numa_node: int | None
    driver: str | None
    path: tuple[str, ...]
    link_speed_gts: float | None
    link_width: int | None
    max_link_speed_gts: float | None
    max_link_width: int | None


class Nic(Value, frozen=True, kw_only=True):
    """A network interface backed by hardware (virtual ones without a device are left out).

    `carrier` is None while the interface is down. Counters are since driver load. Addresses are not read.
    """

    name: str
    bdf: str | None
    numa_node: int | None
    driver: str | None
    operstate: str
    carrier: bool | None
    speed_mbps: int | None
    mtu: int | None
    rx_bytes: int | None
    tx_bytes: int | None
    rx_errors: int | None
    tx_errors: int | None
    rx_dropped: int | None
    tx_dropped: int | None
    carrier_changes: int | None
