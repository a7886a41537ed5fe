import struct

import pytest

from tests.kernel.vm.cpuid_stub import RESCTRL_LEAVES, build_stub
from tests.kernel.vm.kernel_image import KernelImageError
from tests.kernel.vm.resctrl_image import find_text, offer_resctrl

TEXT_AT = 0x1000
CPUID_AT = 0x40
# endbr64; mov r8, rdi; mov eax, [r8]; mov ecx, [rdx]; cpuid; mov [r8], eax; ret
CPUID_FUNCTION = bytes.fromhex("f30f1efa 4989f8 418b00 8b0a 0fa2 418900 c3")
TRACED_FUNCTION = bytes.fromhex("f30f1efa e800000000 0fa2 418900 c3")


def kernel(functions: dict[int, bytes], *, text_bytes: int = 0x1000, name: bytes = b".text") -> bytes:
    """An ELF file with one section of code and one of names."""
    text = bytearray(b"\xcc" * text_bytes)
    text[:16] = bytes(range(16))
    for at, code in functions.items():
        text[at : at + len(code)] = code
    names = b"\0" + name + b"\0.shstrtab\0"
    names_at = TEXT_AT + text_bytes
    table_at = names_at + len(names)
    head = bytearray(TEXT_AT)
    head[:4] = b"\x7fELF"
    struct.pack_into("<Q", head, 40, table_at)
    struct.pack_into("<HHH", head, 58, 64, 3, 2)
    sections = [
        bytes(64),
        struct.pack("<IIQQQQ", 1, 1, 6, 0xFFFFFFFF81000000, TEXT_AT, text_bytes).ljust(64, b"\0"),
        struct.pack("<IIQQQQ", 1 + len(name) + 1, 3, 0, 0, names_at, len(names)).ljust(64, b"\0"),
    ]
    return bytes(head + text) + names + b"".join(sections)


def test_offer_resctrl_jumps_from_the_cpuid_function_to_the_stub() -> None:
    image = kernel({CPUID_AT: CPUID_FUNCTION, 0x80: TRACED_FUNCTION})
    stub = build_stub(RESCTRL_LEAVES)

    patched = offer_resctrl(image)

    jump_at = TEXT_AT + CPUID_AT + 4
    assert patched[jump_at] == 0xE9
    (distance,) = struct.unpack_from("<i", patched, jump_at + 1)
    target = jump_at + 5 + distance
    assert patched[target : target + len(stub)] == stub


def test_offer_resctrl_changes_nothing_but_filling_and_the_jump() -> None:
    image = kernel({CPUID_AT: CPUID_FUNCTION})

    patched = offer_resctrl(image)

    changed = [at for at in range(len(image)) if image[at] != patched[at]]
    jump = range(TEXT_AT + CPUID_AT + 4, TEXT_AT + CPUID_AT + 9)
    assert len(patched) == len(image)
    assert all(at in jump or image[at] == 0xCC for at in changed)


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (b"\x7fELF", "cannot read the kernel's sections"),
        (kernel({CPUID_AT: CPUID_FUNCTION}, name=b".data"), r"cannot find the section \.text"),
        (kernel({CPUID_AT: TRACED_FUNCTION}), "0 candidates"),
        (kernel({CPUID_AT: CPUID_FUNCTION, 0x100: CPUID_FUNCTION}), "2 candidates"),
        (kernel({CPUID_AT + 8: CPUID_FUNCTION}), "0 candidates"),
        (kernel({CPUID_AT: CPUID_FUNCTION, 0x180: b"\x90" * 64}, text_bytes=0x200), "64 free"),
    ],
    ids=["cut", "no text", "only a traced function", "two functions", "not at a function's start", "no room"],
)
def test_offer_resctrl_unexpected_kernel_is_refused(image: bytes, message: str) -> None:
    with pytest.raises(KernelImageError, match=message):
        offer_resctrl(image)


def test_find_text_gives_offset_and_size() -> None:
    assert find_text(kernel({}, text_bytes=0x600)) == (TEXT_AT, 0x600)
