"""Memory and CPU time, read each tick."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from fuyaod.hostfs import DescriptorBudget, HostRoot
from fuyaod.model.topology import Hugepages, NumaNode
from fuyaod.numa.observe import (
    NodeMemoryReader,
    observe_cpu_time,
    observe_node_memory,
    observe_system_memory,
    observe_topology,
)
from tests.fakes.refusals import RefusingFiles
from tests.unit.numa.trees import NODE, Tree, build, machine, node_meminfo

KIB = 1024


def _host(root: Path, changes: Tree | None = None) -> tuple[HostRoot, tuple[NumaNode, ...]]:
    host = build(root, machine() | (changes or {}))
    return host, observe_topology(host, 0).value.nodes


def test_node_memory_healthy_machine_is_read(tmp_path: Path) -> None:
    host, nodes = _host(tmp_path)

    seen = observe_node_memory(host, nodes)

    one = seen.value[1]
    assert seen.findings == ()
    assert (one.node, one.total_bytes, one.free_bytes) == (1, 2048 * KIB, 300 * KIB)
    assert (one.file_bytes, one.anon_bytes) == (200 * KIB, 100 * KIB)
    assert one.hugepages == (
        Hugepages(size_bytes=2 << 20, total=4, free=1, surplus=2),
        Hugepages(size_bytes=1 << 30, total=0, free=0, surplus=0),
    )


def test_node_memory_reader_sees_changes_through_kept_files(tmp_path: Path) -> None:
    host, nodes = _host(tmp_path)
    reader = NodeMemoryReader(host, nodes)
    before = reader.read().value[0].total_bytes

    (tmp_path / NODE / "node0/meminfo").write_text(node_meminfo(0, total_kib=9))
    after = reader.read().value[0].total_bytes
    kept = host.budget.kept
    reader.close()

    assert (before, after) == (1024 * KIB, 9 * KIB)
    assert kept > 0
    assert host.budget.kept == 0


def test_node_memory_without_descriptors_to_keep_reads_the_same(tmp_path: Path) -> None:
    host, nodes = _host(tmp_path)
    tight = HostRoot(tmp_path, budget=DescriptorBudget(0))

    assert observe_node_memory(tight, nodes).value == observe_node_memory(host, nodes).value
    assert tight.budget.kept == 0


@pytest.mark.parametrize(
    "text",
    ["", "Node 1 MemTotal: x kB\n", b"\xff\xfe" * 90, "Node 1 MemTotal:  5 kB\n"],
    ids=["empty", "word", "binary", "cut"],
)
def test_node_memory_broken_file_leaves_the_node_out(tmp_path: Path, text: str | bytes) -> None:
    host, nodes = _host(tmp_path, {NODE + "node1/meminfo": text})

    seen = observe_node_memory(host, nodes)

    assert [memory.node for memory in seen.value] == [0]
    assert [f.id for f in seen.findings] == ["memory.node"]


def test_node_memory_vanished_node_is_left_out_without_a_finding(tmp_path: Path) -> None:
    host, nodes = _host(tmp_path, {NODE + "node1/meminfo": None})

    seen = observe_node_memory(host, nodes)

    assert [memory.node for memory in seen.value] == [0]
    assert seen.findings == ()


@pytest.mark.parametrize("text", ["x", "-1", "", b"\xff", "9" * 40], ids=repr)
def test_node_memory_broken_hugepage_count_leaves_the_size_out(tmp_path: Path, text: str | bytes) -> None:
    host, nodes = _host(tmp_path, {NODE + "node1/hugepages/hugepages-2048kB/nr_hugepages": text})

    seen = observe_node_memory(host, nodes)

    assert [h.size_bytes for h in seen.value[1].hugepages] == [1 << 30]
    assert [f.id for f in seen.findings] == ["memory.node"]


def test_node_memory_reader_reports_problems_of_its_making_and_of_the_tick(tmp_path: Path) -> None:
    tree = machine() | {NODE + "node1/meminfo": "cut"}
    refusing = RefusingFiles(at_list={f"{NODE}node0/hugepages": errno.EACCES})
    host = build(tmp_path, tree, files=refusing)
    reader = NodeMemoryReader(host, observe_topology(host, 0).value.nodes)

    for _ in range(2):
        (finding,) = reader.read().findings
        assert "EACCES" in finding.summary
        assert "cut" in finding.summary
        assert finding.mend
    reader.close()


@pytest.mark.parametrize("number", [errno.ENFILE, errno.EACCES])
def test_node_memory_hugepages_refused_for_a_while_come_back_and_the_finding_goes(tmp_path: Path, number: int) -> None:
    files = RefusingFiles()
    host = build(tmp_path, machine(), files=files)
    nodes = observe_topology(host, 0).value.nodes
    healthy = observe_node_memory(host, nodes)
    files.at_list[f"{NODE}node1/hugepages"] = number
    reader = NodeMemoryReader(host, nodes)

    refused = reader.read()
    files.at_list.clear()
    recovered = reader.read()
    reader.close()

    assert [len(memory.hugepages) for memory in refused.value] == [2, 0]
    assert errno.errorcode[number] in refused.findings[0].summary
    assert recovered == healthy
    assert host.budget.kept == 0


def test_node_memory_kernel_without_numa_reads_the_host(tmp_path: Path) -> None:
    tree = {path: text for path, text in machine().items() if not path.startswith(NODE)}
    tree["sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"] = "0\n"
    host = build(tmp_path, tree)

    (memory,) = observe_node_memory(host, observe_topology(host, 0).value.nodes).value

    assert (memory.node, memory.total_bytes) == (0, 24684092 * KIB)
    assert memory.file_bytes == (185476 + 46496 + 4) * KIB
    assert len(memory.hugepages) == 1


def test_system_memory_takes_cached_and_not_swap_cached(tmp_path: Path) -> None:
    memory = observe_system_memory(build(tmp_path, machine())).value

    assert memory is not None
    assert memory.cached_bytes == 185476 * KIB
    assert (memory.available_bytes, memory.swap_total_bytes) == (24317036 * KIB, 2048 * KIB)


@pytest.mark.parametrize("text", ["", "MemTotal: 5 kB\n", b"\x00\xff", None], ids=["empty", "cut", "binary", "no_file"])
def test_system_memory_broken_is_none(tmp_path: Path, text: str | bytes | None) -> None:
    seen = observe_system_memory(build(tmp_path, {"proc/meminfo": text}))

    assert seen.value is None
    assert [f.id for f in seen.findings] == ([] if text is None else ["memory.system"])


def test_cpu_time_is_scaled_by_the_clock_tick(tmp_path: Path) -> None:
    host = build(tmp_path, machine())

    at_100, at_1000 = observe_cpu_time(host, 100).value, observe_cpu_time(host, 1000).value

    assert at_100 is not None
    assert at_1000 is not None
    assert (at_100.user_us, at_100.steal_us) == (1_000_000, 80_000)
    assert at_1000.user_us == 100_000
    assert at_100.busy_us == (100 + 20 + 30 + 6 + 7 + 8) * 10_000


@pytest.mark.parametrize(
    "text", ["", "cpu 1 2 3\n", "cpu0 1 2 3 4 5 6 7 8\n", "cpu  1 2 3 x 5 6 7 8\n", b"\xff", None], ids=repr
)
def test_cpu_time_broken_is_none(tmp_path: Path, text: str | bytes | None) -> None:
    seen = observe_cpu_time(build(tmp_path, {"proc/stat": text}), 100)

    assert seen.value is None
    assert [f.id for f in seen.findings] == ([] if text is None else ["cpu.time"])
