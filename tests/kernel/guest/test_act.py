"""What `act` reports is what the kernel did: every way in which a value is taken, cut, ignored or refused."""

from pathlib import Path

import pytest

from fuyaod.hostfs import HostRoot
from fuyaod.hostfs.journal import Journal
from fuyaod.hostfs.write import act, preview
from fuyaod.model.action import OutcomeStatus
from tests.kernel.guest.cgroups import enable_controllers, process_in
from tests.kernel.guest.sysfs import CPU_FOLDER, read_flat, read_word
from tests.kernel.guest.waiting import wait_until
from tests.kernel.guest.writing import file_name, statuses, step
from tests.kernel.vm.spec import Vm

TAKEN = [
    pytest.param("cpuset.cpus", "1-2", "1-2", id="cpus"),
    pytest.param("cpuset.cpus", " 2 ,,1,1", "1-2", id="cpus_any_order_blanks_repeats"),
    pytest.param("cpuset.cpus", "0-3:1/2", "0,2", id="cpus_as_groups"),
    pytest.param("cpuset.cpus", ",".join(["1"] * 256), "1", id="cpus_256_entries"),
    pytest.param("cpuset.mems", "1-2", "1-2", id="mems_of_an_empty_group"),
    pytest.param("cpu.weight", "39", "39", id="weight"),
    pytest.param("cpu.max", "40000 100000", "40000 100000", id="quota_and_period"),
    pytest.param("cpu.max", "40000", "40000 100000", id="quota_alone_keeps_the_period"),
    pytest.param("cpu.max", "1000 10000", "1000 10000", id="period_10_ms_quota_1_ms"),
    pytest.param("memory.max", "8192", "8192", id="memory_max"),
    pytest.param("memory.high", "5000", "4096", id="memory_high_cut_to_a_page"),
    pytest.param("memory.low", "12287", "8192", id="memory_low_cut_to_a_page"),
    pytest.param("memory.min", "8191", "4096", id="memory_min_cut_to_a_page"),
    pytest.param("memory.oom.group", "1", "1", id="oom_group"),
    pytest.param("pids.max", "100", "100", id="pids"),
    pytest.param("cgroup.max.depth", "3", "3", id="depth"),
    pytest.param("cgroup.freeze", "1", "1", id="freeze"),
]

CLIPPED = [
    pytest.param("cpuset.cpus", "2-5", "2-3", id="cpus_partly_outside_the_parents"),
    pytest.param("cpuset.cpus", "6-7", "0-3", id="cpus_all_outside_the_parents"),
    pytest.param("cpuset.mems", "3", "0-2", id="mems_outside_the_parents"),
]

REFUSED = [
    pytest.param("cpuset.cpus", "0-999", "ERANGE", id="cpus_beyond_the_machine"),
    pytest.param("cpuset.cpus", "200", "ERANGE", id="cpu_never_present"),
    pytest.param("cpuset.cpus", "1-0", "EINVAL", id="cpus_backwards"),
    pytest.param("cpuset.cpus", "a", "EINVAL", id="cpus_no_list"),
    pytest.param("cpuset.mems", "9", "EINVAL", id="mems_no_such_node"),
    pytest.param("cpu.weight", "0", "ERANGE", id="weight_0"),
    pytest.param("cpu.weight", "10001", "ERANGE", id="weight_too_large"),
    pytest.param("cpu.max", "max 500", "EINVAL", id="period_500_us"),
    pytest.param("cpu.max", "999 100000", "EINVAL", id="quota_below_1_ms"),
    pytest.param("memory.high", "-1", "EINVAL", id="memory_negative"),
    pytest.param("memory.oom.group", "2", "EINVAL", id="oom_group_2"),
    pytest.param("cgroup.freeze", "2", "ERANGE", id="freeze_2"),
    pytest.param("io.weight", "50", "its format is not known", id="file_without_a_format"),
    pytest.param("cpuset.cpus.partition", "root", "its format is not known", id="partition_without_a_format"),
]

HOLD_6_MIB = ("/bin/sh", "-c", "{ head -c 6M /dev/zero; sleep infinity; } | tail -c 6M")


@pytest.fixture
def narrow_leaf(cgroup: Path) -> Path:
    """A cgroup without processes below one that has CPUs 0-3 and nodes 0-2."""
    (cgroup / "cpuset.cpus").write_text("0-3")
    (cgroup / "cpuset.mems").write_text("0-2")
    enable_controllers(cgroup)
    leaf = cgroup / "leaf"
    leaf.mkdir()
    return leaf


