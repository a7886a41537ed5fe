"""How the kernel writes lists, masks and tables. Kept apart from the product's own code, which is tested against it."""

from __future__ import annotations

from collections.abc import Iterable


def cpulist(ids: Iterable[int]) -> str:
    """Numbers in the kernel's list format, `0-3,8`; empty for none. Source: Linux lib/vsprintf.c, `%*pbl`."""
    runs: list[list[int]] = []
    for number in sorted(set(ids)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def cpumask(ids: Iterable[int], bits: int) -> str:
    """Numbers in the kernel's mask format, groups of 32 bits from high to low, padded to `bits`.

    Source: Linux lib/vsprintf.c, `%*pb`.
    """
    value = sum(1 << number for number in set(ids))
    width = bits % 32 or 32
    groups = [f"{value >> (bits - width):0{(width + 3) // 4}x}"]
    for low in range(bits - width - 32, -1, -32):
        groups.append(f"{value >> low & 0xFFFFFFFF:08x}")
    return ",".join(groups)


def parse_list(text: str) -> tuple[int, ...]:
    """The numbers of a list such as `0-3,8`, in the order written."""
    found: list[int] = []
    for item in text.split(","):
        if item:
            first, _, last = item.partition("-")
            found.extend(range(int(first), int(last or first) + 1))
    return tuple(found)


def table(rows: Iterable[tuple[str, object]]) -> str:
    """Flat-keyed lines, `name value`."""
    return "".join(f"{name} {value}\n" for name, value in rows)
