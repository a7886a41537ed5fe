"""Accelerators: devices against drivers, tools and affinity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fuyaod.doctor.decide.verdict import degraded, listed, missing, ok
from fuyaod.model.devices import DeviceKind, PciDevice
from fuyaod.model.facts import HostFacts
from fuyaod.model.findings import Finding

CHIPS: Final = {
    0xD801: "910A",
    0xD802: "910B",
    0xD803: "910C (A3)",
    0xD806: "950",
    0xD100: "310",
    0xD500: "310P",
    0xD105: "310B",
    0xD107: "310B",
}
"""Device ids of Ascend chips. Source: pci.ids and the Ascend driver's device tables."""

NVIDIA: Final = 0x10DE
A3: Final = 0xD803
INSTALL_ASCEND: Final = (
    "install driver and firmware of one release: `./Ascend-hdk-<chip>-npu-driver_<version>_linux-<arch>.run --full "
    "--install-for-all`, then the firmware, then reboot"
)
DRIVER_MOUNT: Final = "in the DaemonSet mount /usr/local/Ascend/driver and /usr/local/dcmi read-only"


def diagnose_npu(facts: HostFacts) -> Iterator[Finding | None]:
    """Findings `npu.*` and `gpu.*`; one finding only where there is neither device nor driver."""
    npus = [device for device in facts.accelerators.devices if device.kind is DeviceKind.NPU]
    gpus = [device for device in facts.accelerators.devices if device.vendor_id == NVIDIA]
    yield npu_present(facts, npus)
    if npus:
        yield npu_driver(facts, npus)
        yield npu_version(facts)
        yield npu_dcmi(facts)
        yield npu_smi(facts)
        yield npu_hccn(facts)
        yield affinity(facts, "npu.affinity", npus)
    if gpus:
        yield gpu_driver(facts, gpus)
        yield gpu_library(facts)
        yield affinity(facts, "gpu.affinity", gpus)


def named(devices: list[PciDevice]) -> str:
    """`Ascend 910B on 8 PCI functions`, by device id."""
    names = [
        f"Ascend {CHIPS.get(device.device_id, f'{device.device_id:#06x}')}"
        if device.kind is DeviceKind.NPU
        else f"GPU {device.vendor_id:04x}:{device.device_id:04x}"
        for device in devices
    ]
    counts = {name: names.count(name) for name in names}
    return ", ".join(f"{name} on {count} PCI functions" for name, count in counts.items())


def npu_present(facts: HostFacts, npus: list[PciDevice]) -> Finding | None:
    """Ascend devices on PCI, and a driver that waits for some."""
    accelerators = facts.accelerators
    if npus:
        return ok("npu.present", named(npus))
    if accelerators.davinci_nodes or accelerators.davinci_manager or accelerators.ascend_version:
        return degraded(
            "npu.present",
            f"an Ascend driver ({accelerators.ascend_version or 'version not known'}) is installed, and no Ascend "
            "device is on PCI",
            cost="all NPUs of this node are gone from the bus: nothing can be scheduled on them",
            mend="`lspci -d 19e5:`; if it shows none, power the host off and on, then look at the BMC's event log; in "
            "a VM check the passthrough",
        )
    if facts.kernel.release is None:
        return None
    return ok("npu.present", "no Ascend device on PCI, and no driver that expects one")


def npu_driver(facts: HostFacts, npus: list[PciDevice]) -> Finding:
    """Whether the kernel driver is loaded and made device nodes. Chips are counted by DCMI, not here."""
    accelerators = facts.accelerators
    nodes = listed([f"/dev/{name}" for name in accelerators.davinci_nodes], 3)
    unbound = [device.bdf for device in npus if device.driver is None]
    if accelerators.davinci_nodes and accelerators.davinci_manager:
        told = f"driver loaded: {nodes}, /dev/davinci_manager"
        return unbound_devices("npu.driver", told, unbound) or ok("npu.driver", told)
    seen = f"{nodes or 'no /dev/davinci*'}, {'' if accelerators.davinci_manager else 'no '}/dev/davinci_manager"
    mend = INSTALL_ASCEND
    if accelerators.ascend_version:
        mend = "`dmesg | grep -i -E 'drv_|davinci'` and `npu-smi info`; after a kernel update reinstall the driver"
    return missing(
        "npu.driver",
        f"{named(npus)}, {len(unbound)} without a driver; {seen}",
        cost="no pod can use these NPUs, and their health is not seen",
        mend=mend,
    )


def unbound_devices(finding_id: str, told: str, unbound: list[str]) -> Finding | None:
    """Some devices without a driver beside others that have it."""
    if not unbound:
        return None
    return degraded(
        finding_id,
        f"{told}; no driver is bound to {listed(unbound)}",
        cost=f"{len(unbound)} devices cannot be used, and their health is not seen",
        mend=f"`echo {unbound[0]} > /sys/bus/pci/drivers_probe` and `dmesg | tail`; nothing to do where the device is "
        "passed through to a VM",
    )


