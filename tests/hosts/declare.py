"""Declared hosts: one file says what a machine is, `materialise` makes a tree that looks like its `/`.

    made = materialise(declare("kunpeng920-910b"), tmp_path)
    snapshot = observe(HostRoot(tmp_path))
    assert snapshot... == made.cpus...

Tests compare what the product observed with the facts in `Materialised`, which come from the declaration and never from
the tree.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from tests.hosts.cgroup_tree import CgroupTree
from tests.hosts.cgroup_values import Numbers
from tests.hosts.devices import device_facts, nic_facts
from tests.hosts.drivers import DRIVERS, Driver
from tests.hosts.etcfs import write_kubelet, write_resctrl, write_system
from tests.hosts.expand import CpuFacts, cpu_facts, node_facts
from tests.hosts.facts import DeviceFact, NicFact, NodeFact, PodFact, ServiceFact
from tests.hosts.groups import GroupBuilder, controllers_of
from tests.hosts.podset import PodSpec, default_pods, generated_pods, units
from tests.hosts.procfs import MemFact, ProcScene, mem_fact, write_proc
from tests.hosts.profiles import PROFILES, Profile
from tests.hosts.shape import Host, Kubelet, declare
from tests.hosts.sysfs_cpu import write_cpus
from tests.hosts.sysfs_node import write_nodes
from tests.hosts.sysfs_pci import PciWriter
from tests.hosts.text import cpulist
from tests.hosts.writer import Tree

__all__ = ["DRIVERS", "HOSTS", "PROFILES", "Host", "Materialised", "declare", "materialise", "rewrite"]

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

_NO_SUCH_OPERATION = 95  # EOPNOTSUPP


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
        root: an empty or new folder; one on tmpfs is many times faster than on a disk.
        profile: a name in `PROFILES` instead of the host's own. What the declaration says of cgroup layout and PSI
            goes before what the profile says.
        driver: a name in `DRIVERS` instead of the host's own.
        pods: a number of generated pods, given pods, or None for the default set.
        containers_per_pod: for generated pods.

    Raises:
        KeyError: no such profile or driver.
    """
    kernel, naming = PROFILES[profile or host.profile], DRIVERS[driver or host.driver]
    layout = host.layout or kernel.layout
    psi = host.psi or kernel.psi
    cpus = cpu_facts(host, kernel)
    nodes = node_facts(host, kernel, cpus.online)
    devices = device_facts(host)
    nics = nic_facts(host, devices)
    builder = GroupBuilder(naming, kernel, layout, host, cpus)
    services = tuple(builder.add_service(unit) for unit in units())
    specs = (
        generated_pods(pods, containers_per_pod) if isinstance(pods, int) else default_pods() if pods is None else pods
    )
    if specs or host.kubelet is not None:
        builder.add_kubepods()
    placed = tuple(builder.add_pod(spec) for spec in specs)
    shared = _shared_cpus(host.kubelet, cpus, placed)
    cmdline = " ".join(part for part in ("BOOT_IMAGE=/vmlinuz root=/dev/vda2 ro", kernel.cmdline, host.cmdline) if part)
    tree_of_groups = CgroupTree(
        layout=layout,
        psi=psi,
        profile=kernel,
        groups=builder.groups,
        online=cpus.online,
        memory_nodes=tuple(node.node for node in nodes if node.total_kib),
        shared_cpus=shared,
    )
    tree = Tree(str(root))
    write_cpus(tree, host, kernel, cpus)
    write_nodes(tree, host, kernel, cpus, nodes)
    faults = PciWriter(tree, host, kernel, cpus).write_nics(host, nics)
    controllers = controllers_of(kernel, layout)
    scene = ProcScene(
        host=host,
        profile=kernel,
        layout=layout,
        psi=psi,
        cpus=cpus,
        nodes=nodes,
        nics=nics,
        services=services,
        cmdline=cmdline,
    )
    faults |= write_proc(tree, scene)
    tree_of_groups.write(tree)
    faults |= dict.fromkeys(tree_of_groups.refused(), _NO_SUCH_OPERATION)
    write_system(tree, host, kernel, naming)
    if host.kubelet is not None:
        write_kubelet(tree, host.kubelet, naming, cpus, nodes, placed, shared)
    if host.resctrl is not None:
        write_resctrl(tree, host.resctrl, cpus)
    return Materialised(
        root=root,
        host=host,
        profile=kernel,
        driver=naming,
        kernel_release=kernel.kernel_release(host.arch),
        cmdline=cmdline,
        cpus=cpus,
        nodes=nodes,
        memory=mem_fact(host, nodes),
        devices=devices,
        nics=nics,
        pods=placed,
        services=services,
        cgroups=tree_of_groups,
        controllers=controllers,
        faults=faults,
    )


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
