"""How the C library keeps memory that was given back."""

from __future__ import annotations

import contextlib
from typing import Final

M_MMAP_THRESHOLD: Final = -3
LARGE_BYTES: Final = 131_072
"""glibc's own start value. It grows as large buffers come and go, after which they stay in the heap; set by hand it
stays.

Source: mallopt(3).
"""


def give_large_buffers_back() -> None:
    """Makes every buffer of 128 KiB and more its own mapping, gone when it is freed: an answer of 2 MiB would otherwise
    stay in the agent's RSS for good. Does nothing where the C library is not glibc."""
    import ctypes

    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, LARGE_BYTES)
