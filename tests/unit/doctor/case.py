"""One case: facts that break or keep a finding, and ways to write such facts down."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from fuyaod.model.cgroup import CgroupMode
from fuyaod.model.cpuset import CpuSet
from fuyaod.model.facts import CgroupLevel, CpuManagerState, HostFacts, PsiState, Refusal
from fuyaod.model.findings import FindingStatus
from tests.unit.doctor.ideal import GPU, GROUP_FILES, NPU, but, level

OK, DEGRADED, MISSING = FindingStatus.OK, FindingStatus.DEGRADED, FindingStatus.MISSING


class Case(NamedTuple):
    """Facts under which `id` has `status`; `says` stands in the summary, `mends` in the mend."""

    id: str
    name: str
    facts: HostFacts
    status: FindingStatus
    says: str
    mends: str = ""


def levels(**of_pods: Any) -> tuple[CgroupLevel, ...]:
    """The way down, with the pods' group changed."""
    return (level("/"), level("/kubepods.slice", **of_pods))


def without(file: str) -> HostFacts:
    """A kernel that lacks one file of a group."""
    files = tuple(name for name in GROUP_FILES if name != file)
    return but("cgroup", levels=levels(files=files), others=())


def static(default: CpuSet, exclusive: CpuSet) -> dict[str, Any]:
    """kubelet's state under policy static."""
    state = CpuManagerState(policy="static", default=default, exclusive=exclusive, containers=2)
    return {"cpu_state": state, "config": {"cpuManagerPolicy": "static"}}


def refused(path: str, *, denied: bool) -> Refusal:
    """A file that could not be read."""
    return Refusal(path=path, text=f"cannot read {path}: why", denied=denied)


def psi(state: PsiState) -> dict[str, PsiState]:
    """All system pressure files in one state."""
    return dict.fromkeys(("cpu", "memory", "io", "irq"), state)


def replace(facts: HostFacts, part: str, **changes: Any) -> HostFacts:
    """Any facts with some fields of one part changed."""
    return msgspec.structs.replace(facts, **{part: msgspec.structs.replace(getattr(facts, part), **changes)})


STATE = "/var/lib/kubelet/cpu_manager_state"
NO_NODES = tuple(msgspec.structs.replace(device, numa_node=None) for device in (NPU, GPU))
A3 = msgspec.structs.replace(NPU, device_id=0xD803, numa_node=None)
UNBOUND = tuple(msgspec.structs.replace(device, driver=None) for device in (NPU, GPU))
HYBRID = but(
    "cgroup", mode=CgroupMode.HYBRID, mount="sys/fs/cgroup/unified", v1_controllers=("cpu",), levels=(), others=()
)
ARM_BARE = replace(but("kernel", machine="aarch64"), "resctrl", known=False, mounted=False, flags=())
ROOT_ALONE = but("cgroup", levels=(level("/"),), others=())
