"""The agent's own budget."""

import os
from pathlib import Path

import pytest

from fuyaod.cgroups.observe import observe_own_budget
from fuyaod.hostfs import DescriptorBudget, HostRoot, OsFiles


class OldKernelFiles(OsFiles):
    """A kernel before 6.2: the size of the descriptor folder is 0."""

    def stat(self, path: str) -> os.stat_result:  # type: ignore[override]
        """stat(2)."""
        found = os.stat(path)
        return os.stat_result((*found[:6], 0, *found[7:])) if path.endswith("/fd") else found


@pytest.mark.parametrize("files", [OsFiles(), OldKernelFiles()], ids=["size", "listing"])
def test_own_budget_counts_a_descriptor_more_when_one_is_opened(files: OsFiles, tmp_path: Path) -> None:
    here, budget = HostRoot("/", files), DescriptorBudget(100, reserve=0)
    budget.take()
    before = observe_own_budget(here, budget)
    fd = os.open(tmp_path, os.O_RDONLY)

    after = observe_own_budget(here, budget)
    os.close(fd)

    assert before is not None
    assert after is not None
    assert after.open_descriptors == before.open_descriptors + 1
    assert after.rss_bytes > 4 << 20
    assert after.cpu_time_us >= before.cpu_time_us > 0
    assert after.descriptor_limit > after.open_descriptors
    assert after.kernel_pinned_bytes == 4096


def test_own_budget_both_ways_agree() -> None:
    budget = DescriptorBudget(100, reserve=0)

    def both() -> tuple[int, int]:
        fast = observe_own_budget(HostRoot("/"), budget)
        slow = observe_own_budget(HostRoot("/", OldKernelFiles()), budget)
        assert fast is not None
        assert slow is not None
        return fast.open_descriptors, slow.open_descriptors

    # Garbage of other tests may close its descriptors between the two looks, and does so only once.
    assert any(fast == slow for fast, slow in (both() for _ in range(20)))


def test_own_budget_without_proc_is_none(tmp_path: Path) -> None:
    assert observe_own_budget(HostRoot(tmp_path), DescriptorBudget(1)) is None
