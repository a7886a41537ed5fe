"""Writes what stands in /etc, /run, /dev, /usr and /var, and the mounted resctrl filesystem."""

from __future__ import annotations

import json

from tests.hosts.drivers import Driver
from tests.hosts.expand import CpuFacts
from tests.hosts.facts import NodeFact, PodFact
from tests.hosts.profiles import Profile
from tests.hosts.shape import Host, Kubelet, Resctrl
from tests.hosts.text import cpulist
from tests.hosts.writer import Tree


def write_system(tree: Tree, host: Host, profile: Profile, driver: Driver) -> None:
    """os-release, systemd's and the runtime's run folders, NRI socket, NPU driver files."""
    tree.put(
        "etc/os-release",
        f'NAME="{profile.os_id}"\nID="{profile.os_id}"\nVERSION_ID="{profile.os_version}"\n'
        f'PRETTY_NAME="{profile.os_name}"\n',
    )
    tree.put("etc/hostname", f"{host.name}\n")
    tree.put("etc/machine-id", "0f6a4c3b9d2e4e7f8a1b5c6d7e8f9a0b\n")
    tree.folder("run/systemd/system")
    tree.put_all(
        "sys/devices/system/clocksource/clocksource0",
        {
            "current_clocksource": "tsc\n" if host.arch.value == "x86_64" else "arch_sys_counter\n",
            "available_clocksource": "tsc hpet acpi_pm \n" if host.arch.value == "x86_64" else "arch_sys_counter \n",
        },
    )
    if host.kubelet is not None:
        sockets = {"containerd": "containerd/containerd.sock", "cri-o": "crio/crio.sock", "docker": "cri-dockerd.sock"}
        tree.socket(f"run/{sockets[driver.runtime]}")
    if host.nri:
        tree.socket("run/nri/nri.sock")
    if host.npu_driver is not None:
        _write_npu_driver(tree, host, host.npu_driver)


def _write_npu_driver(tree: Tree, host: Host, version: str) -> None:
    # Device nodes need root to make, so plain files stand for them: a check by name works, opening them tells nothing.
    for number, _ in enumerate(device for device in host.devices if device.type.startswith("ascend")):
        tree.put(f"dev/davinci{number}", "")
    for name in ("davinci_manager", "devmm_svm", "hisi_hdc"):
        tree.put(f"dev/{name}", "")
    tree.put("usr/local/Ascend/driver/version.info", f"Version={version}\nascendhal_version=7.35.23\n")
    tree.put("etc/ascend_install.info", "UserName=HwHiAiUser\nDriver_Install_Path_Param=/usr/local/Ascend\n")
    tree.put("usr/local/bin/npu-smi", "")
    tree.put("usr/local/dcmi/libdcmi.so", "")


def write_kubelet(
    tree: Tree,
    kubelet: Kubelet,
    driver: Driver,
    nodes: tuple[NodeFact, ...],
    pods: tuple[PodFact, ...],
    shared_cpus: str,
) -> None:
    """kubelet's configuration and state files.

    Source: Kubernetes pkg/kubelet/cm/{cpumanager,memorymanager}/state/checkpoint.go. The checksums are not those
    kubelet would compute.
    """
    lines = ["apiVersion: kubelet.config.k8s.io/v1beta1", "kind: KubeletConfiguration"]
    lines += [f"cgroupDriver: {driver.manager}", f"cpuManagerPolicy: {kubelet.cpu_policy}"]
    lines += [f"memoryManagerPolicy: {kubelet.memory_policy}", f"topologyManagerPolicy: {kubelet.topology_policy}"]
    if driver.above:
        lines.append(f"cgroupRoot: /{'/'.join(driver.above)}")
    if kubelet.reserved:
        lines.append(f'reservedSystemCPUs: "{kubelet.reserved}"')
    if kubelet.options:
        lines.append("cpuManagerPolicyOptions:")
        lines += [f'  {name}: "{value}"' for name, value in kubelet.options.items()]
    exclusive = {
        pod.uid: {c.name: cpulist(c.cpus) for c in pod.containers if c.cpus is not None}
        for pod in pods
        if any(c.cpus is not None for c in pod.containers)
    }
    state: dict[str, object] = {"policyName": kubelet.cpu_policy, "defaultCpuSet": shared_cpus}
    if exclusive:
        state["entries"] = exclusive
    memory = {"policyName": kubelet.memory_policy, "machineState": _machine_state(nodes), "entries": {}}
    tree.put_all(
        "var/lib/kubelet",
        {
            "config.yaml": "\n".join(lines) + "\n",
            "cpu_manager_state": json.dumps(state | {"checksum": 1_353_318_690 + len(exclusive)}),
            "memory_manager_state": json.dumps(memory | {"checksum": 4_291_833_102}),
        },
    )
    tree.socket("var/lib/kubelet/pod-resources/kubelet.sock")


