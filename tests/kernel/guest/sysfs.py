"""The few formats these tests need, read in the plainest way: the product's own parsers are what is under test."""

from pathlib import Path

CPU_FOLDER = Path("/sys/devices/system/cpu")
NODE_FOLDER = Path("/sys/devices/system/node")

KERNEL_KEEPS_MIB = 128
"""At most this much of a node: kernel image and page structures are taken out before its memory is counted."""


def read_word(path: Path) -> str:
    """Content without surrounding white space."""
    return path.read_text().strip()


def cpu_list(cpus: range) -> str:
    """A run of CPUs as the kernel prints it."""
    return str(cpus[0]) if len(cpus) == 1 else f"{cpus[0]}-{cpus[-1]}"


def read_flat(path: Path) -> dict[str, int]:
    """A file of `key value` lines."""
    return {key: int(value) for key, value in (line.split() for line in path.read_text().splitlines())}
