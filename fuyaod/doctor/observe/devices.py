"""Accelerators on PCI and what their drivers installed."""

from __future__ import annotations

import re
from typing import Final

from fuyaod.doctor.observe.reader import Reader
from fuyaod.model.facts import Accelerator, AcceleratorFacts

PCI: Final = "sys/bus/pci/devices"
ASCEND: Final = "usr/local/Ascend/driver"

CLASSES: Final = {0x19E5: frozenset({0x1200}), 0x10DE: frozenset({0x0300, 0x0302, 0x1200})}
"""What counts as an accelerator, by vendor: processing accelerators of Huawei (its class 0x0300 is the BMC's display),
display controllers and accelerators of NVIDIA. Source: pci.ids."""

LIBRARY_FOLDERS: Final = (
    "usr/lib64",
    "usr/lib",
    "usr/lib/x86_64-linux-gnu",
    "usr/lib/aarch64-linux-gnu",
    "usr/local/nvidia/lib64",
    "run/nvidia/driver/usr/lib/x86_64-linux-gnu",
    "run/nvidia/driver/usr/lib64",
)


def observe_accelerators(reader: Reader) -> AcceleratorFacts:
    """Devices, device nodes, libraries and tools. Nothing is loaded and no tool is run: both can hang in the driver."""
    nodes = reader.names("dev")
    return AcceleratorFacts(
        devices=tuple(pci_accelerators(reader)),
        davinci_nodes=tuple(name for name in nodes if re.fullmatch(r"davinci\d+", name)),
        davinci_manager="davinci_manager" in nodes,
        ascend_version=ascend_version(reader),
        libdcmi=reader.find(
            f"{ASCEND}/lib64/driver/libdcmi.so",
            "usr/local/dcmi/libdcmi.so",
            *(f"{folder}/libdcmi.so" for folder in LIBRARY_FOLDERS),
        ),
        npu_smi=reader.find("usr/local/sbin/npu-smi", "usr/local/bin/npu-smi", f"{ASCEND}/tools/npu-smi"),
        hccn_tool=reader.find(f"{ASCEND}/tools/hccn_tool", "usr/local/Ascend/driver/bin/hccn_tool"),
        nvidia_nodes=tuple(name for name in nodes if re.fullmatch(r"nvidia\d+|nvidiactl", name)),
        nvidia_version=nvidia_version(reader),
        libnvidia_ml=reader.find(*(f"{folder}/libnvidia-ml.so.1" for folder in LIBRARY_FOLDERS)),
    )


def pci_accelerators(reader: Reader) -> list[Accelerator]:
    """NPUs and GPUs in order of their address."""
    found = []
    for bdf in reader.names(PCI):
        vendor = reader.number(f"{PCI}/{bdf}/vendor")
        class_id = reader.number(f"{PCI}/{bdf}/class")
        if vendor is not None and class_id is not None and class_id >> 8 in CLASSES.get(vendor, ()):
            found.append(accelerator(reader, bdf, vendor, class_id))
    return found


def accelerator(reader: Reader, bdf: str, vendor: int, class_id: int) -> Accelerator:
    """One device. sysfs says -1 for a node that the firmware does not name."""
    node = reader.number(f"{PCI}/{bdf}/numa_node")
    return Accelerator(
        bdf=bdf,
        vendor_id=vendor,
        device_id=reader.number(f"{PCI}/{bdf}/device") or 0,
        class_id=class_id,
        numa_node=None if node is None or node < 0 else node,
        driver=reader.target(f"{PCI}/{bdf}/driver"),
    )


def ascend_version(reader: Reader) -> str | None:
    """`Version=` of the driver's version.info."""
    for line in reader.lines(f"{ASCEND}/version.info"):
        key, equals, value = line.partition("=")
        if equals and key.strip().lower() in ("version", "package_version") and value.strip():
            return value.strip()[:60]
    return None


def nvidia_version(reader: Reader) -> str | None:
    """The loaded module's version, out of `NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  ...`."""
    found = re.search(r"Module\s+(?:for \S+\s+)?(\d[\d.]*)\s", reader.text("proc/driver/nvidia/version") or "")
    return found[1] if found else None