@pytest.fixture
def partition(cgroup: Path) -> Path:
    """A group with CPUs of its own, 2-3, that no sibling gets."""
    enable_controllers(cgroup)
    own = cgroup / "partition"
    own.mkdir()
    for group in (cgroup, own):
        (group / "cpuset.cpus").write_text("0-3,7" if group == cgroup else "2-3")
        (group / "cpuset.cpus.partition").write_text("root")
    return own


def current_bytes(cgroup: Path) -> int:
    """Memory charged to a group."""
    return int(read_word(cgroup / "memory.current"))


@pytest.mark.parametrize(("file", "value", "reads"), TAKEN)
def test_act_value_the_kernel_takes_is_done_and_same_the_next_time(
    narrow_leaf: Path, journal: Journal, file: str, value: str, reads: str
) -> None:
    before = read_word(narrow_leaf / file)

    (first,) = act((step(narrow_leaf / file, value),), journal)
    (second,) = act((step(narrow_leaf / file, value),), journal)

    assert (first.status, first.before, first.effective) == (OutcomeStatus.DONE, before, reads)
    assert read_word(narrow_leaf / file) == reads
    assert (second.status, second.effective) == (OutcomeStatus.SAME, reads)
    assert [entry.before for entry in journal.entries()] == [before]


@pytest.mark.parametrize(("file", "value", "reads"), CLIPPED)
def test_act_value_the_kernel_cuts_in_silence_is_clipped(
    narrow_leaf: Path, journal: Journal, file: str, value: str, reads: str
) -> None:
    (outcome,) = act((step(narrow_leaf / file, value),), journal)

    assert (outcome.status, outcome.effective) == (OutcomeStatus.CLIPPED, reads)
    assert read_word(narrow_leaf / file) == value


@pytest.mark.parametrize(("file", "value", "why"), REFUSED)
def test_act_value_the_kernel_refuses_is_refused_and_forgotten(
    narrow_leaf: Path, journal: Journal, file: str, value: str, why: str
) -> None:
    before = read_word(narrow_leaf / file)

    (outcome,) = act((step(narrow_leaf / file, value),), journal)

    assert outcome.status is OutcomeStatus.REFUSED
    assert why in (outcome.error or "")
    assert read_word(narrow_leaf / file) == before
    assert journal.entries() == ()


def test_act_empty_cpus_of_a_group_with_processes_is_refused(narrow_leaf: Path, journal: Journal) -> None:
    (narrow_leaf / "cpuset.cpus").write_text("1")
    with process_in(narrow_leaf):
        (populated,) = act((step(narrow_leaf / "cpuset.cpus", ""),), journal)
    (unpopulated,) = act((step(narrow_leaf / "cpuset.cpus", ""),), journal)

    assert populated.status is OutcomeStatus.REFUSED
    assert "ENOSPC" in (populated.error or "")
    assert (unpopulated.status, unpopulated.effective) == (OutcomeStatus.DONE, "0-3")


def test_act_cpu_goes_offline_keeps_the_value_and_tells_the_parents_cpus(
    vm_spec: Vm, leaf_cgroup: Path, journal: Journal, offline_cpu: int
) -> None:
    plan = (step(leaf_cgroup / "cpuset.cpus", str(offline_cpu)),)
    effective = leaf_cgroup / "cpuset.cpus.effective"

    (written,) = act(plan, journal)
    (CPU_FOLDER / f"cpu{offline_cpu}/online").write_text("1")
    wait_until(lambda: read_word(effective) == str(offline_cpu), "the CPU in the group")
    (back,) = act(plan, journal)
    (CPU_FOLDER / f"cpu{offline_cpu}/online").write_text("0")
    wait_until(lambda: read_word(effective) != str(offline_cpu), "the group without the CPU")
    (gone,) = act(plan, journal)

    parents = f"0-{vm_spec.cpus - 2}"
    assert (written.status, written.effective) == (OutcomeStatus.CLIPPED, parents)
    assert (back.status, back.effective) == (OutcomeStatus.SAME, str(offline_cpu))
    assert (gone.status, gone.effective) == (OutcomeStatus.SAME, parents)


