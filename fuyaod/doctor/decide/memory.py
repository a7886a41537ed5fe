"""Memory: nodes, hugepages, and the knobs that move pages behind a server's back."""

from __future__ import annotations

from collections.abc import Iterator

from fuyaod.doctor.decide.verdict import degraded, listed, ok, size
from fuyaod.model.facts import HostFacts, MemoryNode
from fuyaod.model.findings import Finding


def diagnose_memory(facts: HostFacts) -> Iterator[Finding | None]:
    """Findings `memory.*`."""
    yield nodes(facts)
    yield hugepages(facts)
    yield transparent_hugepages(facts)
    yield numa_balancing(facts)
    yield swap(facts)
    yield overcommit(facts)


def nodes(facts: HostFacts) -> Finding | None:
    """NUMA nodes; one without memory makes every access of its CPUs a remote one."""
    found = facts.memory.nodes
    if not found:
        return None
    told = [f"{len(found)} NUMA node{'s' if len(found) > 1 else ''}"]
    if no_cpus := [str(node.node) for node in found if not node.cpus]:
        told.append(f"without CPUs (HBM or CXL): {' '.join(no_cpus)}")
    no_memory = [node for node in found if node.total_bytes == 0]
    if not no_memory:
        return ok("memory.nodes", "; ".join(told))
    told.append("without memory: " + " ".join(f"{node.node} (CPUs {node.cpus})" for node in no_memory))
    return degraded(
        "memory.nodes",
        "; ".join(told),
        cost="pods on these CPUs reach memory through another node: every access is remote",
        mend="populate the DIMM slots of that socket, or keep inference pods off these CPUs "
        "(`reservedSystemCPUs` of kubelet)",
    )


def hugepages(facts: HostFacts) -> Finding | None:
    """Hugepages per size and node: wanted where devices pin large pools, and evenly over the nodes."""
    with_memory = [node for node in facts.memory.nodes if node.total_bytes]
    if not with_memory:
        return None
    told = [text for node in with_memory for text in hugepages_of(node)]
    uneven = uneven_sizes(with_memory)
    if not told and facts.accelerators.devices:
        return degraded(
            "memory.hugepages",
            f"none reserved on {len(with_memory)} NUMA nodes, with {len(facts.accelerators.devices)} accelerators",
            cost="pinned host memory (KV cache in DRAM) is mapped in 4 KiB pages: slower to register and to walk",
            mend="`echo 4096 > /sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages` for each node, "
            "or `hugepagesz=1G hugepages=64` on the kernel command line; then restart kubelet",
        )
    if uneven:
        return degraded(
            "memory.hugepages",
            f"{'; '.join(told[:8])}; uneven: {listed(uneven)}",
            cost="a pod on a node without hugepages gets them from another node, or none",
            mend="write the same number to /sys/devices/system/node/node*/hugepages/hugepages-<size>kB/nr_hugepages, "
            "or `hugepages=0:<n>,1:<n>` on the kernel command line",
        )
    return ok("memory.hugepages", "; ".join(told[:8]) or "none reserved, and no accelerator that needs them")


def hugepages_of(node: MemoryNode) -> list[str]:
    """`node 0: 1024 × 2 MiB, 1000 free` for each size with pages."""
    return [
        f"node {node.node}: {pages.total} × {size(pages.size_bytes)}, {pages.free} free"
        for pages in node.hugepages
        if pages.total
    ]


def uneven_sizes(with_memory: list[MemoryNode]) -> list[str]:
    """Sizes that some nodes with CPUs and memory have and others lack."""
    serving = [node for node in with_memory if node.cpus]
    sizes = sorted({pages.size_bytes for node in serving for pages in node.hugepages if pages.total})
    found = []
    for wanted in sizes:
        lacking = [n.node for n in serving if not any(p.size_bytes == wanted and p.total for p in n.hugepages)]
        if lacking:
            found.append(f"{size(wanted)} not on node {' '.join(map(str, lacking))}")
    return found


def transparent_hugepages(facts: HostFacts) -> Finding | None:
    """Transparent hugepages: `always` makes any process pay for compaction."""
    mode = facts.memory.transparent_hugepages
    if mode is None:
        return None
    if mode == "always":
        return degraded(
            "memory.transparent_hugepages",
            "transparent_hugepage is always",
            cost="page faults wait for compaction, and memory use grows",
            mend="`echo madvise > /sys/kernel/mm/transparent_hugepage/enabled`, or `transparent_hugepage=madvise` on "
            "the kernel command line",
        )
    return ok("memory.transparent_hugepages", f"transparent_hugepage is {mode}")


def numa_balancing(facts: HostFacts) -> Finding | None:
    """Automatic NUMA balancing works against placement. Source: Linux Documentation/admin-guide/sysctl/kernel.rst."""
    value = facts.memory.numa_balancing
    if value is None:
        return None
    if value & 1 and len(facts.memory.nodes) > 1:
        return degraded(
            "memory.numa_balancing",
            f"kernel.numa_balancing = {value} on {len(facts.memory.nodes)} NUMA nodes",
            cost="pages of pods that are placed already are unmapped and moved: faults in the middle of inference",
            mend="`sysctl -w kernel.numa_balancing=0`, kept in /etc/sysctl.d/90-fuyaod.conf",
        )
    return ok("memory.numa_balancing", f"kernel.numa_balancing = {value}")


def swap(facts: HostFacts) -> Finding | None:
    """Swap on a Kubernetes node."""
    total = facts.memory.swap_total_bytes
    if total is None:
        return None
    told = f"{total >> 20} MiB of swap" if total else "no swap"
    if total and (facts.kubelet.folder or facts.cgroup.pod_roots):
        return degraded(
            "memory.swap",
            told + " on a Kubernetes node",
            cost="kubelet refuses to start unless `failSwapOn: false`, and memory of inference pods may be swapped out",
            mend="`swapoff -a` and remove the swap lines from /etc/fstab; or set memory.swap.max of HLS pods to 0",
        )
    return ok("memory.swap", told)


def overcommit(facts: HostFacts) -> Finding | None:
    """Strict accounting refuses the large mappings that engines make.

    Source: Linux Documentation/mm/overcommit-accounting.rst.
    """
    value = facts.memory.overcommit
    if value is None:
        return None
    if value == 2:
        return degraded(
            "memory.overcommit",
            "vm.overcommit_memory = 2",
            cost="engines that reserve more address space than memory (device run times, JVM) fail with ENOMEM",
            mend="`sysctl -w vm.overcommit_memory=1`, kept in /etc/sysctl.d/90-fuyaod.conf (kubelet sets 1 itself)",
        )
    return ok("memory.overcommit", f"vm.overcommit_memory = {value}")
