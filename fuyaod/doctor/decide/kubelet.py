"""kubelet: who owns CPU sets and memory nodes here, and which of its doors are open."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fuyaod.doctor.decide.verdict import degraded, listed, missing, ok
from fuyaod.model.cpuset import CpuSet
from fuyaod.model.facts import HostFacts
from fuyaod.model.findings import Finding

CONFIG: Final = "/var/lib/kubelet/config.yaml"
CPU_STATE: Final = "/var/lib/kubelet/cpu_manager_state"
MEMORY_STATE: Final = "/var/lib/kubelet/memory_manager_state"
FOLDER_MOUNT: Final = "mount /var/lib/kubelet read-only (hostPath, type Directory) in the DaemonSet"


def diagnose_kubelet(facts: HostFacts) -> Iterator[Finding | None]:
    """Findings `kubelet.*`; only the first on a host without Kubernetes."""
    yield present(facts)
    if not facts.kubelet.folder:
        return
    yield config(facts)
    yield state(facts)
    yield cpu_policy(facts)
    yield memory_policy(facts)
    yield topology_policy(facts)
    yield offline_cpus(facts)
    yield cgroup_driver(facts)
    yield reserved_cpus(facts)
    yield pod_resources(facts)
    yield device_plugins(facts)


def present(facts: HostFacts) -> Finding | None:
    """Whether this is a Kubernetes node whose files we see."""
    if facts.kubelet.folder:
        return ok("kubelet.present", "kubelet keeps its state in /var/lib/kubelet")
    if refusal := facts.refusal("/var/lib/kubelet"):
        return degraded(
            "kubelet.present", refusal.text, cost="kubelet's policies are not known", mend="run `sudo fuyaoctl doctor`"
        )
    if facts.cgroup.pod_roots:
        return missing(
            "kubelet.present",
            f"there are pods in {listed(list(facts.cgroup.pod_roots))}, and no /var/lib/kubelet",
            cost="it is not known which CPUs kubelet gave away exclusively: the agent sets no CPU sets at all",
            mend=FOLDER_MOUNT,
        )
    if facts.kernel.release is None:
        return None
    return ok("kubelet.present", "no kubelet here: classes come from systemd units and settings")


def config(facts: HostFacts) -> Finding:
    """Whether kubelet's configuration is where kubeadm puts it."""
    if facts.kubelet.config is not None:
        return ok("kubelet.config", f"{CONFIG} read, {len(facts.kubelet.config)} top-level values")
    refusal = facts.refusal(CONFIG)
    return degraded(
        "kubelet.config",
        refusal.text if refusal else f"no {CONFIG}: kubelet runs with `--config` elsewhere or with flags",
        cost="topology policy, reserved CPUs and cgroup driver are not known from kubelet itself",
        mend="run `sudo fuyaoctl doctor`" if refusal else f"link the file that `--config` names to {CONFIG}",
    )


def state(facts: HostFacts) -> Finding | None:
    """Whether what kubelet is told and what it does agree."""
    kubelet = facts.kubelet
    for path in (CPU_STATE, MEMORY_STATE):
        if refusal := facts.refusal(path):
            return degraded(
                "kubelet.state",
                refusal.text,
                cost="exclusive CPUs and pinned memory are not known: the agent sets no CPU sets",
                mend="run `sudo fuyaoctl doctor`"
                if refusal.denied
                else f"drain the node, `systemctl stop kubelet && rm {path} && systemctl start kubelet`",
            )
    if kubelet.cpu_state is None:
        return None
    told = (kubelet.config or {}).get("cpuManagerPolicy")
    if told is not None and told != kubelet.cpu_state.policy:
        return degraded(
            "kubelet.state",
            f"{CONFIG} says cpuManagerPolicy {told}, the state file says {kubelet.cpu_state.policy}",
            cost="kubelet still runs with the old policy, and will not start with the new one",
            mend=f"drain the node, `systemctl stop kubelet && rm {CPU_STATE} && systemctl start kubelet`",
        )
    return ok("kubelet.state", f"CPU manager state: policy {kubelet.cpu_state.policy}")


