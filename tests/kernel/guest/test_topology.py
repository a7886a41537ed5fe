"""CPUs, caches, NUMA nodes and memory are what the machine was told to have."""

import os
import re
from pathlib import Path

from tests.kernel.guest.sysfs import CPU_FOLDER, KERNEL_KEEPS_MIB, NODE_FOLDER, cpu_list, read_word
from tests.kernel.vm.spec import Vm


def test_cpus_after_boot_are_all_online(vm_spec: Vm) -> None:
    assert read_word(CPU_FOLDER / "online") == cpu_list(range(vm_spec.cpus))
    assert os.cpu_count() == vm_spec.cpus


def test_siblings_of_each_cpu_share_its_core(vm_spec: Vm) -> None:
    siblings = {cpu: read_word(CPU_FOLDER / f"cpu{cpu}/topology/thread_siblings_list") for cpu in range(vm_spec.cpus)}

    assert siblings == {cpu: cpu_list(vm_spec.core_cpus(cpu)) for cpu in range(vm_spec.cpus)}


def test_l3_domains_are_the_sockets(vm_spec: Vm) -> None:
    shared = {read_word(CPU_FOLDER / f"cpu{cpu}/cache/index3/shared_cpu_list") for cpu in range(vm_spec.cpus)}

    assert shared == {cpu_list(domain) for domain in vm_spec.l3_domains()}


def test_packages_are_the_sockets(vm_spec: Vm) -> None:
    packages = [int(read_word(CPU_FOLDER / f"cpu{cpu}/topology/physical_package_id")) for cpu in range(vm_spec.cpus)]

    assert packages == [socket for socket, domain in enumerate(vm_spec.l3_domains()) for _ in domain]


def test_nodes_hold_their_cpus(vm_spec: Vm) -> None:
    cpus = {node: read_word(NODE_FOLDER / f"node{node}/cpulist") for node in range(vm_spec.nodes)}

    assert cpus == {node: cpu_list(vm_spec.node_cpus(node)) for node in range(vm_spec.nodes)}
    assert read_word(NODE_FOLDER / "online") == cpu_list(range(vm_spec.nodes))


def test_node_distances_are_as_told(vm_spec: Vm) -> None:
    nodes = range(vm_spec.nodes)

    distances = [[int(word) for word in read_word(NODE_FOLDER / f"node{node}/distance").split()] for node in nodes]

    assert distances == [[vm_spec.distance(source, target) for target in nodes] for source in nodes]


def test_node_memory_is_what_was_given_less_the_kernels_share(vm_spec: Vm) -> None:
    for node in range(vm_spec.nodes):
        meminfo = (NODE_FOLDER / f"node{node}/meminfo").read_text()
        total = re.search(r"MemTotal:\s+(\d+) kB", meminfo)
        assert total is not None
        missing_mib = vm_spec.node_mem_mib - int(total[1]) / 1024
        assert 0 <= missing_mib <= KERNEL_KEEPS_MIB, f"node {node}"


def test_offline_cpu_leaves_lists_of_cpus_and_of_its_node(vm_spec: Vm, offline_cpu: int) -> None:
    last = vm_spec.nodes - 1

    assert read_word(CPU_FOLDER / "online") == cpu_list(range(offline_cpu))
    assert read_word(CPU_FOLDER / "offline") == str(offline_cpu)
    assert read_word(NODE_FOLDER / f"node{last}/cpulist") == cpu_list(range(vm_spec.node_cpus(last)[0], offline_cpu))


def test_huge_pages_stay_on_the_node_that_was_asked(vm_spec: Vm, huge_pages: Path) -> None:
    per_node = [
        int(read_word(NODE_FOLDER / f"node{node}/hugepages/hugepages-2048kB/nr_hugepages"))
        for node in range(vm_spec.nodes)
    ]

    assert per_node == [4 if node == 1 else 0 for node in range(vm_spec.nodes)]
    assert read_word(huge_pages / "free_hugepages") == "4"
