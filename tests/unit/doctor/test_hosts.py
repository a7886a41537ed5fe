"""Declared hosts: what doctor must notice on each."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest

from fuyaod.doctor import diagnose, observe_facts
from fuyaod.hostfs import HostRoot
from fuyaod.model.findings import Finding, FindingStatus
from tests.hosts.declare import HOSTS, declare, materialise
from tests.hosts.faults import FaultyFiles
from tests.hosts.scratch import scratch_root

OK, DEGRADED, MISSING = FindingStatus.OK, FindingStatus.DEGRADED, FindingStatus.MISSING

NOTICED = [
    ("kunpeng920-910b", "cpu.model", OK, "Kunpeng 920"),
    ("kunpeng920-910b", "npu.present", OK, "Ascend 910B on 8 PCI functions"),
    ("kunpeng920-910b", "npu.affinity", DEGRADED, "3 of 8 devices"),
    ("kunpeng920-910b", "cgroup.cpu_idle", MISSING, "lacks it"),
    ("kunpeng920-910b", "kubelet.cpu_policy", DEGRADED, "static"),
    ("kunpeng920-910b", "memory.hugepages", DEGRADED, "1 GiB not on node 1 2 3"),
    ("a3-910c", "npu.affinity", OK, "by design"),
    ("a3-910c", "psi.system", MISSING, ""),
    ("a3-910c", "psi.cgroup", MISSING, "EOPNOTSUPP"),
    ("a3-910c", "kubelet.cgroup_driver", OK, "cgroupfs"),
    ("a3-910c", "resctrl.capable", MISSING, "MPAM is off"),
    ("xeon-rdt", "resctrl.classes", OK, "15"),
    ("xeon-rdt", "resctrl.bandwidth", OK, "MB from 10"),
    ("xeon-rdt", "cpu.isolated", DEGRADED, "31,95"),
    ("cgroup-hybrid", "cgroup.hierarchy", DEGRADED, "hybrid"),
    ("cgroup-hybrid", "cgroup.controllers", MISSING, "not cpu cpuset memory io pids"),
    ("psi-off", "psi.cgroup", MISSING, "EOPNOTSUPP"),
    ("psi-refused", "psi.system", MISSING, "EOPNOTSUPP"),
    ("offline-cpus", "cpu.offline", DEGRADED, "offline"),
    ("memoryless-node", "memory.nodes", DEGRADED, "without memory"),
    ("cxl-node", "memory.nodes", OK, "without CPUs"),
]


@pytest.fixture(scope="module")
def findings_of() -> Callable[[str], dict[str, Finding]]:
    """Findings of a declared host by id; each host is made once."""

    @functools.cache
    def found(name: str) -> dict[str, Finding]:
        with scratch_root() as root:
            made = materialise(declare(name), root)
            facts = observe_facts(HostRoot(root, files=FaultyFiles(root, made.faults)))
        return {finding.id: finding for finding in diagnose(facts)}

    return found


@pytest.mark.parametrize(
    ("name", "finding_id", "status", "says"), NOTICED, ids=[f"{name}-{finding}" for name, finding, *_ in NOTICED]
)
def test_doctor_on_declared_host_notices(
    findings_of: Callable[[str], dict[str, Finding]], name: str, finding_id: str, status: FindingStatus, says: str
) -> None:
    finding = findings_of(name)[finding_id]

    assert finding.status is status, finding
    assert says in finding.summary


@pytest.mark.parametrize("name", HOSTS)
def test_doctor_on_declared_host_reads_everything(findings_of: Callable[[str], dict[str, Finding]], name: str) -> None:
    findings = findings_of(name)

    assert findings["host.readable"].status is OK, findings["host.readable"].summary
    assert findings["kernel.release"].summary.startswith("Linux ")
    assert "pci.device" not in findings