def test_act_weight_of_an_idle_group_is_refused_and_idle_itself_is_remembered(
    narrow_leaf: Path, journal: Journal
) -> None:
    (narrow_leaf / "cpu.weight").write_text("39")

    idle, weight = act((step(narrow_leaf / "cpu.idle", "1"), step(narrow_leaf / "cpu.weight", "50")), journal)

    assert (idle.status, weight.status) == (OutcomeStatus.DONE, OutcomeStatus.REFUSED)
    assert "EINVAL" in (weight.error or "")
    kept = {entry.path.rpartition("/")[2]: entry for entry in journal.entries()}
    assert {name: entry.before for name, entry in kept.items()} == {"cpu.idle": "0", "cpu.weight": "39"}
    assert read_word(narrow_leaf / "cpu.weight") in kept["cpu.weight"].ours, "0 on some kernels, 1 on others"


def test_act_freeze_stops_the_processes(narrow_leaf: Path, journal: Journal) -> None:
    with process_in(narrow_leaf):
        (outcome,) = act((step(narrow_leaf / "cgroup.freeze", "1"),), journal)
        wait_until(lambda: read_flat(narrow_leaf / "cgroup.events")["frozen"] == 1, "the freeze")

    assert outcome.status is OutcomeStatus.DONE


def test_act_memory_high_below_the_usage_is_done_although_nothing_can_be_reclaimed(
    narrow_leaf: Path, journal: Journal
) -> None:
    with process_in(narrow_leaf, HOLD_6_MIB):
        wait_until(lambda: current_bytes(narrow_leaf) > 6 << 20, "6 MiB in use")
        (outcome,) = act((step(narrow_leaf / "memory.high", str(2 << 20)),), journal)
        left_bytes = current_bytes(narrow_leaf)

    assert (outcome.status, outcome.effective) == (OutcomeStatus.DONE, str(2 << 20))
    assert left_bytes > 4 << 20


def test_act_cpus_of_a_siblings_partition_are_done_and_cost_it_its_partition(
    cgroup: Path, partition: Path, journal: Journal
) -> None:
    other = cgroup / "other"
    other.mkdir()
    kept = partition / "cpuset.cpus.partition"
    was = read_word(kept)

    (apart,) = act((step(other / "cpuset.cpus", "0"),), journal)
    still = read_word(kept)
    (overlapping,) = act((step(other / "cpuset.cpus", "0,2"),), journal)

    assert (was, still) == ("root", "root")
    assert (apart.status, apart.effective) == (OutcomeStatus.DONE, "0")
    assert (overlapping.status, overlapping.effective) == (OutcomeStatus.DONE, "0,2")
    assert read_word(kept).startswith("root invalid")


def test_act_cpus_of_a_partition_without_an_online_cpu_are_clipped_to_none(
    cgroup: Path, partition: Path, journal: Journal, offline_cpu: int
) -> None:
    (outcome,) = act((step(partition / "cpuset.cpus", str(offline_cpu)),), journal)

    assert (outcome.status, outcome.effective) == (OutcomeStatus.CLIPPED, "")


def test_act_group_made_again_is_gone(narrow_leaf: Path, journal: Journal) -> None:
    plan = (step(narrow_leaf / "cpu.weight", "39"),)
    narrow_leaf.rmdir()
    (missing,) = act(plan, journal)
    narrow_leaf.mkdir()
    (other,) = act(plan, journal)

    assert (missing.status, other.status) == (OutcomeStatus.GONE, OutcomeStatus.GONE)
    assert read_word(narrow_leaf / "cpu.weight") == "100"
    assert journal.entries() == ()


def test_act_one_refusal_does_not_stop_the_others(narrow_leaf: Path, journal: Journal) -> None:
    values = {"cpu.max": "max 500", "cpu.weight": "39", "cpuset.cpus": "6-7", "memory.high": "max"}

    outcomes = act(tuple(step(narrow_leaf / name, value) for name, value in values.items()), journal)

    assert [file_name(outcome) for outcome in outcomes] == list(values)
    assert statuses(outcomes) == {
        "cpu.max": OutcomeStatus.REFUSED,
        "cpu.weight": OutcomeStatus.DONE,
        "cpuset.cpus": OutcomeStatus.CLIPPED,
        "memory.high": OutcomeStatus.SAME,
    }


def test_preview_writes_nothing(narrow_leaf: Path) -> None:
    plan = (step(narrow_leaf / "cpu.weight", "39"), step(narrow_leaf / "memory.high", "max"))

    outcomes = preview(plan, HostRoot("/"))

    assert [(o.status, o.effective) for o in outcomes] == [(OutcomeStatus.DRY_RUN, None), (OutcomeStatus.SAME, "max")]
    assert read_word(narrow_leaf / "cpu.weight") == "100"