def cpu_policy(facts: HostFacts) -> Finding | None:
    """Who owns CPU sets. Under policy static kubelet writes those of containers every 10 s."""
    cpu_state = facts.kubelet.cpu_state
    policy = cpu_state.policy if cpu_state else configured(facts, "cpuManagerPolicy", "none")
    if policy is None:
        return None
    if policy == "none":
        return ok("kubelet.cpu_policy", "cpuManagerPolicy none: CPU sets are fuyaod's to set")
    exclusive = cpu_state.exclusive if cpu_state else CpuSet()
    given = f"CPUs {exclusive} of {cpu_state.containers} containers" if cpu_state and exclusive else "no CPUs so far"
    return degraded(
        "kubelet.cpu_policy",
        f"cpuManagerPolicy {policy}: kubelet owns CPU sets, {given} given away exclusively",
        cost="kubelet rewrites the containers' CPU sets: nobody else may touch those CPUs, so HLS pods get none",
        mend="leave it, or drain the node, set `cpuManagerPolicy: none`, "
        f"`systemctl stop kubelet && rm {CPU_STATE} && systemctl start kubelet`",
    )


def memory_policy(facts: HostFacts) -> Finding | None:
    """Who owns memory nodes."""
    memory_state = facts.kubelet.memory_state
    policy = memory_state.policy if memory_state else configured(facts, "memoryManagerPolicy", "None")
    if policy is None:
        return None
    if policy.lower() == "none":
        return ok("kubelet.memory_policy", "memoryManagerPolicy None: memory nodes are fuyaod's to choose")
    count = memory_state.containers if memory_state else 0
    return degraded(
        "kubelet.memory_policy",
        f"memoryManagerPolicy {policy}: kubelet pinned the memory of {count} containers",
        cost="fuyaod does not choose memory nodes for Guaranteed pods",
        mend="leave it, or drain the node, set `memoryManagerPolicy: None`, "
        f"`systemctl stop kubelet && rm {MEMORY_STATE} && systemctl start kubelet`",
    )


def topology_policy(facts: HostFacts) -> Finding | None:
    """Whether kubelet itself refuses pods over NUMA alignment."""
    policy = configured(facts, "topologyManagerPolicy", "none")
    if policy is None:
        return None
    scope = configured(facts, "topologyManagerScope", "container")
    if policy in ("none", "best-effort"):
        return ok("kubelet.topology_policy", f"topologyManagerPolicy {policy}, scope {scope}")
    return degraded(
        "kubelet.topology_policy",
        f"topologyManagerPolicy {policy}, scope {scope}",
        cost="kubelet rejects pods it cannot align (TopologyAffinityError) after the scheduler has placed them",
        mend="set `topologyManagerPolicy: best-effort` and leave alignment to fuyaod, or keep it and schedule with "
        "`volcano.sh/numa-topology-policy`",
    )


def offline_cpus(facts: HostFacts) -> Finding | None:
    """The trap: under policy static kubelet does not start when CPUs went offline (kubernetes#71622, #124066)."""
    cpu_state, online = facts.kubelet.cpu_state, facts.cpu.online
    if cpu_state is None or online is None:
        return None
    if cpu_state.policy == "none":
        return ok("kubelet.offline_cpus", "cpuManagerPolicy none: CPUs that go offline do not stop kubelet")
    known = cpu_state.default | cpu_state.exclusive
    gone, new = known - online, online - known
    if not gone and not new:
        return ok("kubelet.offline_cpus", f"kubelet's state names the CPUs that are online ({online})")
    told = [f"CPUs {gone} of its state are offline"] if gone else []
    told += [f"CPUs {new} are online and not in its state"] if new else []
    return degraded(
        "kubelet.offline_cpus",
        "cpuManagerPolicy static, and " + " and ".join(told),
        cost="kubelet refuses to start after its next restart, and pods with CPUs that are gone fail",
        mend=f"bring the CPUs back (see cpu.offline), or drain the node and `rm {CPU_STATE}` with kubelet stopped",
    )


