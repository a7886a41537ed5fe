"""CPUs, memory and devices as messages. Pure."""

from __future__ import annotations

from fuyao_api.node.v1 import node_pb2 as pb
from fuyaod.model.devices import Nic, PciDevice
from fuyaod.model.snapshot import Topology
from fuyaod.model.topology import CacheDomain, Cpu, CpuTime, NodeMemory, NumaNode, SystemMemory
from fuyaod.rpc.convert_groups import enum_name


def topology_message(topology: Topology) -> pb.Topology:
    """CPUs, caches and NUMA nodes; devices are a list of their own in the API."""
    cpu = topology.cpu
    return pb.Topology(
        observed_at_monotonic_ns=topology.observed_at_ns,
        possible_cpus=str(cpu.possible),
        present_cpus=str(cpu.present),
        online_cpus=str(cpu.online),
        offline_cpus=str(cpu.offline),
        isolated_cpus=str(cpu.isolated),
        nohz_full_cpus=str(cpu.nohz_full),
        smt_active=cpu.smt_active,
        cpus=[_cpu(one) for one in cpu.cpus],
        caches=[_cache(cache) for cache in cpu.caches],
        numa_nodes=[_numa_node(node) for node in topology.nodes],
    )


def _cpu(cpu: Cpu) -> pb.Cpu:
    return pb.Cpu(
        cpu=cpu.cpu,
        online=cpu.online,
        package_id=cpu.package_id,
        die_id=cpu.die_id,
        cluster_id=cpu.cluster_id,
        core_id=cpu.core_id,
        numa_node=cpu.numa_node,
        smt_siblings=str(cpu.smt_siblings),
        max_freq_khz=cpu.max_freq_khz,
    )


def _cache(cache: CacheDomain) -> pb.Cache:
    return pb.Cache(
        level=cache.level,
        type=enum_name("CACHE_TYPE", cache.type),
        cache_id=cache.cache_id,
        cpus=str(cache.cpus),
        size_bytes=cache.size_bytes,
    )


def _numa_node(node: NumaNode) -> pb.NumaNode:
    return pb.NumaNode(
        node=node.node,
        cpus=str(node.cpus),
        distances=node.distances,
        memory_kind=enum_name("MEMORY_KIND", node.memory_kind),
    )


def numa_memory_message(memory: NodeMemory) -> pb.NumaMemory:
    """Memory of one NUMA node."""
    return pb.NumaMemory(
        node=memory.node,
        total_bytes=memory.total_bytes,
        free_bytes=memory.free_bytes,
        file_bytes=memory.file_bytes,
        anon_bytes=memory.anon_bytes,
        hugepages=[
            pb.Hugepages(
                size_bytes=pages.size_bytes,
                total_pages=pages.total,
                free_pages=pages.free,
                surplus_pages=pages.surplus,
            )
            for pages in memory.hugepages
        ],
    )


def memory_message(memory: SystemMemory | None) -> pb.SystemMemory | None:
    """`/proc/meminfo`."""
    if memory is None:
        return None
    return pb.SystemMemory(
        total_bytes=memory.total_bytes,
        free_bytes=memory.free_bytes,
        available_bytes=memory.available_bytes,
        cached_bytes=memory.cached_bytes,
        swap_total_bytes=memory.swap_total_bytes,
        swap_free_bytes=memory.swap_free_bytes,
    )


def cpu_time_message(time: CpuTime | None) -> pb.CpuTime | None:
    """First line of `/proc/stat`."""
    if time is None:
        return None
    return pb.CpuTime(
        user_us=time.user_us,
        nice_us=time.nice_us,
        system_us=time.system_us,
        idle_us=time.idle_us,
        iowait_us=time.iowait_us,
        irq_us=time.irq_us,
        softirq_us=time.softirq_us,
        steal_us=time.steal_us,
    )


def accelerator_message(device: PciDevice) -> pb.Accelerator:
    """An accelerator on PCI."""
    return pb.Accelerator(
        bdf=device.bdf,
        kind=enum_name("ACCELERATOR_KIND", device.kind),
        vendor_id=device.vendor_id,
        device_id=device.device_id,
        class_id=device.class_id,
        numa_node=device.numa_node,
        driver=device.driver,
        path=device.path,
        link_speed_gts=device.link_speed_gts,
        link_width=device.link_width,
        max_link_speed_gts=device.max_link_speed_gts,
        max_link_width=device.max_link_width,
    )


def nic_message(nic: Nic) -> pb.Nic:
    """A network interface."""
    return pb.Nic(
        name=nic.name,
        bdf=nic.bdf,
        numa_node=nic.numa_node,
        driver=nic.driver,
        operstate=nic.operstate,
        carrier=nic.carrier,
        speed_mbps=nic.speed_mbps,
        mtu_bytes=nic.mtu,
        rx_bytes=nic.rx_bytes,
        tx_bytes=nic.tx_bytes,
        rx_errors=nic.rx_errors,
        tx_errors=nic.tx_errors,
        rx_dropped=nic.rx_dropped,
        tx_dropped=nic.tx_dropped,
        carrier_changes=nic.carrier_changes,
    )
