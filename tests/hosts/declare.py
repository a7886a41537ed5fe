"""Declared hosts: one file says what a machine is, `materialise` makes a tree that looks like its `/`.

    made = materialise(declare("kunpeng920-910b"), tmp_path)
    snapshot = observe(HostRoot(tmp_path))
    assert snapshot... == made.cpus...

Tests compare what the product observed with the facts in `Materialised`, which come from the declaration and never from
the tree.
"""

from __future__ import annotations

import errno
from pathlib import Path

import msgspec

from tests.hosts.cgroup_tree import CgroupTree
from tests.hosts.cgroup_values import Numbers
from tests.hosts.devices import device_facts, nic_facts
from tests.hosts.drivers import DRIVERS, Driver
from tests.hosts.etcfs import write_kubelet, write_resctrl, write_system
from tests.hosts.expand import CpuFacts, cpu_facts, node_facts
from tests.hosts.facts import DeviceFact, NicFact, NodeFact, PodFact, ProcessFact, ServiceFact
from tests.hosts.groups import GroupBuilder, controllers_of
from tests.hosts.podset import PodSpec, default_pods, generated_pods, units
from tests.hosts.procfs import MemFact, ProcScene, mem_fact, pressure_faults, process_facts, write_proc
from tests.hosts.profiles import PROFILES, Profile
from tests.hosts.shape import Host, Kubelet, declare
from tests.hosts.sysfs_cpu import write_cpus
from tests.hosts.sysfs_node import write_nodes
from tests.hosts.sysfs_pci import PciWriter, nic_faults
from tests.hosts.text import cpulist
from tests.hosts.writer import Tree

__all__ = ["DRIVERS", "HOSTS", "PROFILES", "Host", "Materialised", "declare", "expect", "materialise", "rewrite"]

HOSTS = (
    "a3-910c",
    "cgroup-hybrid",
    "cpus-1024",
    "cxl-node",
    "epyc-ccx",
    "hbm-nodes",
    "kunpeng920-910b",
    "laptop-hybrid",
    "memoryless-node",
    "offline-cpus",
    "one-cpu",
    "psi-off",
    "psi-refused",
    "xeon-rdt",
)

_BOOT = "BOOT_IMAGE=/vmlinuz root=/dev/vda2 ro"


class Materialised(msgspec.Struct, frozen=True, kw_only=True):
    """A tree and what a correct snapshot of it says.

    `faults` are paths (relative to the root) that a plain tree cannot make fail, with the errno that reading them must
    give; `tests.hosts.faults.FaultyFiles` injects them. The files themselves are there and empty.
    """

    root: Path
    host: Host
    profile: Profile
    driver: Driver
    kernel_release: str
    cmdline: str
    cpus: CpuFacts
    nodes: tuple[NodeFact, ...]
    memory: MemFact
    devices: tuple[DeviceFact, ...]
    nics: tuple[NicFact, ...]
    pods: tuple[PodFact, ...]
    services: tuple[ServiceFact, ...]
    processes: tuple[ProcessFact, ...]
    cgroups: CgroupTree
    controllers: tuple[str, ...]
    faults: dict[str, int]

    @property
    def v2_mount(self) -> str | None:
        """Where cgroup v2 is, relative to the root; None on a v1-only host."""
        return self.cgroups.v2_mount

    def numbers(self, step: int = 0) -> dict[str, Numbers]:
        """What the files of each group say, by path, after `step` calls of `rewrite`."""
        return self.cgroups.numbers(step)


