"""Network interfaces backed by hardware: where they sit, their link, and what went through them."""

from __future__ import annotations

from typing import Final

import msgspec

from fuyaod.errors import HostFileError, HostParseError
from fuyaod.hostfs import HostRoot, KeptFile
from fuyaod.model.devices import Nic
from fuyaod.model.findings import Finding
from fuyaod.numa.observe.pci import addresses
from fuyaod.numa.observe.reading import INT64_MAX, Observed, Reading

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
        self._findings: tuple[Finding, ...] = ()
        self.refresh()

    def refresh(self) -> None:
        """Reads again which interfaces there are, where they sit, and the state of their links."""
        self.close()
        reading = Reading(self._host)
        names = reading.names(ABOUT, NET_ROOT) or ()
        places = (_observe_place(reading, name) for name in names)
        # New files even for a known name: an interface made anew has counters of its own.
        self._places = {
            place: tuple(self._host.keep(f"{NET_ROOT}{place.name}/{counter}") for counter in COUNTERS)
            for place in places
            if place is not None
        }
        self._findings = reading.findings()

    def read(self) -> Observed[tuple[Nic, ...]]:
        """The interfaces of the last `refresh` with their counters now; those that have vanished are left out."""
        nics = (self._read_nic(place, files) for place, files in self._places.items())
        return Observed(value=tuple(nic for nic in nics if nic is not None), findings=self._findings)

    def close(self) -> None:
        """Gives all descriptors back; the next `read` opens them again."""
        for files in self._places.values():
            for file in files:
                file.close()

    def _read_nic(self, place: _Place, files: tuple[KeptFile, ...]) -> Nic | None:
        counts = [_read_counter(file) for file in files]
        if not any(count is not None for count in counts) and not self._host.exists(NET_ROOT + place.name):
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


def _observe_place(reading: Reading, name: str) -> _Place | None:
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
    carrier = _when_up(reading, base + "carrier")
    speed = _when_up(reading, base + "speed")
    functions = addresses(path)
    return _Place(
        name=name,
        bdf=functions[-1] if functions else None,
        numa_node=_numa_node(reading, path, functions),
        driver=reading.link_name(ABOUT, base + "device/driver"),
        operstate=operstate,
        carrier=None if carrier is None else carrier == 1,
        speed_mbps=speed if speed is not None and 0 < speed < SPEED_UNKNOWN else None,
        mtu=reading.count(ABOUT, base + "mtu"),
    )


def _numa_node(reading: Reading, path: str, functions: tuple[str, ...]) -> int | None:
    """Node of the device, or of the PCI function that it hangs on (a virtio or USB device knows no node itself)."""
    node = reading.count(ABOUT, path + "/numa_node")
    if node is not None or not functions:
        return node
    above = path[: path.index(functions[-1]) + len(functions[-1])]
    return reading.count(ABOUT, above + "/numa_node")


def _when_up(reading: Reading, path: str) -> int | None:
    """A number that the kernel refuses with EINVAL while the interface is down, or its driver does not know."""
    try:
        return reading.host.read_int(path)
    except (HostFileError, HostParseError):
        return None


def _read_counter(file: KeptFile) -> int | None:
    """A counter now; None when it is gone or not readable, which `refresh` reports and a tick need not."""
    try:
        raw = file.read()
        count = None if raw is None else int(raw)
    except (HostFileError, ValueError):
        return None
    return count if count is not None and 0 <= count <= INT64_MAX else None