def npu_version(facts: HostFacts) -> Finding:
    """Driver version by its own file."""
    if version := facts.accelerators.ascend_version:
        return ok("npu.version", f"Ascend driver {version}")
    return degraded(
        "npu.version",
        "no /usr/local/Ascend/driver/version.info",
        cost="driver and firmware cannot be compared with what the toolkit needs",
        mend=f"{INSTALL_ASCEND}; {DRIVER_MOUNT}",
    )


def npu_dcmi(facts: HostFacts) -> Finding:
    """The management library, first choice for health."""
    if path := facts.accelerators.libdcmi:
        return ok("npu.dcmi", path)
    return missing(
        "npu.dcmi",
        "no libdcmi.so in /usr/local/Ascend/driver/lib64/driver, /usr/local/dcmi or /usr/lib64",
        cost="device health comes from npu-smi tables: seconds instead of milliseconds, and no fault events",
        mend=f"{INSTALL_ASCEND}; {DRIVER_MOUNT}",
    )


def npu_smi(facts: HostFacts) -> Finding:
    """The command-line tool, second choice."""
    if path := facts.accelerators.npu_smi:
        return ok("npu.npu_smi", path)
    return degraded(
        "npu.npu_smi",
        "no npu-smi in /usr/local/sbin, /usr/local/bin or the driver's tools",
        cost="no fall-back when DCMI cannot be loaded, and no `-t topo` affinity",
        mend="in the DaemonSet mount /usr/local/sbin/npu-smi (hostPath, type File); on the host reinstall the driver",
    )


def npu_hccn(facts: HostFacts) -> Finding:
    """The tool for the NPU's network ports: DCMI tells no link state of RoCE."""
    if path := facts.accelerators.hccn_tool:
        return ok("npu.hccn_tool", path)
    return degraded(
        "npu.hccn_tool",
        "no hccn_tool in /usr/local/Ascend/driver/tools",
        cost="link flaps and optical power of the NPU's RoCE ports are not seen",
        mend=DRIVER_MOUNT,
    )


def affinity(facts: HostFacts, finding_id: str, devices: list[PciDevice]) -> Finding:
    """Whether the platform says which NUMA node a device is near."""
    unknown = [device.bdf for device in devices if device.numa_node is None]
    nodes = sorted({device.numa_node for device in devices if device.numa_node is not None})
    if not unknown:
        return ok(finding_id, f"devices near NUMA nodes {' '.join(map(str, nodes))}")
    if len(facts.memory.nodes) < 2:
        return ok(finding_id, "no affinity told, and none needed: one NUMA node")
    if all(device.kind is DeviceKind.NPU and device.device_id == A3 for device in devices):
        return ok(finding_id, "A3 host: CPUs are reached through a switch board, no device has an affinity by design")
    return degraded(
        finding_id,
        f"numa_node is -1 for {len(unknown)} of {len(devices)} devices on {len(facts.memory.nodes)} NUMA nodes: "
        f"{listed(unknown, 3)}",
        cost="CPU and memory are placed by load, not near the device: transfers may cross sockets",
        mend="enable NUMA (ACPI _PXM / SRAT) in the BIOS; in a VM map devices to guest NUMA nodes (pxb-pcie "
        "numa_node=); `npu-smi info -t topo` may still tell",
    )


def gpu_driver(facts: HostFacts, gpus: list[PciDevice]) -> Finding:
    """NVIDIA's kernel driver."""
    accelerators = facts.accelerators
    if accelerators.nvidia_nodes:
        nodes = listed([f"/dev/{name}" for name in accelerators.nvidia_nodes], 3)
        told = f"NVIDIA driver {accelerators.nvidia_version or '(version not told)'}: {nodes}"
        unbound = [device.bdf for device in gpus if device.driver is None]
        return unbound_devices("gpu.driver", told, unbound) or ok("gpu.driver", told)
    return missing(
        "gpu.driver",
        f"{named(gpus)}, no /dev/nvidia*",
        cost="no pod can use these GPUs, and their health is not seen",
        mend="install the NVIDIA driver (`apt install nvidia-driver-<version>-server`), then `modprobe nvidia` and "
        "`nvidia-smi`",
    )


def gpu_library(facts: HostFacts) -> Finding:
    """NVML, the only source of GPU health."""
    if path := facts.accelerators.libnvidia_ml:
        return ok("gpu.nvml", path)
    return missing(
        "gpu.nvml",
        "no libnvidia-ml.so.1 on the usual library paths",
        cost="GPU health, temperature and errors are not seen",
        mend="install `libnvidia-compute-<version>`; in the DaemonSet use `runtimeClassName: nvidia`",
    )
