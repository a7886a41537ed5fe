"""PCI device types that declarations name, and what sysfs shows of them.

Sources: Ascend ids, class and revision from lspci of such hosts (d802: 910B, d803: 910C), driver name from `lspci -k`;
the others from pci.ids. Link speeds are those of the product pages [i].
"""

from __future__ import annotations

import msgspec

from tests.hosts.facts import DeviceFact, NicFact
from tests.hosts.shape import Device, Host, Nic


class DeviceType(msgspec.Struct, frozen=True, kw_only=True):
    """What all devices of a type share. `speed` in GT/s as the kernel writes it, None without a PCI Express link."""

    vendor: int
    device: int
    class_id: int
    driver: str
    speed: str | None = None
    width: int | None = None
    revision: int = 0
    accelerator: bool = False


_ASCEND = {"vendor": 0x19E5, "class_id": 0x120000, "driver": "devdrv_device_driver", "accelerator": True}

TYPES: dict[str, DeviceType] = {
    "ascend-910b": DeviceType(**_ASCEND, device=0xD802, speed="16.0", width=16, revision=0x20),  # type: ignore[arg-type]
    "ascend-910c": DeviceType(**_ASCEND, device=0xD803, speed="32.0", width=16, revision=0x20),  # type: ignore[arg-type]
    "nvidia-h100": DeviceType(
        vendor=0x10DE,
        device=0x2330,
        class_id=0x030200,
        driver="nvidia",
        speed="32.0",
        width=16,
        revision=0xA1,
        accelerator=True,
    ),
    "nvidia-a100": DeviceType(
        vendor=0x10DE,
        device=0x20B2,
        class_id=0x030200,
        driver="nvidia",
        speed="16.0",
        width=16,
        revision=0xA1,
        accelerator=True,
    ),
    "mlx5": DeviceType(vendor=0x15B3, device=0x101D, class_id=0x020000, driver="mlx5_core", speed="16.0", width=16),
    "hns": DeviceType(vendor=0x19E5, device=0xA222, class_id=0x020000, driver="hns3", revision=0x21),
    "e1000e": DeviceType(vendor=0x8086, device=0x1A1E, class_id=0x020000, driver="e1000e", revision=0x01),
    "iwlwifi": DeviceType(
        vendor=0x8086, device=0x51F0, class_id=0x028000, driver="iwlwifi", speed="5.0", width=1, revision=0x01
    ),
    "virtio-net": DeviceType(vendor=0x1AF4, device=0x1041, class_id=0x020000, driver="virtio-pci", revision=0x01),
    "bridge": DeviceType(vendor=0x19E5, device=0xA120, class_id=0x060400, driver="pcieport", speed="16.0", width=16),
}

# Counters of /sys/class/net/*/statistics that a snapshot may use.
COUNTERS = (
    "rx_bytes",
    "tx_bytes",
    "rx_packets",
    "tx_packets",
    "rx_errors",
    "tx_errors",
    "rx_dropped",
    "tx_dropped",
    "collisions",
    "multicast",
)


def device_facts(host: Host) -> tuple[DeviceFact, ...]:
    """The declared devices; the bridges above them are not devices of interest."""
    return tuple(_device(device) for device in host.devices)


def _device(device: Device) -> DeviceFact:
    kind = TYPES[device.type]
    linked = kind.speed is not None
    return DeviceFact(
        bdf=device.bdf,
        type=device.type,
        vendor=kind.vendor,
        device=kind.device,
        class_id=kind.class_id,
        node=device.node if device.node >= 0 else None,
        driver=(kind.driver if device.driver is None else device.driver) or None,
        path=device.behind,
        speed_gts=float(device.speed or kind.speed or 0) if linked else None,
        width=(device.width or kind.width) if linked else None,
        max_speed_gts=float(kind.speed) if kind.speed else None,
        max_width=kind.width,
        accelerator=kind.accelerator,
    )


def nic_facts(host: Host, devices: tuple[DeviceFact, ...]) -> tuple[NicFact, ...]:
    """The declared interfaces and `lo`."""
    by_bdf = {device.bdf: device for device in devices}
    nics = (Nic(name="lo", mtu=65536), *host.nics)
    return tuple(_nic(number, nic, by_bdf.get(nic.bdf or "")) for number, nic in enumerate(nics, start=1))


def _nic(number: int, nic: Nic, device: DeviceFact | None) -> NicFact:
    scale = number if nic.up else 0
    values = (98_765_432_101, 12_345_678_910, 71_234_567, 9_876_543, 3, 1, 17, 2, 0, 4_711)
    driver = device.driver if device else None
    if driver == "virtio-pci":
        driver = "virtio_net"  # the interface hangs on the virtio bus, its PCI parent on virtio-pci
    return NicFact(
        name=nic.name,
        bdf=nic.bdf,
        node=device.node if device else None,
        driver=driver,
        operstate="unknown" if nic.name == "lo" else "up" if nic.up else "down",
        carrier=True if nic.up else None,
        speed_mbps=nic.speed if nic.up and nic.speed is not None and nic.speed > 0 else None,
        mtu=nic.mtu,
        counters={name: scale * value for name, value in zip(COUNTERS, values, strict=True)},
    )
