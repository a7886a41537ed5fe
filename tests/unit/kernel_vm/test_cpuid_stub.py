import ctypes
import mmap
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tests.kernel.vm.cpuid_stub import RESCTRL_LEAVES, LeafBits, build_stub

Cpuid = Callable[[int, int], tuple[int, int, int, int]]

needs_x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="runs x86-64 code")


@contextmanager
def callable_stub(code: bytes) -> Iterator[Cpuid]:
    """The generated code as a function of leaf and subleaf."""
    with mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC) as page:
        page.write(code)
        anchor = ctypes.c_char.from_buffer(page)
        address = ctypes.addressof(anchor)
        del anchor  # the page cannot be closed while it is referred to
        signature = ctypes.CFUNCTYPE(None, *[ctypes.POINTER(ctypes.c_uint32)] * 4)

        def cpuid(leaf: int, subleaf: int) -> tuple[int, int, int, int]:
            registers = [ctypes.c_uint32(value) for value in (leaf, 0, subleaf, 0)]
            signature(address)(*(ctypes.byref(register) for register in registers))
            eax, ebx, ecx, edx = (register.value for register in registers)
            return eax, ebx, ecx, edx

        yield cpuid


@needs_x86
def test_stub_without_leaves_answers_as_the_cpu() -> None:
    with callable_stub(build_stub(())) as cpuid:
        _, ebx, ecx, edx = cpuid(0, 0)

    assert b"".join(word.to_bytes(4, "little") for word in (ebx, edx, ecx)) in (b"GenuineIntel", b"AuthenticAMD")


@needs_x86
def test_stub_sets_its_bits_in_its_leaf_and_subleaf_only() -> None:
    bits = LeafBits(leaf=0x10, subleaf=3, eax=0x80000001, ebx=0x10000, ecx=0x300, edx=0x4)
    # Leaves whose answer is the same on every CPU of a machine.
    asked = [(0x10, 3), (0x10, 2), (0x0F, 3), (0x80000000, 0)]

    with callable_stub(build_stub(())) as cpuid:
        plain = {at: cpuid(*at) for at in asked}
    with callable_stub(build_stub((LeafBits(leaf=0x0F, subleaf=0, edx=1), bits))) as cpuid:
        changed = {at: cpuid(*at) for at in asked}

    own = plain.pop((0x10, 3))
    assert changed.pop((0x10, 3)) == tuple(a | b for a, b in zip(own, (0x80000001, 0x10000, 0x300, 0x4), strict=True))
    assert changed == plain


@needs_x86
def test_resctrl_leaves_announce_twelve_ways_and_eight_classes() -> None:
    with callable_stub(build_stub(RESCTRL_LEAVES)) as cpuid:
        eax, ebx, _, edx = cpuid(0x10, 1)

    assert eax & 0b1011 == 11
    assert ebx & 0xC00 == 0xC00
    assert edx & 7 == 7


@pytest.mark.parametrize("bits", [LeafBits(leaf=0x80, subleaf=0), LeafBits(leaf=1, subleaf=128)], ids=["leaf", "sub"])
def test_stub_for_a_leaf_beyond_the_short_comparison_is_refused(bits: LeafBits) -> None:
    with pytest.raises(ValueError, match="cannot compare"):
        build_stub((bits,))
