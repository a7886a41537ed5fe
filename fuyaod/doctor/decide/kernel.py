"""Kernel, distribution, systemd, and the files the tool was refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fuyaod.doctor.decide.verdict import degraded, listed, missing, ok, version_of
from fuyaod.model.facts import HostFacts
from fuyaod.model.findings import Finding

OLDEST: Final = (5, 10)
"""The oldest kernel with everything the fast path needs: PSI (4.20), freeze (5.2) and openEuler's own patches."""

MACHINES: Final = ("aarch64", "x86_64")


def diagnose_kernel(facts: HostFacts) -> Iterator[Finding | None]:
    """Findings `host.*`, `kernel.*` and `systemd.*`."""
    yield readable(facts)
    yield release(facts)
    yield machine(facts)
    yield distribution(facts)
    yield systemd(facts)


def readable(facts: HostFacts) -> Finding:
    """Whether anything was refused; a refusal may hide behind any other finding."""
    if not facts.refused:
        return ok("host.readable", "every file that was looked for could be read or is not there")
    denied = [refusal.path for refusal in facts.refused if refusal.denied]
    damaged = [refusal.text for refusal in facts.refused if not refusal.denied]
    told = [f"no permission for {listed(denied)}"] if denied else []
    told += [f"not understood: {listed(damaged, 3)}"] if damaged else []
    return degraded(
        "host.readable",
        "; ".join(told),
        cost="what these files hold is not known, and findings about it may be wrong",
        mend="run `sudo fuyaoctl doctor`; in a DaemonSet mount the folder with a hostPath volume and run as root"
        if denied
        else "look at the file named here: another program wrote it, or the disk is damaged",
    )


def release(facts: HostFacts) -> Finding:
    """Kernel release against the oldest one that has all that is needed."""
    version, text = version_of(facts.kernel.release), facts.kernel.release
    if version is None:
        return missing(
            "kernel.release",
            f"the kernel release is not known ({text!r})" if text else "no /proc/sys/kernel/osrelease below this root",
            cost="nothing here can be trusted: this root shows no running kernel",
            mend="give the host's own root: `fuyaoctl doctor --root /host` with hostPath `/` mounted at /host",
        )
    if version < OLDEST:
        return degraded(
            "kernel.release",
            f"Linux {text}, older than {OLDEST[0]}.{OLDEST[1]}",
            cost="files of cgroup v2 and pressure stall information are missing; see the findings below",
            mend="boot openEuler 22.03 or later, Ubuntu 22.04 or later, or any kernel from 5.10 on",
        )
    return ok("kernel.release", f"Linux {text}")


def machine(facts: HostFacts) -> Finding | None:
    """Machine type: only two are tested."""
    name = facts.kernel.machine
    if name is None:
        return None
    if name not in MACHINES:
        return degraded(
            "kernel.machine",
            f"machine type {name!r}",
            cost="the topology and resctrl readers are tested on aarch64 and x86_64 only",
            mend="check `fuyaoctl snapshot` against `lscpu` and `numactl -H` before letting the agent act",
        )
    return ok("kernel.machine", name)


def distribution(facts: HostFacts) -> Finding:
    """The distribution's name, for the snapshot and for people."""
    name = facts.kernel.os_name or facts.kernel.os_id
    if not name:
        return degraded(
            "kernel.distribution",
            "no /etc/os-release below this root",
            cost="the snapshot and the metrics do not say which distribution this node runs",
            mend="mount the host's /etc/os-release read-only (hostPath, type File)",
        )
    return ok("kernel.distribution", name)


def systemd(facts: HostFacts) -> Finding | None:
    """Whether systemd manages this host: it owns the slices, and it feeds the bare-metal source."""
    kernel = facts.kernel
    if not kernel.systemd_running:
        if kernel.release is None:
            return None
        return missing(
            "systemd.running",
            "systemd is not the init of this host (no /run/systemd/system)",
            cost="no systemd units to map to classes, no sd_notify watchdog: a hung agent is restarted by nobody",
            mend="on a host with systemd mount /run/systemd read-only; elsewhere keep the DaemonSet's liveness probe",
        )
    version = kernel.systemd_version
    if version and version.isdecimal() and int(version) < 244:
        return degraded(
            "systemd.running",
            f"systemd {version}",
            cost="AllowedCPUs= and cpuset delegation came with 244: systemd may take cpusets away on daemon-reload",
            mend="update systemd, or let the agent re-assert its values (it compares them on every slow tick)",
        )
    return ok("systemd.running", f"systemd {version}" if version else "systemd, version not told by any file")
