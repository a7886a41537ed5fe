"""Everything `doctor` looks at. Reads only; what is not there or refused is a value, nothing raises."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from fuyaod.doctor.observe.cgroup import observe_cgroup
from fuyaod.doctor.observe.clock import observe_clock
from fuyaod.doctor.observe.cpu import observe_cpu
from fuyaod.doctor.observe.devices import observe_drivers
from fuyaod.doctor.observe.kernel import observe_kernel
from fuyaod.doctor.observe.kubelet import observe_kubelet, observe_runtime
from fuyaod.doctor.observe.memory import observe_memory
from fuyaod.doctor.observe.process import observe_process
from fuyaod.doctor.observe.psi import observe_psi
from fuyaod.doctor.observe.reader import Reader
from fuyaod.doctor.observe.resctrl import observe_resctrl
from fuyaod.hostfs import HostRoot
from fuyaod.model.devices import DeviceKind
from fuyaod.model.facts import AgentFacts, HostFacts
from fuyaod.numa.observe.pci import observe_accelerators

__all__ = ["observe_facts"]


def observe_facts(host: HostRoot, *, state_dir: str | None = None, brand_deadline_s: float = 3.0) -> HostFacts:
    """The facts of one host; never raises for what a host file holds or refuses.

    Args:
        host: the root to look at.
        state_dir: folder the agent will keep its journal in (absolute, of this machine); None leaves that check out.
        brand_deadline_s: seconds py-cpuinfo may take where `/proc/cpuinfo` names no CPU model; 0 does not ask it.
    """
    reader = Reader(host)
    cgroup = observe_cgroup(reader)
    devices = observe_accelerators(host)
    facts = HostFacts(
        found=devices.findings,
        kernel=observe_kernel(reader),
        cgroup=cgroup,
        psi=observe_psi(reader, cgroup),
        process=observe_process(reader),
        resctrl=observe_resctrl(reader),
        kubelet=observe_kubelet(reader),
        runtime=observe_runtime(reader),
        accelerators=observe_drivers(reader, tuple(d for d in devices.value if d.kind is not DeviceKind.ACCELERATOR)),
        memory=observe_memory(reader),
        cpu=observe_cpu(reader, brand_deadline_s),
        clock=observe_clock(reader),
        agent=observe_agent(state_dir),
    )
    return msgspec.structs.replace(facts, refused=reader.refused)


def observe_agent(state_dir: str | None) -> AgentFacts:
    """Whether the state folder, or the nearest folder above it that exists, may be written. Nothing is made."""
    if state_dir is None:
        return AgentFacts()
    folder = Path(os.path.abspath(state_dir))
    while not os.path.lexists(folder):
        folder = folder.parent
    return AgentFacts(state_dir=state_dir, writable=folder.is_dir() and os.access(folder, os.W_OK | os.X_OK))
