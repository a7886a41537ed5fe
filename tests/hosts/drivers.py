"""Where kubelet and the runtimes put the groups of pods and containers, per cgroup driver.

Source: Kubernetes pkg/kubelet/cm/cgroup_manager_linux.go (names), containerd, CRI-O and cri-dockerd naming.
"""

from __future__ import annotations

import msgspec


class Driver(msgspec.Struct, frozen=True, kw_only=True):
    """A way to name groups. `above` are cgroup names above kubepods (`--cgroup-root`; kind uses `kubelet`).

    `crun_child`: crun under CRI-O puts the processes into a child named `container`.
    """

    name: str
    manager: str
    runtime: str
    above: tuple[str, ...] = ()
    crun_child: bool = False

    def path(self, *names: str) -> str:
        """The path of nested cgroup names, e.g. `kubepods`, `burstable`, `pod<uid>`."""
        parts = (*self.above, *names)
        if self.manager == "cgroupfs":
            return "/" + "/".join(parts)
        escaped = [part.replace("-", "_") for part in parts]
        return "".join(f"/{'-'.join(escaped[: end + 1])}.slice" for end in range(len(escaped)))

    def pod(self, kube_qos: str, cgroup_uid: str) -> str:
        """The group of a pod. Guaranteed pods sit directly in kubepods."""
        middle = () if kube_qos == "Guaranteed" else (kube_qos.lower(),)
        return self.path("kubepods", *middle, f"pod{cgroup_uid}")

    def container(self, pod_path: str, container_id: str) -> str:
        """The group of a container."""
        prefix = {"containerd": "cri-containerd-", "cri-o": "crio-", "docker": "docker-"}[self.runtime]
        if self.manager == "systemd":
            return f"{pod_path}/{prefix}{container_id}.scope"
        return f"{pod_path}/crio-{container_id}" if self.runtime == "cri-o" else f"{pod_path}/{container_id}"

    def conmon(self, pod_path: str, container_id: str) -> str | None:
        """The group of CRI-O's monitor beside a container; it is no container. None for other runtimes."""
        if self.runtime != "cri-o":
            return None
        ending = ".scope" if self.manager == "systemd" else ""
        return f"{pod_path}/crio-conmon-{container_id}{ending}"


DRIVERS: dict[str, Driver] = {
    driver.name: driver
    for driver in (
        Driver(name="systemd-containerd", manager="systemd", runtime="containerd"),
        Driver(name="systemd-crio", manager="systemd", runtime="cri-o"),
        Driver(name="systemd-crio-crun", manager="systemd", runtime="cri-o", crun_child=True),
        Driver(name="systemd-docker", manager="systemd", runtime="docker"),
        Driver(name="systemd-containerd-nested", manager="systemd", runtime="containerd", above=("kubelet",)),
        Driver(name="cgroupfs-containerd", manager="cgroupfs", runtime="containerd"),
        Driver(name="cgroupfs-crio", manager="cgroupfs", runtime="cri-o"),
        Driver(name="cgroupfs-docker", manager="cgroupfs", runtime="docker"),
        Driver(name="cgroupfs-containerd-nested", manager="cgroupfs", runtime="containerd", above=("custom", "root")),
    )
}
