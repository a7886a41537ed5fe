"""Machine code that answers CPUID with features the emulated CPU does not have.

The emulator implements no resctrl feature, but its CPUs accept the control registers behind it without complaint.
Only the enumeration is missing. A kernel that asks this code instead of the CPU offers the resctrl file system with
its real rules and error texts; nothing is isolated and counters read 0.
"""

import msgspec

_ENDBR64 = b"\xf3\x0f\x1e\xfa"
_PROLOGUE = (
    _ENDBR64
    + b"\x53"  # push rbx: callee-saved, and CPUID writes it
    + b"\x49\x89\xf8\x49\x89\xf1\x49\x89\xd2\x49\x89\xcb"  # r8, r9, r10, r11 = the four pointers
    + b"\x41\x8b\x00\x41\x8b\x0a"  # eax = *r8 (leaf), ecx = *r10 (subleaf)
    + b"\x89\xc7\x89\xce"  # edi = leaf, esi = subleaf
    + b"\x0f\xa2"  # cpuid
)
_EPILOGUE = b"\x41\x89\x00\x41\x89\x19\x41\x89\x0a\x41\x89\x13" + b"\x5b\xc3"  # store the four, pop rbx, ret
_OR_IMMEDIATE = (b"\x0d", b"\x81\xcb", b"\x81\xc9", b"\x81\xca")  # or eax / ebx / ecx / edx, imm32


class LeafBits(msgspec.Struct, frozen=True, kw_only=True):
    """Bits that are set in the answer to one CPUID leaf and subleaf (both below 128)."""

    leaf: int
    subleaf: int
    eax: int = 0
    ebx: int = 0
    ecx: int = 0
    edx: int = 0


RESCTRL_LEAVES = (
    LeafBits(leaf=0x07, subleaf=0, ebx=1 << 12 | 1 << 15),  # monitoring and allocation exist
    LeafBits(leaf=0x0F, subleaf=0, ebx=31, edx=1 << 1),  # 32 RMIDs, L3 monitoring
    LeafBits(leaf=0x0F, subleaf=1, ebx=64 << 10, ecx=31, edx=0b111),  # 64 KiB units; occupancy, total, local
    LeafBits(leaf=0x10, subleaf=0, ebx=1 << 1 | 1 << 3),  # L3 and memory bandwidth allocation
    LeafBits(leaf=0x10, subleaf=1, eax=12 - 1, ebx=0xC00, ecx=1 << 2, edx=8 - 1),  # 12 ways, top 2 shared, CDP
    LeafBits(leaf=0x10, subleaf=3, eax=90 - 1, ecx=1 << 2, edx=8 - 1),  # throttles up to 90 %, linear
)
"""A part with 8 classes. Source: Intel SDM volume 2A, CPUID leaves 07H, 0FH, 10H."""


def build_stub(leaves: tuple[LeafBits, ...]) -> bytes:
    """Code with the signature `void cpuid(u32 *eax, u32 *ebx, u32 *ecx, u32 *edx)` (System V), position independent.

    Args:
        leaves: what is added to the CPU's own answers.

    Raises:
        ValueError: a leaf or subleaf that does not fit the short comparison.
    """
    return _PROLOGUE + b"".join(_add_bits(bits) for bits in leaves) + _EPILOGUE


def _add_bits(bits: LeafBits) -> bytes:
    if not (0 <= bits.leaf < 128 and 0 <= bits.subleaf < 128):
        raise ValueError(f"cannot compare with leaf {bits.leaf:#x} subleaf {bits.subleaf:#x}")
    values = (bits.eax, bits.ebx, bits.ecx, bits.edx)
    change = b"".join(
        opcode + value.to_bytes(4, "little") for opcode, value in zip(_OR_IMMEDIATE, values, strict=True) if value
    )
    if_subleaf = b"\x83\xfe" + bytes([bits.subleaf]) + b"\x75" + bytes([len(change)])  # cmp esi; jne behind it
    if_leaf = b"\x83\xff" + bytes([bits.leaf]) + b"\x75" + bytes([len(if_subleaf) + len(change)])
    return if_leaf + if_subleaf + change
