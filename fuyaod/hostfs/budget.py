"""How many descriptors may be kept open."""

from __future__ import annotations

import resource
from collections.abc import Callable
from typing import Final

PINNED_BYTES_PER_DESCRIPTOR: Final = 4096
"""A kept seq_file descriptor holds one page of kernel memory after its first read.

Source: Linux fs/seq_file.c (seq_read_iter allocates PAGE_SIZE and keeps it); 4,808 descriptors were measured at about
20 MiB of slab on 6.18.
"""


def raise_descriptor_limit(
    getrlimit: Callable[[int], tuple[int, int]] = resource.getrlimit,
    setrlimit: Callable[[int, tuple[int, int]], None] = resource.setrlimit,
) -> int:
    """Raises the soft limit of open files to the hard one. Returns the limit now in force.

    An endless hard limit is no figure to count against, and Linux refuses it as a soft one: the soft limit stays.

    Args:
        getrlimit: getrlimit(2).
        setrlimit: setrlimit(2).
    """
    soft, hard = getrlimit(resource.RLIMIT_NOFILE)
    if soft == hard or hard == resource.RLIM_INFINITY:
        return soft
    try:
        setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError):  # a sandbox that forbids setrlimit: the agent then keeps fewer descriptors
        return soft
    return hard


class DescriptorBudget:
    """Counts kept descriptors; `take` says no near the limit, and the file is then opened for each read.

    Args:
        limit: the process's limit of open files.
        reserve: descriptors left for sockets, logs and one-off reads.
    """

    def __init__(self, limit: int, reserve: int = 256) -> None:
        self.limit = max(0, limit - reserve)
        self.kept = 0

    def take(self) -> bool:
        """Whether one more descriptor may be kept; counts it if so."""
        if self.kept >= self.limit:
            return False
        self.kept += 1
        return True

    def give_back(self) -> None:
        """A kept descriptor was closed."""
        self.kept -= 1

    @property
    def pinned_bytes(self) -> int:
        """Kernel memory behind the kept descriptors, which no RSS shows."""
        return self.kept * PINNED_BYTES_PER_DESCRIPTOR
