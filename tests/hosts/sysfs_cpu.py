"""Writes /sys/devices/system/cpu.

Source of names and formats: Linux Documentation/ABI/{stable,testing}/sysfs-devices-system-cpu, and the folder itself on
an x86-64 machine.
"""

from __future__ import annotations

from tests.hosts.expand import CpuFacts, threads_of
from tests.hosts.facts import CacheFact, CpuFact
from tests.hosts.profiles import Profile
from tests.hosts.shape import Arch, Host
from tests.hosts.text import cpulist, cpumask
from tests.hosts.writer import Tree

_BASE = "sys/devices/system/cpu"
_FREQ_FILES = ("cpuinfo_max_freq", "scaling_max_freq", "scaling_cur_freq")


class _Masks:
    """List and map files of a set, each worked out once."""

    def __init__(self, bits: int, *, lean: bool) -> None:
        self._bits = bits
        self._lean = lean
        self._known: dict[tuple[int, ...], tuple[str, str]] = {}

    def files(
        self, name: str, cpus: tuple[int, ...], map_suffix: str = "", list_suffix: str = "_list"
    ) -> dict[str, str]:
        if cpus not in self._known:
            self._known[cpus] = (cpulist(cpus) + "\n", "" if self._lean else cpumask(cpus, self._bits) + "\n")
        as_list, as_map = self._known[cpus]
        found = {name + list_suffix: as_list}
        if not self._lean:
            found[name + map_suffix] = as_map
        return found


def write_cpus(tree: Tree, host: Host, profile: Profile, facts: CpuFacts) -> None:
    """Writes the folder for all CPUs."""
    masks = _Masks(max(facts.possible) + 1, lean=host.cpu.lean)
    tree.put_all(_BASE, _summary(host, facts))
    _write_smt(tree, host, profile, facts)
    caches: dict[int, list[CacheFact]] = {}
    for cache in facts.caches:
        for cpu in cache.cpus:
            caches.setdefault(cpu, []).append(cache)
    cache_files = {id(cache): _cache(cache, masks) for cache in facts.caches}
    blocks = [thread.block for thread in threads_of(host)]
    for fact in facts.cpus:
        folder = f"{_BASE}/cpu{fact.cpu}"
        tree.folder(folder)
        if fact.node is not None:
            tree.link(f"{folder}/node{fact.node}", f"../../node/node{fact.node}")
        # x86 cannot take CPU 0 offline, so it has no such file there.
        if fact.cpu or host.arch is Arch.ARM64:
            tree.put(f"{folder}/online", f"{int(fact.online)}\n")
        if not fact.online:
            continue
        capacity = blocks[fact.cpu].capacity
        if host.arch is Arch.ARM64 or capacity is not None:
            tree.put(f"{folder}/cpu_capacity", f"{capacity or 1024}\n")
        tree.put_all(f"{folder}/topology", _topology(fact, host, profile, masks))
        for index, cache in enumerate(caches.get(fact.cpu, ())):
            tree.put_all(f"{folder}/cache/index{index}", cache_files[id(cache)])
        _write_freq(tree, fact, blocks[fact.cpu].min_khz)


def _summary(host: Host, facts: CpuFacts) -> dict[str, str]:
    files = {
        "possible": cpulist(facts.possible),
        "present": cpulist(facts.present),
        "online": cpulist(facts.online),
        "offline": cpulist(facts.offline),
        "isolated": cpulist(facts.isolated),
        "kernel_max": "4095" if host.arch is Arch.ARM64 else "8191",
    }
    if host.cpu.nohz_full is not None:
        files["nohz_full"] = cpulist(facts.nohz_full)
    return {name: text + "\n" for name, text in files.items()}


def _write_smt(tree: Tree, host: Host, profile: Profile, facts: CpuFacts) -> None:
    # arm64 shows the folder with "notimplemented" since 5.3; 4.19 has it on x86 alone.
    if host.arch is Arch.ARM64 and not profile.has((5, 3)):
        return
    capable = any(block.threads > 1 for block in host.cpu.cores)
    control = "notimplemented" if host.arch is Arch.ARM64 else "on" if capable else "notsupported"
    tree.put_all(f"{_BASE}/smt", {"active": f"{int(facts.smt_active)}\n", "control": f"{control}\n"})


def _topology(fact: CpuFact, host: Host, profile: Profile, masks: _Masks) -> dict[str, str]:
    wanted = profile.topology_files(host.arch)
    files = {"core_id": f"{fact.core_id}\n", "physical_package_id": f"{fact.package_id}\n"}
    files |= masks.files("thread_siblings", fact.siblings) | masks.files("core_siblings", fact.package_cpus)
    if "core_cpus" in wanted:
        files |= masks.files("core_cpus", fact.siblings)
    if "package_cpus" in wanted:
        files |= masks.files("package_cpus", fact.package_cpus)
    if "die_id" in wanted:
        files["die_id"] = f"{-1 if fact.die_id is None else fact.die_id}\n"
    if fact.die_cpus is not None:
        files |= masks.files("die_cpus", fact.die_cpus)
    if fact.cluster_cpus is not None:
        files["cluster_id"] = f"{-1 if fact.cluster_id is None else fact.cluster_id}\n"
        files |= masks.files("cluster_cpus", fact.cluster_cpus)
    return files


def _cache(cache: CacheFact, masks: _Masks) -> dict[str, str]:
    files = {"level": f"{cache.level}\n", "type": f"{cache.type}\n", "size": f"{cache.size_kib}K\n"}
    if cache.id is not None:
        files["id"] = f"{cache.id}\n"
    return files | masks.files("shared_cpu", cache.cpus, "_map", "_list")


def _write_freq(tree: Tree, fact: CpuFact, min_khz: int) -> None:
    if fact.max_khz is None:
        return
    policy = f"{_BASE}/cpufreq/policy{fact.cpu}"
    tree.put_all(
        policy,
        {
            **dict.fromkeys(_FREQ_FILES, f"{fact.max_khz}\n"),
            "cpuinfo_min_freq": f"{min_khz}\n",
            "scaling_governor": "performance\n",
            "affected_cpus": f"{fact.cpu}\n",
            "related_cpus": f"{fact.cpu}\n",
        },
    )
    tree.link(f"{_BASE}/cpu{fact.cpu}/cpufreq", f"../cpufreq/policy{fact.cpu}")
