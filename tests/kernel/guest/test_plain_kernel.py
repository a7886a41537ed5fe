"""The boot on the kernel as it is distributed, without systemd."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.plain_boot


def test_kernel_as_distributed_offers_no_resctrl() -> None:
    assert "resctrl" not in Path("/proc/filesystems").read_text()


def test_command_of_the_plain_boot_lives_in_the_root_cgroup() -> None:
    assert Path("/proc/self/cgroup").read_text() == "0::/\n"
    assert Path("/proc/1/comm").read_text() == "bash\n"
