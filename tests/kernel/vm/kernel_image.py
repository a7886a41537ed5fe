"""Unpack a Linux boot image to the ELF file inside it.

The emulator enters the ELF file directly (PVH), which saves running the kernel's own decompressor under emulation at
each boot.
"""

import lzma
import struct
import subprocess
import zlib

_BOOT_MAGIC = b"HdrS"
_BOOT_MAGIC_AT = 0x202
_SETUP_SECTORS_AT = 0x1F1
_PAYLOAD_AT = 0x248
_SECTOR_BYTES = 512
_DEFAULT_SETUP_SECTORS = 4

_GZIP_WINDOW = 16 + zlib.MAX_WBITS


class KernelImageError(ValueError):
    """The file is not a boot image that can be unpacked."""


def read_payload(image: bytes) -> bytes:
    """The compressed kernel inside a boot image.

    Source: Documentation/arch/x86/boot.rst (setup_sects, payload_offset, payload_length).

    Raises:
        KernelImageError: not a boot image, or cut short.
    """
    if image[_BOOT_MAGIC_AT : _BOOT_MAGIC_AT + 4] != _BOOT_MAGIC or len(image) < _PAYLOAD_AT + 8:
        raise KernelImageError("cannot unpack the kernel: no x86 boot header")
    setup_sectors = image[_SETUP_SECTORS_AT] or _DEFAULT_SETUP_SECTORS
    offset, length = struct.unpack_from("<II", image, _PAYLOAD_AT)
    start = (1 + setup_sectors) * _SECTOR_BYTES + offset
    if start + length > len(image):
        raise KernelImageError(f"cannot unpack the kernel: payload ends at {start + length} of {len(image)} bytes")
    return image[start : start + length]


def decompress(payload: bytes) -> bytes:
    """Unpack a kernel payload compressed with gzip, xz or zstd.

    The build appends the unpacked size to xz and zstd streams; what follows the first stream is ignored.

    Raises:
        KernelImageError: unknown or damaged compression.
    """
    try:
        if payload.startswith(b"\x1f\x8b"):
            return zlib.decompressobj(_GZIP_WINDOW).decompress(payload)
        if payload.startswith(b"\xfd7zXZ\x00"):
            return lzma.LZMADecompressor(lzma.FORMAT_XZ).decompress(payload)
        if payload.startswith(b"\x28\xb5\x2f\xfd"):
            return _unzstd(payload[:-4])
    except (zlib.error, lzma.LZMAError, subprocess.CalledProcessError) as error:
        raise KernelImageError(f"cannot unpack the kernel: {error}") from error
    raise KernelImageError(f"cannot unpack the kernel: unknown compression {payload[:6].hex()}")


def unpack(image: bytes) -> bytes:
    """The ELF kernel inside a boot image.

    Raises:
        KernelImageError: not a boot image, unknown compression, or no ELF file inside.
    """
    kernel = decompress(read_payload(image))
    if not kernel.startswith(b"\x7fELF"):
        raise KernelImageError(f"cannot unpack the kernel: holds {kernel[:4]!r} instead of an ELF file")
    return kernel


def _unzstd(stream: bytes) -> bytes:
    """Python 3.14 is the first with zstd of its own."""
    return subprocess.run(["zstd", "-dc", "--quiet"], input=stream, capture_output=True, check=True).stdout
