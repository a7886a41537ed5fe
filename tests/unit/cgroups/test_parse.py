"""The parsers of the nine files, against what kernels print and against damage."""

from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fuyaod.cgroups.observe import parse
from fuyaod.hostfs.parse import parse_pressure
from fuyaod.model.cgroup import CpuStat, IoStat
from tests.unit.cgroups.trees import group_texts, pressure_text

PARSERS: dict[str, Callable[[bytes], object]] = {
    "cpu.stat": parse.parse_cpu_stat,
    "cpu.pressure": parse.parse_group_pressure,
    "memory.current": parse.parse_counter,
    "memory.stat": parse.parse_memory_stat,
    "memory.events": parse.parse_memory_events,
    "io.stat": parse.parse_io_stat,
}


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"usage_usec 10\nuser_usec 6\nsystem_usec 4\n", (10, 6, 4, None, None, None)),
        (b"usage_usec 10\nuser_usec 6\nsystem_usec 4\nnice_usec 1\n", (10, 6, 4, None, None, None)),
        (
            b"usage_usec 10\nuser_usec 6\nsystem_usec 4\nnr_periods 3\nnr_throttled 2\nthrottled_usec 1\n",
            (10, 6, 4, 3, 2, 1),
        ),
        (
            b"usage_usec 10\nuser_usec 6\nsystem_usec 4\nnice_usec 9\ncore_sched.force_idle_usec 8\n"
            b"nr_periods 3\nnr_throttled 2\nthrottled_usec 1\nnr_bursts 5\nburst_usec 6\n",
            (10, 6, 4, 3, 2, 1),
        ),
    ],
    ids=["no-controller", "6.12-no-controller", "5.10", "6.12-core-scheduling"],
)
def test_cpu_stat_of_each_kernel_gives_same_fields(raw: bytes, expected: tuple[int | None, ...]) -> None:
    names = ("usage_us", "user_us", "system_us", "periods", "throttled_periods", "throttled_us")

    assert parse.parse_cpu_stat(raw) == CpuStat(**dict(zip(names, expected, strict=True)))  # type: ignore[arg-type]


@given(st.integers(0, 10**9))
@example(0)
def test_group_pressure_equals_general_parser(seed: int) -> None:
    raw = pressure_text(seed).encode()

    assert parse.parse_group_pressure(raw) == parse_pressure(raw, "x")


@pytest.mark.parametrize(("line", "some", "full"), [("some", True, False), ("full", False, True)])
def test_group_pressure_with_one_line_has_the_other_none(line: str, some: bool, full: bool) -> None:
    found = parse.parse_group_pressure(f"{line} avg10=1.00 avg60=2.00 avg300=3.00 total=4\n".encode())

    assert (found.some is not None, found.full is not None) == (some, full)


def test_io_stat_sums_devices_and_empty_file_is_zero() -> None:
    raw = (
        b"8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=5 dios=6\n259:0 rbytes=10 wbytes=20 rios=30 wios=40 cost.usage=7\n"
    )

    assert parse.parse_io_stat(raw) == IoStat(read_bytes=11, written_bytes=22, reads=33, writes=44)
    assert parse.parse_io_stat(b"") == IoStat(read_bytes=0, written_bytes=0, reads=0, writes=0)
    assert parse.parse_io_stat(b"8:0 \n") == IoStat(read_bytes=0, written_bytes=0, reads=0, writes=0)


def test_memory_files_give_the_fields_that_decisions_use() -> None:
    texts = group_texts(3)

    stat = parse.parse_memory_stat(texts["memory.stat"].encode())
    events = parse.parse_memory_events(texts["memory.events"].encode())

    assert (stat.anon_bytes, stat.file_bytes, stat.inactive_file_bytes) == (300, 150, 60)
    assert (stat.shmem_bytes, stat.pgmajfault) == (6, 3)
    assert (events.low, events.high, events.max, events.oom, events.oom_kill) == (1, 2, 3, 4, 3)


@pytest.mark.parametrize(
    "raw",
    [
        b"some avg10=nan avg60=0.00 avg300=0.00 total=1\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1\n",
        b"some avg10=inf avg60=0.00 avg300=0.00 total=1\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1\n",
        b"some avg10=0.00 avg60=0.00 avg300=0.00 total=1\nfull avg60=0.00 avg10=0.00 avg300=0.00 total=1\n",
        b"some avg10=0.00 avg60=0.00\n",
        b"none avg10=0.00 avg60=0.00 avg300=0.00 total=1\n",
    ],
    ids=["nan", "inf", "order", "short", "name"],
)
def test_group_pressure_that_makes_no_sense_is_refused(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r"percentages|a pressure file"):
        parse.parse_group_pressure(raw)


@pytest.mark.parametrize("name", PARSERS)
@given(data=st.data())
def test_parser_of_cut_file_never_gives_a_cut_number(name: str, data: st.DataObject) -> None:
    raw = group_texts(data.draw(st.integers(10**6, 10**9)))[name].encode()
    cut = raw[: data.draw(st.integers(1, len(raw) - 1))]

    if not cut.endswith(b"\n"):
        with pytest.raises((ValueError, IndexError)):
            PARSERS[name](cut)
        return
    # Cut between lines: whatever is still given is whole.
    try:
        found = PARSERS[name](cut)
    except (ValueError, IndexError):
        return
    whole = PARSERS[name](raw)
    for field in found.__struct_fields__:  # type: ignore[attr-defined]
        assert getattr(found, field) in (None, 0, getattr(whole, field)) or name == "io.stat"


@pytest.mark.parametrize("name", PARSERS)
@given(raw=st.binary(max_size=200))
def test_parser_of_binary_raises_only_what_callers_catch(name: str, raw: bytes) -> None:
    try:
        PARSERS[name](raw + b"\n")
    except (ValueError, IndexError):
        return
