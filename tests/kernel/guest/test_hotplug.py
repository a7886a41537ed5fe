"""The kernel's own events say what to look at again."""

import errno
import os
import select
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from fuyaod.hostfs import HostRoot
from fuyaod.numa.observe import HotplugEvents, Topic
from tests.kernel.guest.sysfs import CPU_FOLDER
from tests.kernel.guest.waiting import wait_until
from tests.kernel.vm.spec import Vm

MEMORY_FOLDER = Path("/sys/devices/system/memory")


@pytest.fixture
def events() -> Iterator[HotplugEvents]:
    """A subscription with nothing in it yet."""
    opened = HotplugEvents.open(HostRoot("/"))
    assert opened.findings == ()
    assert opened.value is not None
    assert opened.value.drain() == frozenset()
    yield opened.value
    opened.value.close()


def topics(events: HotplugEvents, least: Topic) -> frozenset[Topic]:
    """All topics up to the one that is waited for."""
    seen: set[Topic] = set()

    def heard() -> bool:
        if select.select([events], [], [], 0)[0]:
            seen.update(events.drain())
        return least in seen

    wait_until(heard, f"an event of {least.value}", within_s=20)
    return frozenset(seen)


def test_events_of_a_cpu_name_the_topology(events: HotplugEvents, vm_spec: Vm) -> None:
    switch = CPU_FOLDER / f"cpu{vm_spec.cpus - 1}/online"
    try:
        switch.write_text("0")
        assert topics(events, Topic.TOPOLOGY) == {Topic.TOPOLOGY}
    finally:
        switch.write_text("1")
    assert topics(events, Topic.TOPOLOGY) == {Topic.TOPOLOGY}


def test_events_of_a_memory_block_name_the_topology(events: HotplugEvents) -> None:
    blocks = sorted(MEMORY_FOLDER.glob("memory[0-9]*"), key=lambda path: int(path.name.removeprefix("memory")))
    block = next(filter(goes_offline, reversed(blocks)))
    try:
        assert topics(events, Topic.TOPOLOGY) == {Topic.TOPOLOGY}
    finally:
        (block / "state").write_text("online")
    assert topics(events, Topic.TOPOLOGY) == {Topic.TOPOLOGY}


def goes_offline(block: Path) -> bool:
    """Take a block of memory offline; one whose pages cannot move stays."""
    state = os.open(block / "state", os.O_WRONLY)
    try:
        os.write(state, b"offline")
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        return False
    finally:
        os.close(state)
    return True


def test_events_of_a_network_device_name_the_nics(events: HotplugEvents) -> None:
    subprocess.run(["modprobe", "dummy", "numdummies=0"], check=True)
    assert topics_of_ip(events, "add") == {Topic.NICS}
    assert topics_of_ip(events, "del") == {Topic.NICS}


def topics_of_ip(events: HotplugEvents, verb: str) -> frozenset[Topic]:
    """Topics of a virtual network device that comes or goes."""
    subprocess.run(["ip", "link", verb, "fuyaod0", "type", "dummy"], check=True)
    return topics(events, Topic.NICS)
