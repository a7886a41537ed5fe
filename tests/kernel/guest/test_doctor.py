"""`fuyaoctl doctor` says of the machine what it was told to be."""

import json
from collections.abc import Sequence

import pytest

from tests.kernel.guest.agents import ctl
from tests.kernel.vm.spec import InitMode, Vm

SAME_IN_BOTH = {
    "host.readable": "ok",
    "kernel.release": "ok",
    "kernel.machine": "ok",
    "cgroup.hierarchy": "ok",
    "cgroup.controllers": "ok",
    "cgroup.writable": "ok",
    "cgroup.memory_recursiveprot": "ok",
    "cgroup.freeze": "ok",
    "cgroup.kill": "ok",
    "cgroup.cpu_idle": "ok",
    "cgroup.cpuset_exclusive": "ok",
    "cgroup.memory_reclaim": "ok",
    "cgroup.memory_oom_group": "ok",
    "cgroup.io_cost": "ok",
    "psi.system": "ok",
    "psi.cgroup": "ok",
    "psi.trigger": "ok",
    "privilege.sys_admin": "ok",
    "privilege.sys_resource": "ok",
    "kubelet.present": "missing",  # there are groups of pods
    "npu.present": "ok",
    "memory.nodes": "ok",
    "memory.numa_balancing": "degraded",
    "memory.swap": "ok",
    "cpu.smt": "ok",
    "cpu.isolated": "ok",
    "clock.monotonic": "ok",
    "agent.state_dir": "ok",
}


def examine(under: Sequence[str] = ()) -> dict[str, str]:
    """States by id, of a doctor that runs under a command."""
    done = ctl("doctor", "--json", under=under)
    assert done.returncode == 1, done.stderr
    return {finding["id"]: finding["status"] for finding in json.loads(done.stdout)["findings"]}


@pytest.mark.usefixtures("kubepods")
def test_doctor_states_are_those_of_the_machine(vm_spec: Vm) -> None:
    systemd = vm_spec.mode is InitMode.SYSTEMD
    expected = {
        **SAME_IN_BOTH,
        "systemd.running": "ok" if systemd else "missing",
        "resctrl.capable": "ok" if vm_spec.rdt else "missing",
    }

    found = examine()

    assert {id: found.get(id) for id in expected} == expected
    assert ("resctrl.mounted" in found) is vm_spec.rdt


@pytest.mark.plain_boot
def test_doctor_cgroups_that_cannot_be_written_are_missing() -> None:
    # A bind: without it the file system itself would become read-only, for everybody.
    read_only = 'mount -o remount,bind,ro /sys/fs/cgroup && exec "$0" "$@"'

    found = examine(["unshare", "--mount", "sh", "-c", read_only])

    assert found["cgroup.writable"] == "missing"
    assert found["cgroup.hierarchy"] == "ok"
