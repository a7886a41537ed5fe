"""A kernel image that offers the resctrl file system on CPUs that do not enumerate it.

The kernel asks CPUID through one function. Its first instruction is replaced by a jump to the code of `cpuid_stub`,
which is laid into the filling behind the last function of `.text`: no instruction of the kernel is overwritten but
those five bytes.
"""

import re
import struct

from tests.kernel.vm.cpuid_stub import RESCTRL_LEAVES, build_stub
from tests.kernel.vm.kernel_image import KernelImageError

_FILLING = b"\xcc"
_ALIGN_BYTES = 64
_JUMP_BYTES = 5

# endbr64; no tracing call (inline functions have none); soon cpuid, and eax stored through a pointer right behind it.
_CPUID_FUNCTION = re.compile(rb"(\xf3\x0f\x1e\xfa)(?!\xe8).{5,27}?\x0f\xa2\x41?\x89[\x00-\x03\x06\x07]", re.DOTALL)


def offer_resctrl(kernel: bytes) -> bytes:
    """Copy of an uncompressed x86-64 kernel whose CPUs enumerate L3 and bandwidth allocation and monitoring.

    Raises:
        KernelImageError: the kernel is not built the way this needs; the message says what is missing.
    """
    start, size = find_text(kernel)
    text = kernel[start : start + size]
    stub = build_stub(RESCTRL_LEAVES)
    stub_at = _find_filling(text, len(stub))
    jump_at = _find_cpuid_function(text)
    jump = b"\xe9" + struct.pack("<i", stub_at - (jump_at + _JUMP_BYTES))
    patched = bytearray(kernel)
    patched[start + stub_at : start + stub_at + len(stub)] = stub
    patched[start + jump_at : start + jump_at + _JUMP_BYTES] = jump
    return bytes(patched)


def find_text(kernel: bytes) -> tuple[int, int]:
    """File offset and size of the section `.text` in an ELF64 file.

    Raises:
        KernelImageError: no such section, or not a complete ELF64 file.
    """
    try:
        (table,) = struct.unpack_from("<Q", kernel, 40)
        entry_bytes, count, names_index = struct.unpack_from("<HHH", kernel, 58)
        entries = [struct.unpack_from("<IIQQQQ", kernel, table + i * entry_bytes) for i in range(count)]
        names_at = entries[names_index][4]
    except (struct.error, IndexError) as error:
        raise KernelImageError(f"cannot read the kernel's sections: {error}") from error
    for name, _kind, _flags, _address, offset, size in entries:
        if kernel[names_at + name : names_at + name + 6] == b".text\x00":
            return offset, size
    raise KernelImageError("cannot find the section .text in the kernel")


def _find_filling(text: bytes, stub_bytes: int) -> int:
    code_bytes = len(text.rstrip(_FILLING))
    at = -(-code_bytes // _ALIGN_BYTES) * _ALIGN_BYTES + _ALIGN_BYTES
    if at + stub_bytes + _ALIGN_BYTES > len(text):
        raise KernelImageError(f"cannot lay {stub_bytes} bytes behind the kernel's code: {len(text) - code_bytes} free")
    return at


def _find_cpuid_function(text: bytes) -> int:
    """Offset of the first byte behind the landing pad of the function that runs CPUID for everybody."""
    found = [match.end(1) for match in _CPUID_FUNCTION.finditer(text) if match.start() % 16 == 0]
    if len(found) != 1:
        raise KernelImageError(f"cannot tell which function runs CPUID for the kernel: {len(found)} candidates")
    return found[0]
