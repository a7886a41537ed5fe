"""What the agent itself uses."""

from __future__ import annotations

import resource

from fuyaod.errors import FuyaodError
from fuyaod.hostfs import DescriptorBudget, HostRoot
from fuyaod.model.process import OwnBudget


def observe_own_budget(here: HostRoot, budget: DescriptorBudget) -> OwnBudget | None:
    """Memory, CPU time and descriptors of this very process; None where its `/proc` cannot be read.

    Args:
        here: `HostRoot("/")`: the process's own `/proc`, whatever host is observed: in the host's, mounted in a
            container, our pid is another process.
        budget: the one that counts kept descriptors.
    """
    try:
        statm = here.read_text("proc/self/statm")
        descriptors = _open_descriptors(here)
        if statm is None or descriptors is None:
            return None
        rss_pages = int(statm.split()[1])
    except (FuyaodError, ValueError, IndexError):
        return None
    used = resource.getrusage(resource.RUSAGE_SELF)
    return OwnBudget(
        rss_bytes=rss_pages * resource.getpagesize(),
        cpu_time_us=round((used.ru_utime + used.ru_stime) * 1_000_000),
        open_descriptors=descriptors,
        descriptor_limit=resource.getrlimit(resource.RLIMIT_NOFILE)[0],
        kernel_pinned_bytes=budget.pinned_bytes,
    )


def _open_descriptors(here: HostRoot) -> int | None:
    """Since Linux 6.2 the folder's size is the number of descriptors, which saves listing thousands of names.

    Source: Linux commit f1f1f2569901 ("proc: report open files as size in stat() for /proc/pid/fd").
    """
    folder = here.stat("proc/self/fd")
    if folder is None:
        return None
    if folder.st_size > 0:
        return folder.st_size
    names = here.list("proc/self/fd")
    return None if names is None else len(names) - 1  # one of them is the listing itself