def expect(
    host: Host,
    root: Path,
    *,
    profile: str | None = None,
    driver: str | None = None,
    pods: int | tuple[PodSpec, ...] | None = None,
    containers_per_pod: int = 2,
) -> Materialised:
    """What `materialise` would make, without writing anything. Arguments as there."""
    kernel, naming = PROFILES[profile or host.profile], DRIVERS[driver or host.driver]
    layout, psi = host.layout or kernel.layout, host.psi or kernel.psi
    cpus = cpu_facts(host, kernel)
    nodes = node_facts(host, kernel, cpus.online)
    devices = device_facts(host)
    nics = nic_facts(host, devices)
    builder = GroupBuilder(naming, kernel, layout, host, cpus)
    services = tuple(builder.add_service(unit) for unit in units())
    specs = _specs(pods, containers_per_pod)
    if specs or host.kubelet is not None:
        builder.add_kubepods()
    placed = tuple(builder.add_pod(spec) for spec in specs)
    cgroups = CgroupTree(
        layout=layout,
        psi=psi,
        profile=kernel,
        groups=builder.groups,
        online=cpus.online,
        memory_nodes=tuple(node.node for node in nodes if node.total_kib),
        shared_cpus=_shared_cpus(host.kubelet, cpus, placed),
    )
    return Materialised(
        root=root,
        host=host,
        profile=kernel,
        driver=naming,
        kernel_release=kernel.kernel_release(host.arch),
        cmdline=" ".join(part for part in (_BOOT, kernel.cmdline, host.cmdline) if part),
        cpus=cpus,
        nodes=nodes,
        memory=mem_fact(host, nodes),
        devices=devices,
        nics=nics,
        pods=placed,
        services=services,
        # Thousands of processes would cost more than the rest: a generated load has those outside pods only.
        processes=process_facts(services, builder.groups if len(placed) <= 32 else ()),
        cgroups=cgroups,
        controllers=controllers_of(kernel, layout),
        faults={
            **nic_faults(nics),
            **pressure_faults(kernel, psi),
            **dict.fromkeys(cgroups.refused(), errno.EOPNOTSUPP),
        },
    )


def materialise(
    host: Host,
    root: Path,
    *,
    profile: str | None = None,
    driver: str | None = None,
    pods: int | tuple[PodSpec, ...] | None = None,
    containers_per_pod: int = 2,
) -> Materialised:
    """Writes the tree of a host.

    Args:
        host: what to make.
        root: an empty or new folder; one on tmpfs is many times faster than on a disk (`scratch.scratch_root`).
        profile: a name in `PROFILES` instead of the host's own. What the declaration says of cgroup layout and PSI
            goes before what the profile says.
        driver: a name in `DRIVERS` instead of the host's own.
        pods: a number of generated pods, given pods, or None for the default set.
        containers_per_pod: for generated pods.

    Raises:
        KeyError: no such profile or driver.
    """
    made = expect(host, root, profile=profile, driver=driver, pods=pods, containers_per_pod=containers_per_pod)
    kernel, cpus, nodes = made.profile, made.cpus, made.nodes
    tree = Tree(str(root))
    write_cpus(tree, host, kernel, cpus)
    write_nodes(tree, host, kernel, cpus, nodes)
    PciWriter(tree, host, kernel, cpus).write_nics(host, made.nics)
    scene = ProcScene(
        host=host,
        profile=kernel,
        layout=made.cgroups.layout,
        psi=made.cgroups.psi,
        cpus=cpus,
        nodes=nodes,
        nics=made.nics,
        processes=made.processes,
        cmdline=made.cmdline,
    )
    write_proc(tree, scene)
    made.cgroups.write(tree)
    write_system(tree, host, kernel, made.driver)
    if host.kubelet is not None:
        write_kubelet(tree, host.kubelet, made.driver, nodes, made.pods, made.cgroups.shared_cpus)
    if host.resctrl is not None:
        write_resctrl(tree, host.resctrl, cpus)
    return made


def _specs(pods: int | tuple[PodSpec, ...] | None, containers_per_pod: int) -> tuple[PodSpec, ...]:
    if pods is None:
        return default_pods()
    return generated_pods(pods, containers_per_pod) if isinstance(pods, int) else pods


def _shared_cpus(kubelet: Kubelet | None, cpus: CpuFacts, pods: tuple[PodFact, ...]) -> str:
    if kubelet is None or kubelet.cpu_policy != "static":
        return ""
    taken = {cpu for pod in pods for container in pod.containers for cpu in container.cpus or ()}
    return cpulist(set(cpus.online) - taken)


def rewrite(made: Materialised, step: int, *, limits: bool = False) -> int:
    """Writes the values that the control groups have after `step` steps; only their files are touched.

    Args:
        made: what `materialise` returned.
        step: 0 is what was materialised; every other number gives other values in every counting file.
        limits: change weights and limits as well, so that no file of a group stays as it was.

    Returns:
        How many files were written.
    """
    return made.cgroups.rewrite(str(made.root), step, limits=limits)
