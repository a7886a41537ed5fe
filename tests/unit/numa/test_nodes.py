"""NUMA nodes and the kind of their memory."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from fuyaod.model.findings import Finding, FindingStatus
from fuyaod.model.topology import MemoryKind, NumaNode
from fuyaod.model.values import parse_cpulist
from fuyaod.numa.observe.nodes import observe_nodes
from fuyaod.numa.observe.reading import Reading
from tests.fakes.refusals import RefusingFiles
from tests.unit.numa.trees import NODE, Tree, build, machine, node_meminfo

ALL = parse_cpulist("0-7")
TIER = "sys/devices/virtual/memory_tiering/"
INITIATORS = "access0/initiators/"


def _observe(
    root: Path, changes: Tree, links: dict[str, str] | None = None
) -> tuple[tuple[NumaNode, ...], tuple[Finding, ...]]:
    reading = Reading(build(root, machine() | changes, links))
    return observe_nodes(reading, ALL), reading.findings()


def _with_node_2(changes: Tree) -> Tree:
    """A third node without CPUs."""
    tree: Tree = {NODE + name: "0-2\n" for name in ("online", "has_memory")}
    tree |= {NODE + "node2/cpulist": "\n", NODE + "node2/distance": "20 20 10\n"}
    tree |= {NODE + "node0/distance": "10 20 20\n", NODE + "node1/distance": "20 10 20\n"}
    return tree | {NODE + "node2/meminfo": node_meminfo(2, total_kib=4096)} | changes


def test_nodes_healthy_machine_is_read_without_findings(tmp_path: Path) -> None:
    nodes, findings = _observe(tmp_path, {})

    assert findings == ()
    assert [(n.node, str(n.cpus), n.distances) for n in nodes] == [(0, "0-1,4-5", (10, 20)), (1, "2-3,6-7", (20, 10))]
    assert {n.memory_kind for n in nodes} == {MemoryKind.DRAM}


def test_nodes_kernel_without_numa_puts_all_on_node_0(tmp_path: Path) -> None:
    tree = {path: text for path, text in machine().items() if not path.startswith(NODE)}
    reading = Reading(build(tmp_path, tree))

    (node,) = observe_nodes(reading, ALL)

    assert (node.node, node.cpus, node.distances, node.memory_kind) == (0, ALL, (10,), MemoryKind.UNKNOWN)
    assert reading.findings() == ()


@pytest.mark.parametrize(
    "changes",
    [
        {NODE + "has_memory": "0\n"},
        {NODE + "has_memory": None, NODE + "has_normal_memory": "0\n"},
        {
            NODE + "has_memory": None,
            NODE + "has_normal_memory": None,
            NODE + "node1/meminfo": "Node 1 MemTotal:              0 kB\n",
        },
        {
            NODE + "has_memory": None,
            NODE + "has_normal_memory": None,
            NODE + "node1/meminfo": "Node 1 MemTotal: 0 kB\n",
        },
    ],
    ids=["has_memory", "has_normal_memory", "meminfo", "meminfo_of_other_blanks"],
)
def test_nodes_without_memory_say_none(tmp_path: Path, changes: Tree) -> None:
    nodes, findings = _observe(tmp_path, changes)

    assert [n.memory_kind for n in nodes] == [MemoryKind.DRAM, MemoryKind.NONE]
    assert findings == ()


def test_nodes_folder_that_may_not_be_listed_is_found_and_its_online_list_tells_the_nodes(tmp_path: Path) -> None:
    files = RefusingFiles(at_list={NODE.rstrip("/"): errno.EACCES})
    reading = Reading(build(tmp_path, machine(), files=files))

    nodes = observe_nodes(reading, ALL)

    (finding,) = reading.findings()
    assert [(n.node, str(n.cpus)) for n in nodes] == [(0, "0-1,4-5"), (1, "2-3,6-7")]
    assert (finding.id, finding.status) == ("topology.node", FindingStatus.DEGRADED)
    assert "EACCES" in finding.summary
    assert finding.mend


@pytest.mark.parametrize(
    "files",
    [
        RefusingFiles(at_list={NODE.rstrip("/"): errno.EACCES}, at_open={NODE + "online": errno.EACCES}),
        RefusingFiles(
            at_list={NODE.rstrip("/"): errno.EACCES},
            at_stat={NODE.rstrip("/"): errno.EACCES},
            at_open={NODE + "online": errno.EACCES},
        ),
    ],
    ids=["not_listed", "not_looked_at"],
)
def test_nodes_that_cannot_be_told_are_one_node_and_the_finding_says_so(tmp_path: Path, files: RefusingFiles) -> None:
    reading = Reading(build(tmp_path, machine(), files=files))

    (node,) = observe_nodes(reading, ALL)

    (finding,) = reading.findings()
    assert (node.node, node.cpus, node.memory_kind) == (0, ALL, MemoryKind.UNKNOWN)
    assert "EACCES" in finding.summary
    assert "all CPUs are taken to be on node 0" in finding.summary


def test_nodes_without_cpus_and_evidence_are_unknown(tmp_path: Path) -> None:
    changes = _with_node_2({TIER + "memory_tier4/nodelist": "0-2\n"})

    nodes, findings = _observe(tmp_path, changes)

    assert findings == ()
    assert (str(nodes[2].cpus), nodes[2].distances, nodes[2].memory_kind) == ("", (20, 20, 10), MemoryKind.UNKNOWN)


@pytest.mark.parametrize(
    ("dram", "other", "kind"),
    [
        (100_000, 400_000, MemoryKind.HBM),
        (100_000, 105_000, MemoryKind.DRAM),
        (100_000, 130_000, MemoryKind.UNKNOWN),
        (100_000, 30_000, MemoryKind.UNKNOWN),
        (None, 400_000, MemoryKind.UNKNOWN),
        (100_000, 0, MemoryKind.UNKNOWN),
    ],
    ids=["four_times", "same", "between", "slower", "no_reference", "zero"],
)
def test_nodes_bandwidth_tells_hbm_from_dram(tmp_path: Path, dram: int | None, other: int, kind: MemoryKind) -> None:
    changes = _with_node_2({f"{NODE}node2/{INITIATORS}read_bandwidth": f"{other}\n"})
    if dram is not None:
        changes |= {f"{NODE}node{n}/{INITIATORS}read_bandwidth": f"{dram}\n" for n in (0, 1)}

    nodes, _ = _observe(tmp_path, changes)

    assert nodes[2].memory_kind is kind


@pytest.mark.parametrize(("tier", "kind"), [(3, MemoryKind.HBM), (22, MemoryKind.UNKNOWN)], ids=["faster", "slower"])
def test_nodes_memory_tier_is_evidence_for_faster_memory_only(tmp_path: Path, tier: int, kind: MemoryKind) -> None:
    changes = _with_node_2({TIER + "memory_tier4/nodelist": "0-1\n", f"{TIER}memory_tier{tier}/nodelist": "2\n"})

    assert _observe(tmp_path, changes)[0][2].memory_kind is kind


@pytest.mark.parametrize(
    ("device", "kind"),
    [
        ("platform/ACPI0017:00/root0/decoder0.0/region0/dax_region0/dax0.0", MemoryKind.CXL),
        ("platform/hmem.0/dax0.0", MemoryKind.UNKNOWN),
        ("LNXSYSTM:00/ndbus0/region0/dax0.1/dax0.0", MemoryKind.UNKNOWN),
    ],
    ids=["cxl_region", "firmware_region", "nvdimm"],
)
def test_nodes_dax_device_tells_cxl_by_where_it_sits(tmp_path: Path, device: str, kind: MemoryKind) -> None:
    changes = _with_node_2({f"sys/devices/{device}/target_node": "2\n"})

    nodes, findings = _observe(tmp_path, changes, {"sys/bus/dax/devices/dax0.0": f"../../../devices/{device}"})

    assert nodes[2].memory_kind is kind
    assert findings == ()


def test_nodes_kunpeng_hbm_driver_names_its_nodes(tmp_path: Path) -> None:
    changes = _with_node_2({"sys/bus/container/devices/PNP0A06:01/pxms": "2\n", "sys/kernel/hbm_memory/x": ""})

    assert _observe(tmp_path, changes)[0][2].memory_kind is MemoryKind.HBM


def test_nodes_overlapping_cpulists_leave_a_cpu_on_one_node(tmp_path: Path) -> None:
    nodes, findings = _observe(tmp_path, {NODE + "node1/cpulist": "1-3,6-7\n"})

    assert nodes[1].cpus == parse_cpulist("2-3,6-7")
    assert "on another node already" in findings[0].summary


def test_nodes_cpulist_with_impossible_cpus_is_cut(tmp_path: Path) -> None:
    nodes, findings = _observe(tmp_path, {NODE + "node1/cpulist": "2-3,6-7,900\n"})

    assert nodes[1].cpus == parse_cpulist("2-3,6-7")
    assert [f.id for f in findings] == ["topology.node"]


def test_nodes_cpu_on_no_node_is_found(tmp_path: Path) -> None:
    _, findings = _observe(tmp_path, {NODE + "node1/cpulist": "2-3,6\n"})

    assert "CPUs 7 are on no NUMA node" in findings[0].summary


@pytest.mark.parametrize(
    "text",
    ["10\n", "10 20 30\n", "10 x\n", "", b"\xff", "10 -20\n"],
    ids=["short", "long", "word", "empty", "binary", "negative"],
)
def test_nodes_distance_that_does_not_fit_is_left_out(tmp_path: Path, text: str | bytes) -> None:
    nodes, findings = _observe(tmp_path, {NODE + "node0/distance": text})

    assert nodes[0].distances == ()
    assert findings


@pytest.mark.parametrize("text", ["0-5\n", "\n", "junk", None], ids=["too_many", "empty", "garbage", "no_file"])
def test_nodes_online_list_broken_falls_back_to_folders(tmp_path: Path, text: str | None) -> None:
    nodes, _ = _observe(tmp_path, {NODE + "online": text})

    assert [n.node for n in nodes] == [0, 1]
