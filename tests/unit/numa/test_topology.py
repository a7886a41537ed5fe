"""CPUs: sets, ids, siblings, and what becomes of contradictions."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from fuyaod.model import CpuSet
from fuyaod.model.findings import FindingStatus
from fuyaod.model.snapshot import Topology
from fuyaod.model.values import decode, encode, parse_cpulist
from fuyaod.numa.observe import Observed, observe_topology
from tests.fakes.refusals import RefusingFiles
from tests.unit.numa.trees import CPU, NODE, Tree, build, machine

ALL = parse_cpulist("0-7")


def _observe(root: Path, changes: Tree | None = None) -> Observed[Topology]:
    return observe_topology(build(root, machine() | (changes or {})), at_ns=5)


def test_topology_healthy_machine_is_read_without_findings(tmp_path: Path) -> None:
    seen = _observe(tmp_path)

    cpu = seen.value.cpu
    assert seen.findings == ()
    assert (seen.value.observed_at_ns, cpu.possible, cpu.present, cpu.online) == (5, ALL, ALL, ALL)
    assert [str(s) for s in (cpu.offline, cpu.isolated, cpu.nohz_full)] == ["", "", ""]
    assert cpu.smt_active is True
    assert cpu.cores() == tuple(CpuSet((n, n + 4)) for n in range(4))
    six = cpu.cpus[6]
    assert (six.cpu, six.online, six.package_id, six.die_id, six.core_id, six.numa_node) == (6, True, 1, 0, 0, 1)
    assert six.cluster_id is None
    assert six.max_freq_khz == 2_600_000
    assert six.smt_siblings == CpuSet((2, 6))


def test_topology_value_survives_serialisation(tmp_path: Path) -> None:
    value = _observe(tmp_path).value

    assert decode(encode(value), Topology) == value


def test_topology_offline_cpu_has_only_its_node(tmp_path: Path) -> None:
    tree = {path: text for path, text in machine().items() if not path.startswith(f"{CPU}cpu7/")}
    tree |= {CPU + "online": "0-6\n", NODE + "node1/cpulist": "2-3,6\n", CPU + "cpu7/online": "0\n"}
    for name in ("core_cpus_list", "thread_siblings_list"):
        tree[f"{CPU}cpu3/topology/{name}"] = "3\n"
    for path in [path for path in tree if path.endswith("index3/shared_cpu_list") and "2-3" in str(tree[path])]:
        tree[path] = "2-3,6\n"
    tree[f"{CPU}cpu3/cache/index2/shared_cpu_list"] = "3\n"

    seen = observe_topology(build(tmp_path, tree, {f"{CPU}cpu7/node1": "../../node/node1"}), 0)

    seven = seen.value.cpu.cpus[7]
    assert seen.findings == ()
    assert (seven.online, seven.package_id, seven.core_id, seven.max_freq_khz) == (False, None, None, None)
    assert seven.numa_node == 1
    assert not seven.smt_siblings
    assert seen.value.cpu.offline == CpuSet((7,))
    assert seen.value.nodes[1].cpus == CpuSet((2, 3, 6))


def test_topology_possible_beyond_present_counts_as_offline(tmp_path: Path) -> None:
    cpu = _observe(tmp_path, {CPU + "possible": "0-15\n"}).value.cpu

    assert cpu.offline == parse_cpulist("8-15")
    assert len(cpu.cpus) == 8


@pytest.mark.parametrize("name", ["nohz_full", "isolated"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [("2-3\n", "2-3"), ("\n", ""), ("  (null)\n", ""), ("(null)\n", ""), (None, ""), ("6-99\n", "6-7")],
    ids=["list", "empty", "null_padded", "null", "no_file", "beyond_possible"],
)
def test_topology_boot_option_reads_every_form(tmp_path: Path, name: str, text: str | None, expected: str) -> None:
    seen = _observe(tmp_path, {CPU + name: text})

    option = seen.value.cpu.nohz_full if name == "nohz_full" else seen.value.cpu.isolated
    assert str(option) == expected
    assert seen.findings == ()


@pytest.mark.parametrize(("text", "expected"), [("1", True), ("0", False), (None, None)], ids=["on", "off", "none"])
def test_topology_smt_active_is_none_without_file(tmp_path: Path, text: str | None, expected: bool | None) -> None:
    assert _observe(tmp_path, {CPU + "smt/active": text}).value.cpu.smt_active is expected


@pytest.mark.parametrize(("cluster_id", "expected"), [("-1", None), ("65535", None), ("51", 51), (None, None)], ids=str)
def test_topology_cluster_id_unknown_is_none(tmp_path: Path, cluster_id: str | None, expected: int | None) -> None:
    seen = _observe(tmp_path, {CPU + "cpu1/topology/cluster_id": cluster_id})

    assert seen.value.cpu.cpus[1].cluster_id == expected
    assert seen.findings == ()


def test_topology_old_kernel_has_only_the_old_names(tmp_path: Path) -> None:
    gone = ("core_cpus_list", "die_id", "cluster_id")
    tree = {path: None if path.endswith(gone) else text for path, text in machine().items()}

    seen = _observe(tmp_path, tree)

    assert seen.findings == ()
    assert seen.value.cpu.cpus[0].die_id is None
    assert seen.value.cpu.cpus[0].smt_siblings == CpuSet((0, 4))


@pytest.mark.parametrize("text", ["0-99\n", "\n", "", "garbage", b"\xff\xfe\x00", "7-0", "0-99999\n", None], ids=repr)
@pytest.mark.parametrize("name", ["present", "online", "possible"])
def test_topology_broken_cpu_set_never_invents_cpus(tmp_path: Path, name: str, text: str | bytes | None) -> None:
    cpu = _observe(tmp_path, {CPU + name: text}).value.cpu

    assert cpu.present == ALL
    assert cpu.online == ALL
    assert not ALL - cpu.possible


def test_topology_online_list_missing_counts_cpus_with_a_topology_as_online(tmp_path: Path) -> None:
    tree: Tree = {path: text for path, text in machine().items() if not path.startswith(f"{CPU}cpu7/topology/")}
    files = RefusingFiles(at_stat={"cpu5/topology": errno.EACCES})

    seen = observe_topology(build(tmp_path, tree | {CPU + "online": None}, files=files), 0)

    assert seen.value.cpu.online == parse_cpulist("0-4,6")
    assert "cannot stat" in str([f.summary for f in seen.findings])


def test_topology_present_cpu_that_is_not_possible_counts_as_possible(tmp_path: Path) -> None:
    seen = _observe(tmp_path, {CPU + "possible": "0-3\n"})

    assert seen.value.cpu.possible == ALL
    assert "4-7" in seen.findings[0].summary


def test_topology_broken_cpu_set_is_found(tmp_path: Path) -> None:
    (finding,) = _observe(tmp_path, {CPU + "online": "0-9\n"}).findings

    assert (finding.id, finding.status) == ("topology.cpu", FindingStatus.DEGRADED)
    assert "8-9" in finding.summary
    assert finding.cost


def test_topology_siblings_offline_or_impossible_are_cut(tmp_path: Path) -> None:
    seen = _observe(tmp_path, {f"{CPU}cpu{n}/topology/core_cpus_list": "0,4,700\n" for n in (0, 4)})

    assert seen.value.cpu.cpus[0].smt_siblings == CpuSet((0, 4))
    assert [f.id for f in seen.findings] == ["topology.cpu"]


def test_topology_siblings_that_disagree_become_one_core(tmp_path: Path) -> None:
    seen = _observe(tmp_path, {CPU + "cpu0/topology/core_cpus_list": "0-1,4\n"})

    cores = seen.value.cpu.cores()
    assert cores[0] == parse_cpulist("0-1,4-5")
    assert cores[1:] == (CpuSet((2, 6)), CpuSet((3, 7)))
    assert "do not agree" in seen.findings[0].summary


@pytest.mark.parametrize("text", ["", "x", b"\x80", "3\n"], ids=["empty", "garbage", "binary", "other_cpu"])
def test_topology_siblings_unreadable_leave_each_cpu_in_a_core(tmp_path: Path, text: str | bytes) -> None:
    seen = _observe(tmp_path, {f"{CPU}cpu{n}/topology/core_cpus_list": text for n in (0, 4)})

    assert all(cpu.cpu in cpu.smt_siblings for cpu in seen.value.cpu.cpus)
    covered = [number for core in seen.value.cpu.cores() for number in core]
    assert sorted(covered) == list(range(8))
    assert seen.findings


@pytest.mark.parametrize("text", ["9" * 20, "-9", "", "x"], ids=["beyond_64_bits", "negative", "empty", "garbage"])
def test_topology_id_garbage_is_none_and_still_serialisable(tmp_path: Path, text: str) -> None:
    value = _observe(tmp_path, {CPU + "cpu0/topology/core_id": text}).value

    assert value.cpu.cpus[0].core_id is None
    assert encode(value)


def test_topology_many_problems_make_one_short_finding(tmp_path: Path) -> None:
    tree: Tree = {f"{CPU}cpu{n}/topology/core_id": "x" * 4000 for n in range(8)}

    (finding,) = _observe(tmp_path, tree).findings

    assert "and 5 more" in finding.summary
    assert len(finding.summary) < 1000


def test_topology_empty_root_gives_an_empty_machine_and_says_so(tmp_path: Path) -> None:
    seen = observe_topology(build(tmp_path, {}), 0)

    assert not seen.value.cpu.possible
    assert seen.value.cpu.cpus == ()
    assert [(f.id, f.status) for f in seen.findings] == [("topology.sysfs", FindingStatus.MISSING)]


def test_topology_denied_file_names_the_mend(tmp_path: Path) -> None:
    files = RefusingFiles(at_open={"cpu3/topology/core_id": errno.EACCES})

    seen = observe_topology(build(tmp_path, machine(), files=files), 0)

    assert seen.value.cpu.cpus[3].core_id is None
    assert "EACCES" in seen.findings[0].summary
    assert "root" in seen.findings[0].mend


def test_topology_cpu_that_goes_offline_between_two_reads_is_no_exception(tmp_path: Path) -> None:
    files = RefusingFiles(at_read={"cpu3/topology/core_cpus_list": errno.ENODEV})

    seen = observe_topology(
        build(tmp_path, machine() | {CPU + "cpu3/topology/thread_siblings_list": None}, files=files), 0
    )

    assert CpuSet((3,)) <= seen.value.cpu.cpus[3].smt_siblings
