"""This machine, compared with what other sources say of it."""

from __future__ import annotations

import os
import socket
import time

import psutil
import pytest

from fuyaod.hostfs import HostRoot
from fuyaod.model.values import encode
from fuyaod.numa.observe import (
    observe_accelerators,
    observe_cpu_time,
    observe_nics,
    observe_node_memory,
    observe_system_memory,
    observe_topology,
)

pytestmark = pytest.mark.skipif(
    not os.path.exists("/sys/devices/system/cpu/online"), reason="this machine has no sysfs at /sys"
)

MAX_CPU_S_PER_CPU = 0.025
"""Five times the 10 ms that two CPUs may take, so that a busy machine does not fail the test."""


def test_this_machine_topology_agrees_with_the_c_library() -> None:
    started = time.process_time()
    topology = observe_topology(HostRoot(), time.monotonic_ns()).value
    spent_s = time.process_time() - started

    cpu = topology.cpu
    assert len(cpu.online) == os.sysconf("SC_NPROCESSORS_ONLN")
    assert os.sched_getaffinity(0) <= set(cpu.online)
    assert sum(len(core) for core in cpu.cores()) == len(cpu.online)
    assert topology.devices == observe_accelerators(HostRoot()).value
    assert encode(topology)
    assert spent_s < MAX_CPU_S_PER_CPU * len(cpu.present)


def test_this_machine_memory_and_cpu_time_agree_with_psutil() -> None:
    memory, cpu_time = observe_system_memory(HostRoot()).value, observe_cpu_time(HostRoot()).value

    assert memory is not None
    assert cpu_time is not None
    assert memory.total_bytes == psutil.virtual_memory().total
    assert cpu_time.idle_us / 1e6 == pytest.approx(psutil.cpu_times().idle, abs=30)


def test_this_machine_nodes_have_memory() -> None:
    nodes = observe_topology(HostRoot(), 0).value.nodes

    memory = observe_node_memory(HostRoot(), nodes).value

    assert [m.node for m in memory] == [n.node for n in nodes]
    assert all(0 <= m.free_bytes <= m.total_bytes for m in memory)


def test_this_machine_nics_are_interfaces_of_the_kernel() -> None:
    nics = observe_nics(HostRoot()).value

    known = {name for _, name in socket.if_nameindex()}
    if not {nic.name for nic in nics} <= known:
        pytest.skip("/sys is mounted for another network namespace than this process's")
    assert "lo" not in {nic.name for nic in nics}
    assert all(nic.rx_bytes is not None for nic in nics)
