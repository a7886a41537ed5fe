"""Container runtime and NRI."""

from __future__ import annotations

from collections.abc import Iterator

from fuyaod.doctor.decide.verdict import listed, missing, ok
from fuyaod.model.facts import HostFacts
from fuyaod.model.findings import Finding


def diagnose_runtime(facts: HostFacts) -> Iterator[Finding | None]:
    """Findings `runtime.*`; none on a host without pods and without a runtime."""
    if not (facts.kubelet.folder or facts.cgroup.pod_roots or facts.runtime.sockets):
        return
    yield socket(facts)
    yield nri(facts)


def socket(facts: HostFacts) -> Finding:
    """Whether the runtime's socket is seen."""
    runtime = facts.runtime
    if runtime.sockets:
        versions = f" ({listed(list(runtime.versions))})" if runtime.versions else ""
        return ok("runtime.socket", f"runtime at {listed(list(runtime.sockets))}{versions}")
    return missing(
        "runtime.socket",
        "no socket of containerd, CRI-O or iSulad below /run",
        cost="the runtime's cgroup driver is told by the names of groups alone",
        mend="mount /run/containerd (or /run/crio) with a hostPath volume; a CRI socket is full control of the node: "
        "leave it out when NRI is there",
    )


def nri(facts: HostFacts) -> Finding:
    """Whether placement can be decided before a container starts."""
    if facts.runtime.nri_socket:
        return ok("runtime.nri", f"{facts.runtime.nri_socket} is there")
    crio = any("crio" in path for path in facts.runtime.sockets)
    mend = (
        "in /etc/crio/crio.conf: `[crio.nri]` `enable_nri = true`, then `systemctl restart crio`"
        if crio
        else 'in /etc/containerd/config.toml: `[plugins."io.containerd.nri.v1.nri"]` `disable = false` (containerd '
        "1.7 or later, on by default from 2.0), then `systemctl restart containerd`"
    )
    return missing(
        "runtime.nri",
        "no /var/run/nri/nri.sock",
        cost="CPUs and memory nodes are set after a container has started: its first memory may lie on the wrong node",
        mend=mend + "; in the DaemonSet mount /var/run/nri",
    )
