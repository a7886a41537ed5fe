import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernel.boots import BOOTS
from tests.kernel.vm.spec import Vm

machines = st.builds(
    lambda sockets, nodes, cores, threads: Vm(
        cpus=sockets * nodes * cores * threads, sockets=sockets, nodes=nodes, threads=threads, mem_mib=64 * nodes
    ),
    *(st.integers(1, 4) for _ in range(4)),
)


@pytest.mark.parametrize(
    ("shape", "word"),
    [
        ({"cpus": 8, "sockets": 3}, "3 sockets"),
        ({"cpus": 6, "sockets": 1, "nodes": 4}, "4 nodes"),
        ({"mem_mib": 4097}, "4097 MiB"),
        ({"threads": 0}, "threads=0"),
        ({"disk_mib": -1}, "disk_mib=-1"),
    ],
    ids=["sockets", "nodes", "memory", "threads", "disk"],
)
def test_vm_that_does_not_divide_is_refused(shape: dict[str, int], word: str) -> None:
    with pytest.raises(ValueError, match=f"cannot .*{word}"):
        Vm(**shape)  # type: ignore[arg-type]


@given(vm=machines)
def test_nodes_cores_and_l3_domains_partition_the_cpus(vm: Vm) -> None:
    every = list(range(vm.cpus))

    assert [cpu for node in range(vm.nodes) for cpu in vm.node_cpus(node)] == every
    assert [cpu for domain in vm.l3_domains() for cpu in domain] == every
    assert sorted({cpu for first in every for cpu in vm.core_cpus(first)}) == every
    assert all(cpu in vm.core_cpus(cpu) for cpu in every)


def test_distance_is_symmetric_and_near_within_a_pair() -> None:
    vm = Vm()

    table = [[vm.distance(source, target) for target in range(vm.nodes)] for source in range(vm.nodes)]

    assert table == [[10, 12, 21, 21], [12, 10, 21, 21], [21, 21, 10, 12], [21, 21, 12, 10]]


def test_boots_of_a_run_are_two_with_different_caches() -> None:
    assert [(boot.name, len(boot.vm.l3_domains())) for boot in BOOTS] == [("systemd", 4), ("plain", 2)]
