"""Sets of CPUs against Python's own sets, and values through JSON."""

from __future__ import annotations

import copy
import itertools
import pickle
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuyaod.model.cgroup import CgroupId, CgroupKind, CgroupSample, CgroupSlow, MemoryStat
from fuyaod.model.cpuset import MAX_ID, CpuSet
from fuyaod.model.topology import CpuTime, CpuTopology
from fuyaod.model.values import decode, encode, to_builtins
from tests.unit.rpc.samples import snapshot as make_snapshot

SETS = st.sets(st.integers(0, MAX_ID), max_size=60)


@given(SETS, SETS)
def test_cpuset_algebra_is_that_of_sets(left: set[int], right: set[int]) -> None:
    a, b = CpuSet(left), CpuSet(right)

    assert set(a & b) == left & right
    assert set(a | b) == left | right
    assert set(a - b) == left - right
    assert (a <= b) == (left <= right)
    assert (a == b) == (left == right)
    assert len(a) == len(left)
    assert bool(a) == bool(left)
    assert list(a) == sorted(left)


@given(SETS, st.integers(-5, MAX_ID + 5))
def test_cpuset_contains_is_that_of_sets(members: set[int], number: int) -> None:
    assert (number in CpuSet(members)) == (number in members)


@given(SETS)
def test_cpuset_ranges_are_maximal_and_cover_the_set(members: set[int]) -> None:
    ranges = list(CpuSet(members).ranges())

    assert {n for first, last in ranges for n in range(first, last + 1)} == members
    assert all(later[0] - earlier[1] > 1 for earlier, later in itertools.pairwise(ranges))


@given(SETS)
def test_cpuset_survives_json(members: set[int]) -> None:
    assert decode(encode(CpuSet(members)), CpuSet) == CpuSet(members)


@pytest.mark.parametrize(
    "twin",
    [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))],
    ids=["copy", "deepcopy", "pickle"],
)
@pytest.mark.parametrize("members", [(), (0, 3, MAX_ID)], ids=["empty", "some"])
def test_cpuset_can_be_copied_and_pickled(members: tuple[int, ...], twin: Callable[[CpuSet], CpuSet]) -> None:
    cpus = CpuSet(members)

    assert twin(cpus) == cpus


@pytest.mark.parametrize("bad", [[-1], [MAX_ID + 1]])
def test_cpuset_out_of_range_is_refused(bad: list[int]) -> None:
    with pytest.raises(ValueError, match="cannot hold CPU"):
        CpuSet(bad)


@pytest.mark.parametrize(("first", "last"), [(3, 2), (-1, 2), (0, MAX_ID + 1)])
def test_cpuset_impossible_range_is_refused(first: int, last: int) -> None:
    with pytest.raises(ValueError, match="cannot hold range"):
        CpuSet.from_range(first, last)


def test_cpuset_cannot_be_changed_and_is_hashable() -> None:
    one = CpuSet([1])

    with pytest.raises(AttributeError, match="immutable"):
        one._mask = 5
    assert len({one, CpuSet([1]), CpuSet([2])}) == 2


@pytest.mark.parametrize("raw", ['"0-"', '"a"', "3", "null", '"99999"'])
def test_decode_of_no_cpu_list_is_a_validation_error(raw: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        decode(raw, CpuSet)


def test_encode_of_a_foreign_type_is_refused() -> None:
    with pytest.raises((TypeError, NotImplementedError), match="cannot encode"):
        encode({"x": object()})


def test_topology_cores_are_online_siblings_lowest_first() -> None:
    made = make_snapshot(full=True).topology.cpu

    def cpu(number: int, siblings: list[int], *, online: bool = True) -> object:
        return msgspec.structs.replace(made.cpus[0], cpu=number, online=online, smt_siblings=CpuSet(siblings))

    cpus = (cpu(0, [0, 2]), cpu(1, [1, 3]), cpu(2, [0, 2]), cpu(3, [1, 3], online=False))
    topology: CpuTopology = msgspec.structs.replace(made, cpus=cpus, online=CpuSet([0, 1, 2]))

    assert topology.cores() == (CpuSet([0, 2]), CpuSet([1]))


@pytest.mark.parametrize(
    ("current", "inactive", "expected"), [(None, 5, None), (100, None, None), (100, 30, 70), (100, 300, 0)]
)
def test_working_set_is_memory_less_inactive_file(
    current: int | None, inactive: int | None, expected: int | None
) -> None:
    stat = None
    if inactive is not None:
        stat = MemoryStat(anon_bytes=0, file_bytes=0, inactive_file_bytes=inactive, shmem_bytes=0, pgmajfault=0)
    slow = CgroupSlow(
        memory_stat=stat, memory_events=None, memory_pressure=None, io_stat=None, io_pressure=None, pids_current=None
    )
    sample = CgroupSample(
        id=CgroupId(path="/a", inode=1, kind=CgroupKind.POD),
        cpu=None,
        cpu_pressure=None,
        memory_current_bytes=current,
        slow=slow,
        slow_at_ns=0,
    )

    assert sample.working_set_bytes == expected


def test_cpu_time_busy_and_idle_make_the_total() -> None:
    time = CpuTime(user_us=1, nice_us=2, system_us=4, idle_us=8, iowait_us=16, irq_us=32, softirq_us=64, steal_us=128)

    assert (time.busy_us, time.total_us) == (231, 255)


def test_to_builtins_writes_sets_as_lists_of_the_kernel() -> None:
    assert to_builtins({"cpus": CpuSet([0, 1, 2, 8])}) == {"cpus": "0-2,8"}
