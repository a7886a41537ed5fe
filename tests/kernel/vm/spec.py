"""What a virtual machine is told to be. The guest gets the same value and compares it with what it sees."""

import enum

import msgspec

SELF_DISTANCE = 10
NEAR_DISTANCE = 12
FAR_DISTANCE = 21


class InitMode(enum.Enum):
    """Who is process 1 in the guest."""

    PLAIN = "plain"
    SYSTEMD = "systemd"


class Vm(msgspec.Struct, frozen=True, kw_only=True):
    """Shape of a virtual machine.

    CPU numbers follow the topology: the threads of a core are neighbours, the cores of a socket come next. A NUMA
    node is a run of CPU numbers of equal length, so a socket may hold several nodes, or a node several sockets. A
    socket is one L3 domain.

    Args:
        cpus: logical CPUs.
        nodes: NUMA nodes, each with the same number of CPUs and the same memory.
        sockets: CPU packages.
        threads: logical CPUs per core.
        mem_mib: memory of all nodes together, in MiB.
        mode: process 1 of the guest.
        rdt: kernel whose CPUs enumerate L3 and bandwidth allocation. The resctrl protocol is the kernel's own, but
            nothing is isolated and every counter reads 0.
        disk_mib: size of an empty virtio disk (`/dev/vda`) in MiB; 0 for none.

    Raises:
        ValueError: the numbers do not divide evenly.
    """

    cpus: int = 8
    nodes: int = 4
    sockets: int = 4
    threads: int = 2
    mem_mib: int = 4096
    mode: InitMode = InitMode.PLAIN
    rdt: bool = False
    disk_mib: int = 0

    def __post_init__(self) -> None:
        for name in ("cpus", "nodes", "sockets", "threads", "mem_mib"):
            if getattr(self, name) < 1:
                raise ValueError(f"cannot build a machine with {name}={getattr(self, name)}")
        if self.disk_mib < 0:
            raise ValueError(f"cannot build a machine with disk_mib={self.disk_mib}")
        if self.cpus % (self.sockets * self.threads):
            raise ValueError(
                f"cannot spread {self.cpus} CPUs over {self.sockets} sockets of {self.threads}-thread cores"
            )
        if self.cpus % (self.nodes * self.threads):
            raise ValueError(f"cannot spread {self.cpus} CPUs over {self.nodes} nodes of {self.threads}-thread cores")
        if self.mem_mib % self.nodes:
            raise ValueError(f"cannot spread {self.mem_mib} MiB over {self.nodes} nodes")

    @property
    def cores_per_socket(self) -> int:
        """Physical cores in each socket."""
        return self.cpus // (self.sockets * self.threads)

    @property
    def node_mem_mib(self) -> int:
        """Memory of each NUMA node in MiB."""
        return self.mem_mib // self.nodes

    def node_cpus(self, node: int) -> range:
        """CPUs of a NUMA node."""
        return _run(node, self.cpus // self.nodes)

    def core_cpus(self, cpu: int) -> range:
        """CPUs that share the physical core of `cpu`, itself included."""
        return _run(cpu // self.threads, self.threads)

    def l3_domains(self) -> tuple[range, ...]:
        """CPUs behind each L3 cache, one entry per socket."""
        return tuple(_run(socket, self.cpus // self.sockets) for socket in range(self.sockets))

    def distance(self, source: int, target: int) -> int:
        """NUMA distance: nodes come in near pairs, as on a two-socket board with two dies per socket."""
        if source == target:
            return SELF_DISTANCE
        return NEAR_DISTANCE if source // 2 == target // 2 else FAR_DISTANCE


def _run(index: int, length: int) -> range:
    return range(index * length, (index + 1) * length)
