"""Lines of a stream in bounded memory."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuyaod.kube.lines import bounded_lines


class Chunks:
    """A stream that hands out its chunks, then ends or falls silent."""

    def __init__(self, chunks: list[bytes], *, silent: bool = False) -> None:
        self._chunks = chunks
        self._silent = silent

    async def readany(self) -> bytes:
        if self._chunks:
            return self._chunks.pop(0)
        if self._silent:
            await asyncio.Event().wait()
        return b""


async def read(chunks: list[bytes], max_bytes: int = 1000) -> list[bytes | None]:
    return [line async for line in bounded_lines(Chunks(list(chunks)), max_bytes, 10)]


@pytest.mark.parametrize(
    ("chunks", "lines"),
    [
        ([], []),
        ([b"a\nb\n"], [b"a", b"b"]),
        ([b"a", b"b", b"\nc", b"\n"], [b"ab", b"c"]),
        ([b"a\n\n \r\nb\n"], [b"a", b"b"]),
        ([b"a\nhalf"], [b"a"]),
        ([b"1234\n12345\n1\n"], [b"1234", None, b"1"]),
        ([b"12345", b"678", b"9\nok\n"], [None, b"ok"]),
        ([b"123456"], []),
    ],
    ids=["empty", "two", "split", "blank", "cut", "long", "long-split", "long-cut"],
)
async def test_lines_of_a_stream(chunks: list[bytes], lines: list[bytes | None]) -> None:
    assert await read(chunks, 4) == lines


async def test_silent_stream_times_out() -> None:
    lines = bounded_lines(Chunks([b"a\n"], silent=True), 10, 0.01)

    assert await anext(lines) == b"a"
    with pytest.raises(TimeoutError):
        await anext(lines)


@given(data=st.binary(max_size=200), cuts=st.lists(st.integers(0, 200), max_size=10), max_bytes=st.integers(1, 50))
def test_lines_do_not_depend_on_how_the_stream_is_cut(data: bytes, cuts: list[int], max_bytes: int) -> None:
    bounds = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    chunks = [data[start:end] for start, end in pairwise(bounds)]

    lines = asyncio.run(read(chunks, max_bytes))

    complete = data.split(b"\n")[:-1]
    expected = [line if len(line) <= max_bytes else None for line in complete if line.strip() or len(line) > max_bytes]
    assert lines == expected
