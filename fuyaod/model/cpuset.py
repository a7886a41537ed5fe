"""A set of CPU (or NUMA node) numbers, as the kernel writes them in its list and mask files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, final

MAX_ID: Final = 8191
"""Largest number accepted. Source: the largest NR_CPUS that Linux offers is 8192 (arch/x86/Kconfig, MAXSMP)."""


@final
class CpuSet:
    """Immutable set of small numbers with set algebra; `str()` gives the kernel's list format, `"0-3,8"`.

    Held as one integer, bit n set for member n, so algebra over 1024 CPUs costs what an addition costs.

    Raises:
        ValueError: a number is negative or above `MAX_ID`.
    """

    __slots__ = ("_mask",)
    _mask: int

    def __init__(self, members: Iterable[int] = ()) -> None:
        mask = 0
        for member in members:
            if not 0 <= member <= MAX_ID:
                raise ValueError(f"cannot hold CPU {member}: numbers go from 0 to {MAX_ID}")
            mask |= 1 << member
        object.__setattr__(self, "_mask", mask)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"cannot set {name}: a CpuSet is immutable")

    @classmethod
    def from_mask(cls, mask: int) -> CpuSet:
        """The set whose bit mask is `mask`. Raises ValueError when a bit above `MAX_ID` is set."""
        if mask < 0 or mask.bit_length() > MAX_ID + 1:
            raise ValueError(f"cannot hold a mask of {mask.bit_length()} bits: at most {MAX_ID + 1}")
        made = cls.__new__(cls)
        object.__setattr__(made, "_mask", mask)
        return made

    @classmethod
    def from_range(cls, first: int, last: int) -> CpuSet:
        """The set of all numbers from `first` to `last`, both included."""
        if not 0 <= first <= last <= MAX_ID:
            raise ValueError(f"cannot hold range {first}-{last}: numbers go from 0 to {MAX_ID}, low to high")
        return cls.from_mask(((1 << (last - first + 1)) - 1) << first)

    @property
    def mask(self) -> int:
        """The members as bits."""
        return self._mask

    def __reduce__(self) -> tuple[Callable[[int], CpuSet], tuple[int]]:
        """For copy and pickle, which would set the slot otherwise."""
        return CpuSet.from_mask, (self._mask,)

    def __and__(self, other: CpuSet) -> CpuSet:
        return CpuSet.from_mask(self._mask & other._mask)

    def __or__(self, other: CpuSet) -> CpuSet:
        return CpuSet.from_mask(self._mask | other._mask)

    def __sub__(self, other: CpuSet) -> CpuSet:
        return CpuSet.from_mask(self._mask & ~other._mask)

    def __le__(self, other: CpuSet) -> bool:
        return self._mask & ~other._mask == 0

    def __contains__(self, member: int) -> bool:
        return member >= 0 and self._mask >> member & 1 == 1

    def __iter__(self) -> Iterator[int]:
        mask = self._mask
        while mask:
            low = mask & -mask
            yield low.bit_length() - 1
            mask ^= low

    def __len__(self) -> int:
        return self._mask.bit_count()

    def __bool__(self) -> bool:
        return self._mask != 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CpuSet) and self._mask == other._mask

    def __hash__(self) -> int:
        return hash(self._mask)

    def ranges(self) -> Iterator[tuple[int, int]]:
        """Runs of consecutive members as (first, last), low to high."""
        mask, base = self._mask, 0
        while mask:
            skip = (mask & -mask).bit_length() - 1
            mask >>= skip
            run = (~mask & (mask + 1)).bit_length() - 1
            yield base + skip, base + skip + run - 1
            mask >>= run
            base += skip + run

    def __str__(self) -> str:
        return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in self.ranges())

    def __repr__(self) -> str:
        return f"CpuSet({str(self)!r})"


EMPTY: Final = CpuSet()
