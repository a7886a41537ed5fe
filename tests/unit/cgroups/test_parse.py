"""The parsers of the nine files, against what kernels print, against damage, and against a slow reference."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuyaod.cgroups.observe import parse
from fuyaod.errors import HostParseError
from fuyaod.hostfs.parse import parse_pressure
from fuyaod.model.cgroup import CpuStat, IoStat, MemoryEvents, MemoryStat
from fuyaod.model.pressure import Pressure
from tests.unit.cgroups.trees import group_texts

PARSERS: dict[str, Callable[[bytes, str], object]] = {
    "cpu.stat": parse.parse_cpu_stat,
    "cpu.pressure": parse_pressure,
    "memory.current": parse.parse_counter,
    "memory.stat": parse.parse_memory_stat,
    "memory.events": parse.parse_memory_events,
    "io.stat": parse.parse_io_stat,
}
IO = "rbytes=1 wbytes=2 rios=3 wios=4"


def _keyed(raw: bytes) -> dict[str, int]:
    found: dict[str, int] = {}
    for line in raw.decode().splitlines():
        key, number = line.split(" ")
        found.setdefault(key, int(number))
    return found


def _slow_io(raw: bytes) -> IoStat:
    words = [word.partition("=") for word in raw.decode().split()]
    names = ("rbytes", "wbytes", "rios", "wios")
    sums = [sum(int(value) for key, _, value in words if key == name) for name in names]
    return IoStat(read_bytes=sums[0], written_bytes=sums[1], reads=sums[2], writes=sums[3])


def _slow(name: str, raw: bytes) -> object:
    """What a whole file, or one that lost its last lines, says; KeyError where a line that is needed is lost."""
    if name == "io.stat":
        return _slow_io(raw)
    if name == "memory.current":
        return int(raw.decode())
    if name == "cpu.pressure":
        lines = [line.split(" ", 1) for line in raw.decode().splitlines()]
        values = {line[0]: [word.partition("=")[2] for word in line[1].split()] for line in lines}
        pairs = {
            key: {"avg10_pct": float(a), "avg60_pct": float(b), "avg300_pct": float(c), "total_us": int(total)}
            for key, (a, b, c, total) in values.items()
        }
        return {"some": pairs["some"], "full": pairs.get("full")}
    n = _keyed(raw)
    if name == "memory.events":
        return MemoryEvents(low=n["low"], high=n["high"], max=n["max"], oom=n["oom"], oom_kill=n["oom_kill"])
    if name == "memory.stat":
        return MemoryStat(
            anon_bytes=n["anon"],
            file_bytes=n["file"],
            inactive_file_bytes=n["inactive_file"],
            shmem_bytes=n["shmem"],
            pgmajfault=n["pgmajfault"],
        )
    throttled = "throttled_usec" in n
    return CpuStat(
        usage_us=n["usage_usec"],
        user_us=n["user_usec"],
        system_us=n["system_usec"],
        periods=n["nr_periods"] if throttled else None,
        throttled_periods=n["nr_throttled"] if throttled else None,
        throttled_us=n["throttled_usec"] if throttled else None,
    )


def _comparable(found: object) -> object:
    if not isinstance(found, Pressure):
        return found
    fields = ("avg10_pct", "avg60_pct", "avg300_pct", "total_us")
    return {
        name: None if line is None else {field: getattr(line, field) for field in fields}
        for name, line in (("some", found.some), ("full", found.full))
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

    found = parse.parse_cpu_stat(raw, "x")

    assert found == CpuStat(**dict(zip(names, expected, strict=True)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("raw", "factor"),
    [
        (b"", 0),
        (b"8:0 \n", 0),
        (b"252:0 ", 0),
        (b"7:7 7:6 ", 0),
        (f"7:7 7:6 7:5 {IO} dbytes=0 dios=0\n".encode(), 1),
        (f"8:0 {IO} dbytes=5 dios=6\n259:0 {IO} cost.usage=7\n252:0 ".encode(), 2),
        (f"(unknown) {IO} dbytes=0 dios=0\n8:0 {IO} dbytes=0 dios=0\n(unknown) {IO}\n".encode(), 3),
        (f"8:0 {IO} use_delay=1 delay_nsec=2 depth=max avg_lat=3 win=4 cost.vrate=100.00\n".encode(), 1),
        (b"8:0 cost.usage=7 cost.wait=1\n", 0),
    ],
    ids=[
        "empty",
        "blank",
        "being-set-up",
        "two-being-set-up",
        "bare-in-front",
        "bare-behind",
        "multipath",
        "qos",
        "cost",
    ],
)
def test_io_stat_of_each_kernel_is_summed_over_devices(raw: bytes, factor: int) -> None:
    expected = IoStat(read_bytes=factor, written_bytes=2 * factor, reads=3 * factor, writes=4 * factor)

    assert parse.parse_io_stat(raw, "x") == expected


@pytest.mark.parametrize(
    "raw",
    [
        b"\n",
        b"garbage\n",
        b"\x00\x01 \x02 ",
        b"8:0",
        f"8:0 {IO}".encode(),
        f"8:0 {IO} dbyt".encode(),
        b"8:0 rbytes=1 wbytes=2 rios=3\n",
        b"8:0 rbytes=-1 wbytes=2 rios=3 wios=4\n",
        b"8:0 rbytes=1 wbytes=2 rios=3 wios=4_0\n",
        b"8:0 rbytes=1 wbytes=2 rios=3 wios=18446744073709551616\n",
        b"8:0 rbytes=9999999999999999999 wbytes=2 rios=3 wios=4\n" * 2,
        f"8:0 {IO}\n\n".encode(),
    ],
    ids=[
        "newline",
        "word",
        "binary",
        "cut-device",
        "cut",
        "cut-key",
        "short",
        "negative",
        "tail",
        "2^64",
        "sum",
        "end",
    ],
)
def test_io_stat_that_is_garbage_is_refused(raw: bytes) -> None:
    with pytest.raises(HostParseError, match=r"^cannot read x: .* is not "):
        parse.parse_io_stat(raw, "x")


@pytest.mark.parametrize("bad", ["-5", "1_000", "+5", "5.0", "\u0663", "9" * 20, "9" * 5000, ""])
@pytest.mark.parametrize("name", [name for name in PARSERS if name != "io.stat"])
def test_file_with_a_number_that_no_kernel_counts_is_refused(name: str, bad: str) -> None:
    """Whatever is given fits into the 64 bits of a message."""
    template = {
        "cpu.stat": "usage_usec 1\nuser_usec 1\nsystem_usec 1\nnr_periods 1\nnr_throttled 1\nthrottled_usec {}\n",
        "cpu.pressure": "some avg10=0.00 avg60=0.00 avg300=0.00 total={}\n",
        "memory.current": "{}\n",
        "memory.stat": "anon 1\nfile 1\nshmem {}\ninactive_file 1\npgmajfault 1\n",
        "memory.events": "low 1\nhigh 1\nmax 1\noom 1\noom_kill {}\n",
    }[name]
    PARSERS[name](template.format("9" * 19).encode(), "x")

    with pytest.raises(HostParseError):
        PARSERS[name](template.format(bad).encode(), "x")


def test_memory_stat_in_another_order_gives_the_same() -> None:
    raw = group_texts(3)["memory.stat"].encode()
    turned = b"".join(reversed(raw.splitlines(keepends=True)))

    assert parse.parse_memory_stat(turned, "x") == parse.parse_memory_stat(raw, "x")


@pytest.mark.parametrize("name", PARSERS)
@given(seed=st.integers(0, 10**14))
def test_parser_of_whole_file_gives_what_a_slow_reference_gives(name: str, seed: int) -> None:
    raw = group_texts(seed)[name].encode()

    assert _comparable(PARSERS[name](raw, "x")) == _slow(name, raw)


@pytest.mark.parametrize("name", PARSERS)
@given(data=st.data())
def test_parser_of_cut_file_never_gives_a_cut_number(name: str, data: st.DataObject) -> None:
    raw = group_texts(data.draw(st.integers(10**6, 10**9)))[name].encode()
    cut = raw[: data.draw(st.integers(1, len(raw) - 1))]
    whole_lines = cut[: cut.rfind(b"\n") + 1]

    try:
        found = PARSERS[name](cut, "x")
    except HostParseError:
        # Refusing is right when the last line was cut, or a needed one is lost.
        assert not cut.endswith(b"\n") or name in ("cpu.stat", "memory.stat", "memory.events")
        return

    # io.stat may end with a bare device, which has no number.
    assert cut == whole_lines or name == "io.stat"
    assert _comparable(found) == _slow(name, whole_lines)


@pytest.mark.parametrize("name", PARSERS)
@given(raw=st.binary(max_size=200))
def test_parser_of_binary_gives_what_is_written_or_refuses(name: str, raw: bytes) -> None:
    try:
        found = PARSERS[name](raw, "x")
    except HostParseError:
        return

    assert _comparable(found) == _slow(name, raw)


@pytest.mark.parametrize("name", ["memory.current", "io.stat"])
@given(data=st.data())
def test_parser_of_file_with_one_damaged_byte_gives_what_is_written_or_refuses(name: str, data: st.DataObject) -> None:
    raw = bytearray(group_texts(data.draw(st.integers(0, 10**9)))[name].encode())
    raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 127))

    try:
        found = PARSERS[name](bytes(raw), "x")
    except HostParseError:
        return

    assert found == _slow(name, bytes(raw))
