"""Writes PCI devices and network interfaces, linked as sysfs links them.

Source: Linux Documentation/ABI/testing/{sysfs-bus-pci,sysfs-class-net}, and an x86-64 machine.
"""

from __future__ import annotations

import errno

from tests.hosts.devices import TYPES, DeviceType
from tests.hosts.expand import CpuFacts
from tests.hosts.facts import NicFact
from tests.hosts.profiles import Profile
from tests.hosts.shape import Device, Host
from tests.hosts.text import cpulist
from tests.hosts.writer import Tree

_BUS = "sys/bus/pci"


class PciWriter:
    """Writes devices below their host bridges; bridges are made when the first device behind them is."""

    def __init__(self, tree: Tree, host: Host, profile: Profile, cpus: CpuFacts) -> None:
        self._tree = tree
        self._profile = profile
        self._cpus = cpus
        self._drivers: set[str] = set()
        self._bridges: set[str] = set()
        self.folders: dict[str, str] = {}
        tree.folder(f"{_BUS}/devices")
        tree.folder(f"{_BUS}/drivers")
        for device in host.devices:
            self._write_device(device)

    def _write_device(self, device: Device) -> None:
        kind = TYPES[device.type]
        first = device.behind[0] if device.behind else device.bdf
        folder = f"sys/devices/pci{first[:7]}"
        for bdf in device.behind:
            folder += f"/{bdf}"
            if bdf not in self._bridges:
                self._bridges.add(bdf)
                self._write(folder, bdf, TYPES["bridge"], device.node, "pcieport", device)
        folder += f"/{device.bdf}"
        driver = kind.driver if device.driver is None else device.driver
        self._write(folder, device.bdf, kind, device.node, driver, device)
        self.folders[device.bdf] = folder

    def _speed(self, speed: str) -> str:
        # Source: Linux drivers/pci/probe.c, pci_speed_string(): "16.0 GT/s PCIe" since 5.7, before "16 GT/s".
        if self._profile.has((5, 7)):
            return f"{speed} GT/s PCIe\n"
        return f"{speed.removesuffix('.0')} GT/s\n"

    def _write(self, folder: str, bdf: str, kind: DeviceType, node: int, driver: str, declared: Device) -> None:
        near = [cpu.cpu for cpu in self._cpus.cpus if cpu.online and node in (-1, cpu.node)]
        ids = f"{kind.vendor:04X}:{kind.device:04X}"
        lines = [f"DRIVER={driver}"] if driver else []
        lines += [f"PCI_CLASS={kind.class_id:X}", f"PCI_ID={ids}", f"PCI_SUBSYS_ID={ids}", f"PCI_SLOT_NAME={bdf}"]
        files = {
            "vendor": f"0x{kind.vendor:04x}\n",
            "device": f"0x{kind.device:04x}\n",
            "subsystem_vendor": f"0x{kind.vendor:04x}\n",
            "subsystem_device": f"0x{kind.device:04x}\n",
            "class": f"0x{kind.class_id:06x}\n",
            "revision": f"0x{kind.revision:02x}\n",
            "numa_node": f"{node}\n",
            "local_cpulist": cpulist(near) + "\n",
            "enable": "1\n",
            "irq": "0\n",
            "uevent": "\n".join(lines) + "\n",
        }
        if kind.speed is not None:
            own = kind is TYPES[declared.type]
            files["current_link_speed"] = self._speed(declared.speed if own and declared.speed else kind.speed)
            files["current_link_width"] = f"{declared.width if own and declared.width else kind.width}\n"
            files["max_link_speed"] = self._speed(kind.speed)
            files["max_link_width"] = f"{kind.width}\n"
        self._tree.put_all(folder, files)
        up = "../" * (folder.count("/"))  # from the device's folder to /sys
        self._tree.link(f"{folder}/subsystem", f"{up}bus/pci")
        self._tree.link(f"{_BUS}/devices/{bdf}", f"../../../{folder.removeprefix('sys/')}")
        if driver:
            self._tree.link(f"{folder}/driver", f"{up}bus/pci/drivers/{driver}")
            self._tree.link(f"{_BUS}/drivers/{driver}/{bdf}", f"../../../../{folder.removeprefix('sys/')}")

    def write_nics(self, host: Host, nics: tuple[NicFact, ...]) -> None:
        """Writes the interfaces."""
        buses = {nic.name: nic.bus for nic in host.nics}
        self._tree.folder("sys/class/net")
        for index, nic in enumerate(nics, start=1):
            self._write_nic(index, nic, buses.get(nic.name))

    def _write_nic(self, index: int, nic: NicFact, bus: str | None) -> None:
        parent = "sys/devices/virtual" if nic.bdf is None else self.folders[nic.bdf]
        if bus is not None:
            parent += f"/{bus}"
        folder = f"{parent}/net/{nic.name}"
        failing = _unreadable(nic)
        self._tree.put_all(
            folder,
            {
                "address": "00:00:00:00:00:00\n" if nic.name == "lo" else f"02:fc:00:00:00:{index:02x}\n",
                "operstate": f"{nic.operstate}\n",
                "carrier": "" if "carrier" in failing else f"{int(nic.carrier or 0)}\n",
                "carrier_changes": f"{index}\n",
                "duplex": "" if "duplex" in failing else "full\n",
                "flags": "0x9\n" if nic.name == "lo" else "0x1003\n",
                "ifindex": f"{index}\n",
                "iflink": f"{index}\n",
                "mtu": f"{nic.mtu}\n",
                "speed": "" if "speed" in failing else f"{nic.speed_mbps or -1}\n",
                "type": "772\n" if nic.name == "lo" else "1\n",
                "uevent": f"INTERFACE={nic.name}\nIFINDEX={index}\n",
            },
        )
        self._tree.put_all(f"{folder}/statistics", {name: f"{value}\n" for name, value in nic.counters.items()})
        up = "../" * folder.count("/")
        self._tree.link(f"{folder}/subsystem", f"{up}class/net")
        self._tree.link(f"sys/class/net/{nic.name}", f"../../{folder.removeprefix('sys/')}")
        if nic.bdf is not None:
            self._link_parent(parent, folder, bus, nic)

    def _link_parent(self, parent: str, folder: str, bus: str | None, nic: NicFact) -> None:
        self._tree.link(f"{folder}/device", f"../../../{parent.rpartition('/')[2]}")
        if bus is None:
            return
        up = "../" * parent.count("/")
        self._tree.folder(f"sys/bus/virtio/drivers/{nic.driver}")
        self._tree.link(f"{parent}/driver", f"{up}bus/virtio/drivers/{nic.driver}")
        self._tree.link(f"{parent}/subsystem", f"{up}bus/virtio")


def _unreadable(nic: NicFact) -> tuple[str, ...]:
    # Source: Linux net/core/net-sysfs.c: EINVAL while the interface is down, and for those without a link of their own.
    speed = ("speed", "duplex") if nic.bdf is None or nic.operstate == "down" else ()
    return speed if nic.carrier is not None else (*speed, "carrier")


def nic_faults(nics: tuple[NicFact, ...]) -> dict[str, int]:
    """Files of interfaces whose reading gives EINVAL."""
    return {f"sys/class/net/{nic.name}/{name}": errno.EINVAL for nic in nics for name in _unreadable(nic)}