def _machine_state(nodes: tuple[NodeFact, ...]) -> dict[str, object]:
    return {
        str(node.node): {
            "numberOfAssignments": 0,
            "memoryMap": {"memory": {"total": node.total_kib * 1024, "systemReserved": 0, "reserved": 0}},
            "cells": [node.node],
        }
        for node in nodes
    }


def write_resctrl(tree: Tree, resctrl: Resctrl, cpus: CpuFacts) -> None:
    """A mounted resctrl filesystem with its default group. Source: Linux Documentation/arch/x86/resctrl.rst."""
    base = "sys/fs/resctrl"
    domains = [cache.id for cache in cpus.caches if cache.level == 3]
    schemata = "L3:" + ";".join(f"{domain}={resctrl.cbm_mask}" for domain in domains) + "\n"
    resources = {
        "info/L3": {
            "cbm_mask": resctrl.cbm_mask,
            "min_cbm_bits": resctrl.min_cbm_bits,
            "num_closids": resctrl.closids,
            "shareable_bits": resctrl.shareable,
            "bit_usage": ";".join(f"{domain}={'S' * (4 * len(resctrl.cbm_mask) - 1)}" for domain in domains),
        }
    }
    if resctrl.mba_gran is not None:
        schemata = "    MB:" + ";".join(f"{d}={resctrl.mba_max:>4}" for d in domains) + "\n    " + schemata
        resources["info/MB"] = {
            "bandwidth_gran": resctrl.mba_gran,
            "min_bandwidth": resctrl.mba_min,
            "num_closids": resctrl.closids,
            "delay_linear": 1,
        }
    if resctrl.rmids:
        features = "llc_occupancy\nmbm_total_bytes\nmbm_local_bytes"
        resources["info/L3_MON"] = {
            "num_rmids": resctrl.rmids,
            "max_threshold_occupancy": 65536,
            "mon_features": features,
        }
    for folder, files in resources.items():
        tree.put_all(f"{base}/{folder}", {name: f"{value}\n" for name, value in files.items()})
    tree.put(f"{base}/info/last_cmd_status", "ok\n")
    tree.put_all(
        base,
        {
            "schemata": schemata,
            "mode": "shareable\n",
            "cpus_list": cpulist(cpus.online) + "\n",
            "tasks": "1\n2\n",
            "size": "L3:" + ";".join(f"{domain}=62914560" for domain in domains) + "\n",
        },
    )
    tree.folder(f"{base}/mon_groups")
    for domain in domains if resctrl.rmids else ():
        tree.put_all(
            f"{base}/mon_data/mon_L3_{domain:02d}",
            {
                "llc_occupancy": f"{10_485_760 * (domain or 1)}\n",
                "mbm_total_bytes": f"{123_456_789_012 + (domain or 0)}\n",
                "mbm_local_bytes": f"{98_765_432_109 + (domain or 0)}\n",
            },
        )
