"""The census of processes outside pods, and the agent's own budget."""

from __future__ import annotations

from fuyaod.model.values import Value


class Process(Value, frozen=True, kw_only=True):
    """A process outside any pod. `name` is the kernel's short name (15 characters); command lines and users are not
    read."""

    pid: int
    name: str
    cgroup_path: str | None
    cpu_time_us: int
    rss_bytes: int
    threads: int


class Census(Value, frozen=True, kw_only=True):
    """All processes outside pods at the end of one sweep.

    `top` holds those with the most CPU time since the sweep before, then the most memory; at most
    `Observe.census_top` of them.
    """

    at_ns: int
    processes: int
    threads: int
    rss_bytes: int
    in_pods: int
    top: tuple[Process, ...]


class OwnBudget(Value, frozen=True, kw_only=True):
    """What the agent itself uses. `kernel_pinned_bytes` is what kept kernel-file descriptors pin outside its RSS."""

    rss_bytes: int
    cpu_time_us: int
    open_descriptors: int
    descriptor_limit: int
    kernel_pinned_bytes: int
