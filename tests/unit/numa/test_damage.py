"""Random damage to a machine's files: nothing raises, no CPU is invented, the snapshot stays serialisable."""

from __future__ import annotations

import errno
from collections.abc import Iterable

from hypothesis import given, settings
from hypothesis import strategies as st

from fuyaod.hostfs import HostRoot
from fuyaod.model import CpuSet
from fuyaod.model.snapshot import Topology
from fuyaod.model.values import encode, parse_cpulist
from fuyaod.numa.observe import (
    observe_accelerators,
    observe_cpu_time,
    observe_nics,
    observe_node_memory,
    observe_system_memory,
    observe_topology,
)
from tests.unit.numa.memory_files import MemoryFiles
from tests.unit.numa.test_nics import NIC_LINKS, nic_tree
from tests.unit.numa.test_pci import PCI_LINKS, pci_tree
from tests.unit.numa.trees import Tree, machine

ALL = parse_cpulist("0-7")
BASE = machine() | pci_tree() | nic_tree()
LINKS = PCI_LINKS | NIC_LINKS
PATHS = sorted(BASE)
FOLDERS = sorted({path.rpartition("/")[0] for path in PATHS})
CPU_LISTS = [path for path in PATHS if path.endswith(("list", "online", "present", "cpu/possible"))]

contents = st.one_of(
    st.just(b""),
    st.just(b"\n"),
    st.just(b"0-1023\n"),
    st.just(b"9" * 5000),
    st.just(b"7" * (5 << 20)),
    st.binary(max_size=60),
    st.text(alphabet="0123456789-,:/x \n", max_size=24).map(str.encode),
    st.integers(-(1 << 70), 1 << 70).map(lambda n: f"{n}\n".encode()),
)
errnos = st.sampled_from([errno.EIO, errno.EACCES, errno.EPERM, errno.EOPNOTSUPP, errno.EINVAL, errno.ENODEV])
damages = st.fixed_dictionaries(
    {
        "replaced": st.dictionaries(st.sampled_from(PATHS) | st.sampled_from(CPU_LISTS), contents, max_size=6),
        "cut": st.dictionaries(st.sampled_from(PATHS), st.integers(0, 3), max_size=3),
        "gone": st.lists(st.sampled_from(FOLDERS), max_size=2),
        "refused": st.dictionaries(st.sampled_from(PATHS + FOLDERS), errnos, max_size=3),
        "broken_links": st.lists(st.sampled_from(sorted(LINKS)), max_size=1),
    }
)


@settings(max_examples=300, deadline=None)
@given(damage=damages)
def test_observe_damaged_files_never_raise_and_never_invent(damage: dict[str, dict[str, bytes]]) -> None:
    host = _damaged(**damage)  # type: ignore[arg-type]

    seen = observe_topology(host, 0)

    _assert_consistent(seen.value)
    for value in (
        seen,
        observe_node_memory(host, seen.value.nodes),
        observe_system_memory(host),
        observe_cpu_time(host, 100),
        observe_accelerators(host),
        observe_nics(host),
    ):
        assert encode(value)
    assert host.budget.kept == 0


def _damaged(
    replaced: dict[str, bytes],
    cut: dict[str, int],
    gone: list[str],
    refused: dict[str, int],
    broken_links: list[str],
) -> HostRoot:
    tree: Tree = dict(BASE) | dict(replaced)
    for path, length in cut.items():
        text = tree[path] or b""
        tree[path] = text[:length]
    kept = {path: text for path, text in tree.items() if not any(path.startswith(folder + "/") for folder in gone)}
    links = {link: "../gone" if link in broken_links else target for link, target in LINKS.items()}
    return HostRoot("/declared", MemoryFiles(kept, links, refused))


def _assert_consistent(topology: Topology) -> None:
    cpu = topology.cpu
    assert cpu.present <= ALL
    assert cpu.online <= cpu.present
    assert cpu.present <= cpu.possible
    assert [c.cpu for c in cpu.cpus] == list(cpu.present)
    assert [c.cpu for c in cpu.cpus if c.online] == list(cpu.online)
    assert _union_of_disjoint(cpu.cores()) == cpu.online
    for level in (2, 3):
        assert _union_of_disjoint(c.cpus for c in cpu.caches_of(level)) <= cpu.online
    assert all(c.cpus for c in cpu.caches)
    assert _union_of_disjoint(node.cpus for node in topology.nodes) <= cpu.online
    assert all(len(node.distances) in (0, len(topology.nodes)) for node in topology.nodes)
    assert {d.numa_node for d in topology.devices} <= {None} | {node.node for node in topology.nodes}


def _union_of_disjoint(sets: Iterable[CpuSet]) -> CpuSet:
    union = CpuSet()
    for cpus in sets:
        assert not union & cpus
        union |= cpus
    return union
