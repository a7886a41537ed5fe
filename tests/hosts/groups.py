"""The control groups of a host: which exist, with which controllers and processes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from tests.hosts.drivers import Driver
from tests.hosts.expand import CpuFacts
from tests.hosts.facts import ContainerFact, GroupFact, PodFact, ServiceFact
from tests.hosts.podset import ContainerSpec, PodSpec, UnitSpec
from tests.hosts.profiles import Profile
from tests.hosts.shape import Host, Layout

# What systemd hands down to units when nothing asks for more. Source: systemd DefaultMemoryAccounting, DefaultTasksMax.
_UNIT_CONTROLLERS = ("memory", "pids")
_WEIGHTED = ("cpu", "io", "memory", "pids")


def controllers_of(profile: Profile, layout: Layout) -> tuple[str, ...]:
    """Controllers of the v2 root, in the kernel's order. The cpuset controller came to v2 with 5.0, hugetlb with 5.6,
    misc with 5.13. Source: Linux kernel/cgroup/cpuset.c, mm/hugetlb_cgroup.c, kernel/cgroup/misc.c."""
    if layout is not Layout.UNIFIED:
        return ()
    known = (
        ("cpuset", profile.has((5, 0))),
        ("cpu", True),
        ("io", True),
        ("memory", True),
        ("hugetlb", profile.has((5, 6), "hugetlb")),
        ("pids", True),
        ("rdma", profile.has((4, 11), "rdma")),
        ("misc", profile.has((5, 13), "misc")),
    )
    return tuple(name for name, here in known if here)


class GroupBuilder:
    """Collects groups, parents before children."""

    def __init__(self, driver: Driver, profile: Profile, layout: Layout, host: Host, cpus: CpuFacts) -> None:
        self._driver = driver
        self._all = controllers_of(profile, layout)
        self._groups: dict[str, GroupFact] = {}
        self._unit_pids = itertools.count(612, 7)
        self._pod_pids = itertools.count(20_011, 13)
        self._static = host.kubelet is not None and host.kubelet.cpu_policy == "static"
        self._free = _whole_cores(cpus)
        self._add("/", "root", self._all)

    @property
    def groups(self) -> tuple[GroupFact, ...]:
        """All groups so far."""
        return tuple(self._groups.values())

    def _add(
        self,
        path: str,
        kind: str,
        handed_down: tuple[str, ...] = (),
        pids: tuple[int, ...] = (),
        threads: int = 1,
        cpus: tuple[int, ...] | None = None,
    ) -> None:
        if path in self._groups:
            return
        above = path.rpartition("/")[0] or "/"
        controllers = self._all if path == "/" else self._groups[above].handed_down
        passed = tuple(c for c in controllers if c in handed_down)
        self._groups[path] = GroupFact(
            path=path,
            kind=kind,
            controllers=controllers,
            handed_down=passed,
            pids=pids,
            threads=threads if pids else 0,
            cpus=cpus if "cpuset" in controllers else None,
            leaf=bool(pids),
        )

    def add_service(self, spec: UnitSpec) -> ServiceFact:
        """Adds a unit and the slices above it."""
        path = ""
        for name in spec.slices:
            path += f"/{name}"
            self._add(path, "slice", _WEIGHTED if path.startswith("/batch") else _UNIT_CONTROLLERS)
        path += f"/{spec.unit}"
        pid = spec.pid or next(self._unit_pids)
        kind = "scope" if spec.unit.endswith(".scope") else "service"
        self._add(path, kind, pids=(pid,), threads=spec.threads)
        return ServiceFact(unit=spec.unit, path=path, pid=pid, comm=spec.comm, threads=spec.threads)

    def add_kubepods(self) -> None:
        """Adds kubelet's own groups, which exist without any pod."""
        for names in (("kubepods",), ("kubepods", "burstable"), ("kubepods", "besteffort")):
            self._add_chain(self._driver.path(*names))

    def _add_chain(self, path: str) -> None:
        parts = path.split("/")
        for end in range(2, len(parts) + 1):
            self._add("/".join(parts[:end]), "slice", self._all)

    def add_pod(self, spec: PodSpec) -> PodFact:
        """Adds a pod and its containers."""
        cgroup_uid = spec.static_hash or spec.uid
        path = self._driver.pod(spec.kube_qos, cgroup_uid)
        self._add(path, "pod", self._all)
        containers = tuple(self._containers(spec, path))
        annotations = dict(spec.annotations)
        if spec.static_hash:
            annotations["kubernetes.io/config.hash"] = spec.static_hash
        return PodFact(
            namespace=spec.namespace,
            name=spec.name,
            uid=spec.uid,
            cgroup_uid=cgroup_uid,
            static=spec.static_hash is not None,
            kube_qos=spec.kube_qos,
            qos_class=spec.qos_class,
            labels=spec.labels,
            annotations=annotations,
            path=path,
            containers=containers,
        )

    def _containers(self, spec: PodSpec, pod_path: str) -> Iterator[ContainerFact]:
        if spec.sandbox and spec.containers:
            yield self._container(spec, ContainerSpec(name="POD"), pod_path, sandbox=True)
        for container in spec.containers:
            yield self._container(spec, container, pod_path, sandbox=False)

    def _container(self, spec: PodSpec, container: ContainerSpec, pod_path: str, *, sandbox: bool) -> ContainerFact:
        container_id = spec.container_id(container.name)
        path = self._driver.container(pod_path, container_id)
        inner = container.children
        if self._driver.crun_child and not inner:
            inner = ("container",)
        cpus = self._take(container.exclusive)
        pids = () if inner else (next(self._pod_pids),)
        self._add(path, "container", _UNIT_CONTROLLERS if inner else (), pids, 1 if sandbox else 5, cpus)
        for name in inner:
            # A group with processes may not hand controllers down.
            if any(other.startswith(f"{name}/") for other in inner):
                self._add(f"{path}/{name}", "inner", _UNIT_CONTROLLERS)
            else:
                self._add(f"{path}/{name}", "inner", pids=(next(self._pod_pids),), threads=3)
        if conmon := self._driver.conmon(pod_path, container_id):
            self._add(conmon, "conmon", (), (next(self._pod_pids),))
        return ContainerFact(
            name=container.name,
            id=container_id,
            path=path,
            sandbox=sandbox,
            cpus=cpus,
            children=tuple(f"{path}/{name}" for name in inner),
        )

    def _take(self, count: int) -> tuple[int, ...] | None:
        """CPUs of its own for a container, whole cores from the highest down; None under policy `none`."""
        if not self._static or not count:
            return None
        taken: list[int] = []
        while len(taken) < count and self._free:
            taken.extend(self._free.pop())
        return tuple(sorted(taken))


def _whole_cores(cpus: CpuFacts) -> list[tuple[int, ...]]:
    usable = {c.siblings: None for c in cpus.cpus if c.online and not set(c.siblings) & set(cpus.isolated)}
    return sorted(usable)
