import gzip
import lzma
import shutil
import struct
import subprocess
from collections.abc import Callable

import pytest

from tests.kernel.vm.kernel_image import KernelImageError, read_payload, unpack

KERNEL = b"\x7fELF" + bytes(range(256)) * 8


def boot_image(payload: bytes, *, setup_sectors: int = 2, offset: int = 100) -> bytes:
    """A boot image as far as unpacking looks at it."""
    head = bytearray((1 + (setup_sectors or 4)) * 512 + offset)
    head[0x1F1] = setup_sectors
    head[0x202:0x206] = b"HdrS"
    struct.pack_into("<II", head, 0x248, offset, len(payload))
    return bytes(head) + payload + b"what follows"


def with_size(stream: bytes) -> bytes:
    return stream + len(KERNEL).to_bytes(4, "little")


def zstd(data: bytes) -> bytes:
    if shutil.which("zstd") is None:
        pytest.skip("zstd is not installed")
    return with_size(subprocess.run(["zstd", "-c", "-q"], input=data, capture_output=True, check=True).stdout)


@pytest.mark.parametrize(
    "compress",
    [gzip.compress, lambda data: with_size(lzma.compress(data, check=lzma.CHECK_CRC32)), zstd],
    ids=["gzip", "xz", "zstd"],
)
@pytest.mark.parametrize("setup_sectors", [0, 2, 30])
def test_unpack_image_gives_the_kernel(compress: Callable[[bytes], bytes], setup_sectors: int) -> None:
    assert unpack(boot_image(compress(KERNEL), setup_sectors=setup_sectors)) == KERNEL


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (b"", "no x86 boot header"),
        (b"\x7fELF" + bytes(2000), "no x86 boot header"),
        (boot_image(gzip.compress(KERNEL))[:600], "no x86 boot header"),
        (boot_image(b"BZh91AY"), "unknown compression 425a68"),
        (boot_image(gzip.compress(b"not an ELF file")), "instead of an ELF file"),
        (boot_image(b"\x1f\x8b damaged"), "cannot unpack the kernel: Error"),
        (boot_image(b"\xfd7zXZ\x00 damaged, but long enough"), "cannot unpack the kernel"),
    ],
    ids=["empty", "no boot header", "cut in header", "bzip2", "no elf", "damaged gzip", "damaged xz"],
)
def test_unpack_what_is_no_kernel_is_refused(image: bytes, message: str) -> None:
    if message == "no x86 boot header":
        image = image[:0x248]

    with pytest.raises(KernelImageError, match=message):
        unpack(image)


def test_payload_cut_short_is_refused_with_its_size() -> None:
    image = boot_image(bytes(1000))[:-500]

    with pytest.raises(KernelImageError, match=f"of {len(image)} bytes"):
        read_payload(image)
