"""Network interfaces backed by hardware: where they sit, their link, and what went through them."""

from __future__ import annotations

import errno
from typing import Final

import msgspec

from fuyaod.hostfs import HostRoot, KeptFile
from fuyaod.model.cpuset import CpuSet
from fuyaod.model.devices import Nic
from fuyaod.numa.observe.nodes import NODE_ROOT
from fuyaod.numa.observe.pci import addresses
from fuyaod.numa.observe.reading import Observed, Reading

ABOUT: Final = "nic.interface"
NET_ROOT: Final = "sys/class/net/"

OPERSTATES: Final = ("unknown", "notpresent", "down", "lowerlayerdown", "testing", "dormant", "up")
"""Source: Linux Documentation/ABI/testing/sysfs-class-net, operstate."""

SPEED_UNKNOWN: Final = 0xFFFF_FFFF
"""-1 as older kernels print it. Source: Linux include/uapi/linux/ethtool.h, SPEED_UNKNOWN."""

COUNTERS: Final = (
    "statistics/rx_bytes",
    "statistics/tx_bytes",
    "statistics/rx_errors",
    "statistics/tx_errors",
    "statistics/rx_dropped",
    "statistics/tx_dropped",
    "carrier_changes",
)
"""Source: Linux Documentation/ABI/testing/sysfs-class-net-statistics and sysfs-class-net."""


class _Place(msgspec.Struct, frozen=True, kw_only=True):
    """What changes with a link or a driver only."""

    name: str
    bdf: str | None
    numa_node: int | None
    driver: str | None
    operstate: str
    carrier: bool | None
    speed_mbps: int | None
    mtu: int | None


def observe_nics(host: HostRoot) -> Observed[tuple[Nic, ...]]:
    """All interfaces with a device, by name, read once."""
    reader = NicReader(host)
    try:
        return reader.read()
    finally:
        reader.close()


class NicReader:
    """Reads counters on each `read` through kept descriptors, and everything else on `refresh` only: call that when
    links or devices have changed.

    Args:
        host: the root to read below.
    """

    def __init__(self, host: HostRoot) -> None:
        self._host = host
        self._places: dict[_Place, tuple[KeptFile, ...]] = {}
        self._reading = Reading(host)
        self.refresh()

    def refresh(self) -> None:
        """Reads again which interfaces there are, where they sit, and the state of their links."""
        self.close()
        self._reading = reading = Reading(self._host)
        names = reading.names(ABOUT, NET_ROOT) or ()
        nodes = reading.cpulist(ABOUT, NODE_ROOT + "online")
        places = (_observe_place(reading, name, nodes) for name in names)
        # New files even for a known name: an interface made anew has counters of its own.
        self._places = {
            place: tuple(self._host.keep(f"{NET_ROOT}{place.name}/{counter}") for counter in COUNTERS)
            for place in places
            if place is not None
        }

    def read(self) -> Observed[tuple[Nic, ...]]:
        """The interfaces of the last `refresh` with their counters now; those that have vanished are left out. A
        counter that is damaged or denied is None and found."""
        reading = self._reading.again()
        nics = (_read_nic(reading, place, files) for place, files in self._places.items())
        return Observed(value=tuple(nic for nic in nics if nic is not None), findings=reading.findings())

    def close(self) -> None:
        """Gives all descriptors back; the next `read` opens them again."""
        for files in self._places.values():
            for file in files:
                file.close()


def _read_nic(reading: Reading, place: _Place, files: tuple[KeptFile, ...]) -> Nic | None:
    counts = [reading.kept_count(ABOUT, file) for file in files]
    if not any(count is not None for count in counts) and reading.exists(ABOUT, NET_ROOT + place.name) is False:
        return None
    rx_bytes, tx_bytes, rx_errors, tx_errors, rx_dropped, tx_dropped, carrier_changes = counts
    return Nic(
        name=place.name,
        bdf=place.bdf,
        numa_node=place.numa_node,
        driver=place.driver,
        operstate=place.operstate,
        carrier=place.carrier,
        speed_mbps=place.speed_mbps,
        mtu=place.mtu,
        rx_bytes=rx_bytes,
        tx_bytes=tx_bytes,
        rx_errors=rx_errors,
        tx_errors=tx_errors,
        rx_dropped=rx_dropped,
        tx_dropped=tx_dropped,
        carrier_changes=carrier_changes,
    )


def _observe_place(reading: Reading, name: str, nodes: CpuSet | None) -> _Place | None:
    base = f"{NET_ROOT}{name}/"
    if reading.link_name(ABOUT, base + "device") is None:
        return None
    path = reading.resolve(ABOUT, base + "device")
    operstate = reading.text(ABOUT, base + "operstate")
    if path is None or operstate is None:
        return None
    if operstate not in OPERSTATES:
        reading.problem(ABOUT, f"{base}operstate: {operstate[:40]!r} is no state of an interface")
        operstate = "unknown"
    speed = _when_up(reading, base + "speed")
    functions = addresses(path)
    return _Place(
        name=name,
        bdf=functions[-1] if functions else None,
        numa_node=_numa_node(reading, path, functions, nodes),
        driver=reading.link_name(ABOUT, base + "device/driver"),
        operstate=operstate,
        carrier=_carrier(reading, base + "carrier"),
        speed_mbps=speed if speed is not None and 0 < speed < SPEED_UNKNOWN else None,
        mtu=reading.count(ABOUT, base + "mtu"),
    )


def _numa_node(reading: Reading, path: str, functions: tuple[str, ...], nodes: CpuSet | None) -> int | None:
    """Node of the device, or of the PCI function that it hangs on (a virtio or USB device knows no node itself)."""
    node = reading.count(ABOUT, path + "/numa_node")
    if node is None and functions:
        above = path[: path.index(functions[-1]) + len(functions[-1])]
        node = reading.count(ABOUT, above + "/numa_node")
    if node is None or nodes is None or node in nodes:
        return node
    reading.problem(ABOUT, f"{path}: node {node} is not online")
    return None


def _when_up(reading: Reading, path: str) -> int | None:
    """A number that the kernel refuses with EINVAL while the interface is down, or its driver does not know.

    Source: Linux net/core/net-sysfs.c, carrier_show() and speed_show().
    """
    return reading.number(ABOUT, path, none_errno=errno.EINVAL)


def _carrier(reading: Reading, path: str) -> bool | None:
    carrier = _when_up(reading, path)
    if carrier in (None, 0, 1):
        return None if carrier is None else carrier == 1
    reading.problem(ABOUT, f"{path}: {carrier} is neither 0 nor 1")
    return None