def cgroup_driver(facts: HostFacts) -> Finding | None:
    """Which driver named the groups. Two trees mean that a driver was changed and the old tree was left behind."""
    roots = facts.cgroup.pod_roots
    if not roots:
        return None
    told = configured(facts, "cgroupDriver", None)
    found = {"systemd" if path.endswith(".slice") else "cgroupfs" for path in roots}
    names = listed(list(roots))
    if len(found) > 1:
        return degraded(
            "kubelet.cgroup_driver",
            f"groups of both cgroup drivers: {names}",
            cost="pods under the old tree are counted and controlled twice or not at all",
            mend="drain the node, stop kubelet, `rmdir` the empty groups of the old tree (or reboot), start kubelet",
        )
    driver = next(iter(found))
    if told is not None and told != driver:
        return degraded(
            "kubelet.cgroup_driver",
            f"{CONFIG} says cgroupDriver {told}, the groups are those of {driver}: {names}",
            cost="runtime and kubelet may name groups differently: pods are not matched to their groups",
            mend=f"set `cgroupDriver: {driver}` (and the same in the runtime), then `systemctl restart kubelet`",
        )
    return ok("kubelet.cgroup_driver", f"cgroup driver {driver}: {names}")


def reserved_cpus(facts: HostFacts) -> Finding | None:
    """Whether the system's own daemons have CPUs of their own."""
    if facts.kubelet.config is None:
        return None
    if reserved := facts.kubelet.config.get("reservedSystemCPUs"):
        return ok("kubelet.reserved_cpus", f"reservedSystemCPUs {reserved}")
    return degraded(
        "kubelet.reserved_cpus",
        f"no reservedSystemCPUs in {CONFIG}",
        cost="system daemons and the agent share all CPUs with pods, HLS cores included",
        mend='add `reservedSystemCPUs: "0-1"` (two CPUs of one core) to it and `systemctl restart kubelet`',
    )


def pod_resources(facts: HostFacts) -> Finding:
    """kubelet's PodResources socket: which device and which exclusive CPU belongs to which container."""
    path = "/var/lib/kubelet/pod-resources"
    if facts.kubelet.pod_resources_socket:
        return ok("kubelet.pod_resources", f"{path}/kubelet.sock is there")
    return missing(
        "kubelet.pod_resources",
        f"no {path}/kubelet.sock",
        cost="it is not known which NPU belongs to which pod: no placement by device, no cut-over for a sick device",
        mend=f"mount the folder {path} (hostPath, type Directory; not the socket, which a restart replaces)",
    )


def device_plugins(facts: HostFacts) -> Finding | None:
    """Whether some device plugin announces the accelerators to kubelet."""
    if not facts.accelerators.devices:
        return None
    plugins = facts.kubelet.device_plugins
    if plugins:
        return ok("kubelet.device_plugins", f"device plugins: {listed(list(plugins))}")
    folder = "/var/lib/kubelet/device-plugins"
    return missing(
        "kubelet.device_plugins",
        f"no {folder}" if plugins is None else f"no device plugin has a socket in {folder}",
        cost=f"the {len(facts.accelerators.devices)} accelerators cannot be asked for by pods",
        mend="install ascend-device-plugin or the NVIDIA device plugin; in the DaemonSet mount " + folder,
    )


def configured(facts: HostFacts, key: str, default: str | None) -> str | None:
    """A value of kubelet's configuration; what is not named there has Kubernetes' default. None without the file.

    Source: Kubernetes pkg/kubelet/apis/config/v1beta1/defaults.go.
    """
    return None if facts.kubelet.config is None else facts.kubelet.config.get(key, default)
