"""What the drivers of accelerators installed."""

from __future__ import annotations

import re
from typing import Final

from fuyaod.doctor.observe.reader import Reader
from fuyaod.model.devices import PciDevice
from fuyaod.model.facts import AcceleratorFacts

ASCEND: Final = "usr/local/Ascend/driver"

LIBRARY_FOLDERS: Final = (
    "usr/lib64",
    "usr/lib",
    "usr/lib/x86_64-linux-gnu",
    "usr/lib/aarch64-linux-gnu",
    "usr/local/nvidia/lib64",
    "run/nvidia/driver/usr/lib/x86_64-linux-gnu",
    "run/nvidia/driver/usr/lib64",
)


def observe_drivers(reader: Reader, devices: tuple[PciDevice, ...]) -> AcceleratorFacts:
    """Device nodes, libraries and tools. Nothing is loaded and no tool is run: both can hang in the driver."""
    nodes = reader.names("dev")
    return AcceleratorFacts(
        devices=devices,
        davinci_nodes=numbered(nodes, r"davinci(\d{1,4})"),
        davinci_manager="davinci_manager" in nodes,
        ascend_version=ascend_version(reader),
        libdcmi=reader.find(
            f"{ASCEND}/lib64/driver/libdcmi.so",
            "usr/local/dcmi/libdcmi.so",
            *(f"{folder}/libdcmi.so" for folder in LIBRARY_FOLDERS),
        ),
        npu_smi=reader.find("usr/local/sbin/npu-smi", "usr/local/bin/npu-smi", f"{ASCEND}/tools/npu-smi"),
        hccn_tool=reader.find(f"{ASCEND}/tools/hccn_tool", "usr/local/Ascend/driver/bin/hccn_tool"),
        nvidia_nodes=numbered(nodes, r"nvidia(\d{1,4})"),
        nvidia_version=nvidia_version(reader),
        libnvidia_ml=reader.find(*(f"{folder}/libnvidia-ml.so.1" for folder in LIBRARY_FOLDERS)),
    )


def numbered(names: tuple[str, ...], pattern: str) -> tuple[str, ...]:
    """Those names that match, in order of the number in them."""
    found = [(int(match[1]), name) for name in names if (match := re.fullmatch(pattern, name))]
    return tuple(name for _, name in sorted(found))


def ascend_version(reader: Reader) -> str | None:
    """`Version=` of the driver's version.info."""
    for line in reader.lines(f"{ASCEND}/version.info"):
        key, equals, value = line.partition("=")
        if equals and key.strip().lower() in ("version", "package_version") and value.strip().isprintable():
            return value.strip()[:60] or None
    return None


def nvidia_version(reader: Reader) -> str | None:
    """The loaded module's version, out of `NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  ...`."""
    found = re.search(r"Module\s+(?:for \S+\s+)?(\d[\d.]*)\s", reader.text("proc/driver/nvidia/version") or "")
    return found[1] if found else None
