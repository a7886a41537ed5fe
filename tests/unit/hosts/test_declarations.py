"""The declarations themselves, and what they come out as, against figures written down here by hand."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from fuyaod.errors import HostFileError
from fuyaod.hostfs.root import HostRoot
from tests.hosts.declare import DRIVERS, HOSTS, PROFILES, Host, declare, materialise
from tests.hosts.faults import FaultyFiles
from tests.hosts.shape import FOLDER, Arch
from tests.hosts.text import cpulist, cpumask, parse_list

CPU = "sys/devices/system/cpu"


def read(root: Path, path: str) -> str | None:
    return (root / path).read_text() if (root / path).exists() else None


def test_hosts_and_files_are_the_same_set() -> None:
    assert sorted(HOSTS) == sorted(path.stem for path in FOLDER.glob("*.toml"))


@pytest.mark.parametrize("name", HOSTS)
def test_declaration_names_known_profile_driver_and_complete_rows(name: str) -> None:
    host = declare(name)
    assert host.profile in PROFILES
    assert host.driver in DRIVERS
    assert [node.id for node in host.nodes] == list(range(len(host.nodes)))
    assert {len(node.distances) for node in host.nodes} == {len(host.nodes)}
    bdfs = {device.bdf for device in host.devices}
    assert len(bdfs) == len(host.devices)
    assert {nic.bdf for nic in host.nics if nic.bdf} <= bdfs


def test_declaration_with_unknown_key_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="colour"):
        msgspec.convert({"name": "x", "colour": 1}, Host)


def test_hosts_cover_both_machines_and_every_layout() -> None:
    hosts = [declare(name) for name in HOSTS]
    assert {host.arch for host in hosts} == set(Arch)
    assert {PROFILES[host.profile].layout.value for host in hosts} | {"hybrid"} >= {"unified", "hybrid"}
    assert {PROFILES[name].layout.value for name in PROFILES} == {"unified", "legacy"}


@pytest.mark.parametrize(
    ("ids", "bits", "as_list", "as_mask"),
    [
        ((), 4, "", "0"),
        ((0,), 1, "0", "1"),
        ((0, 1), 2, "0-1", "3"),
        ((0, 1, 2, 7), 8, "0-2,7", "87"),
        ((4, 5, 6, 7), 128, "4-7", "00000000,00000000,00000000,000000f0"),
        ((33, 39), 40, "33,39", "82,00000000"),
        ((64,), 65, "64", "1,00000000,00000000"),
    ],
    ids=str,
)
def test_lists_and_masks_are_written_as_the_kernel_does(
    ids: tuple[int, ...], bits: int, as_list: str, as_mask: str
) -> None:
    assert cpulist(ids) == as_list
    assert cpumask(ids, bits) == as_mask
    assert parse_list(as_list) == ids


def test_kunpeng_shows_clusters_dies_and_nodes_by_kernel(root: Path) -> None:
    made = materialise(declare("kunpeng920-910b"), root)
    assert read(root, f"{CPU}/cpu37/topology/cluster_cpus_list") == "36-39\n"
    assert read(root, f"{CPU}/cpu37/topology/thread_siblings_list") == "37\n"
    assert read(root, f"{CPU}/cpu37/topology/core_siblings_list") == "0-63\n"
    assert read(root, f"{CPU}/cpu37/topology/die_id") == "-1\n"
    assert read(root, f"{CPU}/cpu37/cache/index3/shared_cpu_list") == "32-63\n"
    assert read(root, f"{CPU}/cpu37/cpufreq/cpuinfo_max_freq") == "2600000\n"
    assert read(root, "sys/devices/system/node/node1/distance") == "12 10 22 24\n"
    assert read(root, "sys/devices/system/node/node1/cpulist") == "32-63\n"
    pools = {path.name for path in (root / "sys/devices/system/node/node0/hugepages").iterdir()}
    assert pools == {f"hugepages-{size}kB" for size in (64, 2048, 32768, 1048576)}
    npus = [device for device in made.devices if device.device == 0xD802]
    assert [npu.node for npu in npus] == [2, 2, 2, None, 0, 0, None, None]
    assert read(root, "sys/bus/pci/devices/0000:41:00.0/numa_node") == "-1\n"
    assert read(root, "sys/bus/pci/devices/0000:41:00.0/class") == "0x120000\n"
    assert read(root, "sys/bus/pci/devices/0000:02:00.0/current_link_speed") == "8.0 GT/s PCIe\n"
    link = root / "sys/bus/pci/devices/0000:c1:00.0"
    assert str(link.readlink()) == "../../../devices/pci0000:c0/0000:c0:00.0/0000:c1:00.0"
    assert (link / "driver").resolve().name == "devdrv_device_driver"


@pytest.mark.parametrize(
    ("profile", "cluster", "die", "core_cpus", "cache_id", "default_huge"),
    [
        ("openeuler-20.03-unified", None, "-1\n", None, None, "hugepages-524288kB"),
        ("openeuler-22.03-unified", "4-7\n", "-1\n", "5\n", "0\n", "hugepages-2048kB"),
        ("ubuntu-22.04", None, "-1\n", "5\n", None, "hugepages-2048kB"),
        ("openeuler-24.03-unified", "4-7\n", None, "5\n", "0\n", "hugepages-2048kB"),
        ("debian-13", "4-7\n", None, "5\n", None, "hugepages-2048kB"),
    ],
)
def test_arm64_topology_files_depend_on_kernel(
    root: Path,
    profile: str,
    cluster: str | None,
    die: str | None,
    core_cpus: str | None,
    cache_id: str | None,
    default_huge: str,
) -> None:
    materialise(declare("kunpeng920-910b"), root, profile=profile, pods=0)
    assert read(root, f"{CPU}/cpu5/topology/cluster_cpus_list") == cluster
    assert read(root, f"{CPU}/cpu5/topology/die_id") == die
    assert read(root, f"{CPU}/cpu5/topology/core_cpus_list") == core_cpus
    assert read(root, f"{CPU}/cpu5/cache/index3/id") == cache_id
    assert (root / "sys/kernel/mm/hugepages" / default_huge).is_dir()


@pytest.mark.parametrize(
    ("profile", "here", "missing"),
    [
        (
            "openeuler-20.03-unified",
            "memory.oom.group",
            "cgroup.freeze cpuset.cpus cpu.idle io.weight memory.numa_stat",
        ),
        (
            "openeuler-22.03-unified",
            "cgroup.freeze cpuset.cpus io.weight",
            "cgroup.kill cpu.idle cpu.max.burst cpu.uclamp.min",
        ),
        (
            "ubuntu-22.04",
            "cgroup.kill cpu.idle cpu.max.burst cpu.uclamp.min misc.max",
            "memory.reclaim memory.peak irq.pressure",
        ),
        (
            "openeuler-24.03-unified",
            "memory.reclaim memory.peak cgroup.pressure irq.pressure memory.qos_level",
            "cpuset.cpus.exclusive cpu.uclamp.min misc.max cpu.qos_level",
        ),
        (
            "debian-13",
            "cpuset.cpus.exclusive memory.reclaim irq.pressure cpu.stat.local",
            "cpu.uclamp.min memory.qos_level",
        ),
    ],
)
def test_group_files_depend_on_kernel(root: Path, profile: str, here: str, missing: str) -> None:
    made = materialise(declare("psi-off"), root, profile=profile)
    group = root / f"sys/fs/cgroup{made.pods[0].containers[1].path}"
    names = {path.name for path in group.iterdir()}
    assert set(here.split()) <= names
    assert not set(missing.split()) & names


def test_default_boot_of_openeuler_has_v1_alone_with_its_qos_files(root: Path) -> None:
    made = materialise(declare("kunpeng920-910b"), root, profile="openeuler-22.03", driver="cgroupfs-docker")
    container = made.pods[0].containers[1].path
    assert made.v2_mount is None
    assert not (root / "sys/fs/cgroup/cgroup.controllers").exists()
    assert read(root, f"sys/fs/cgroup/cpu{container}/cpu.qos_level") == "0\n"
    assert read(root, f"sys/fs/cgroup/memory{container}/memory.qos_level") == "0\n"
    assert "cgroup2" not in (root / "proc/mounts").read_text()


def test_hybrid_host_has_bare_v2_tree_beside_v1(root: Path) -> None:
    made = materialise(declare("cgroup-hybrid"), root)
    group = root / f"{made.v2_mount}{made.pods[0].path}"
    assert made.v2_mount == "sys/fs/cgroup/unified"
    assert (root / "sys/fs/cgroup/unified/cgroup.controllers").read_text() == "\n"
    assert (group / "cgroup.freeze").exists()
    assert not (group / "memory.current").exists()
    assert "nr_periods" not in (group / "cpu.stat").read_text()
    assert (root / f"sys/fs/cgroup/memory{made.pods[0].path}/memory.usage_in_bytes").exists()


def test_epyc_has_sparse_l3_ids_and_laptop_two_kinds_of_core(root: Path) -> None:
    epyc = materialise(declare("epyc-ccx"), root / "epyc", pods=0)
    ids = sorted(cache.id or 0 for cache in epyc.cpus.caches if cache.level == 3)
    assert ids == [*range(8), *range(16, 24)]
    assert read(root, f"epyc/{CPU}/cpu200/cache/index3/shared_cpu_list") == "72-79,200-207\n"
    assert read(root, f"epyc/{CPU}/cpu200/cache/index3/id") == "17\n"
    laptop = materialise(declare("laptop-hybrid"), root / "laptop", pods=0)
    assert read(root, f"laptop/{CPU}/cpu1/topology/thread_siblings_list") == "0-1\n"
    assert read(root, f"laptop/{CPU}/cpu13/topology/cluster_cpus_list") == "12-15\n"
    assert [laptop.cpus.cpus[cpu].max_khz for cpu in (11, 12)] == [5_200_000, 3_900_000]


def test_special_nodes_show_as_declared(root: Path) -> None:
    materialise(declare("cxl-node"), root / "cxl", pods=0)
    assert read(root, "cxl/sys/devices/system/node/node2/cpulist") == "\n"
    assert read(root, "cxl/sys/devices/system/node/has_cpu") == "0-1\n"
    assert read(root, "cxl/sys/devices/virtual/memory_tiering/memory_tier22/nodelist") == "2\n"
    assert read(root, "cxl/sys/bus/dax/devices/dax0.0/target_node") == "2\n"
    old = materialise(declare("cxl-node"), root / "old", profile="ubuntu-22.04", pods=0)
    assert [node.kind for node in old.nodes] == ["dram", "dram", "unknown"]
    assert not (root / "old/sys/bus/dax").exists()
    materialise(declare("memoryless-node"), root / "bare", pods=0)
    assert read(root, "bare/sys/devices/system/node/has_memory") == "0\n"
    assert "Node 1 MemTotal:              0 kB\n" in (root / "bare/sys/devices/system/node/node1/meminfo").read_text()
    assert not (root / "bare/sys/devices/system/node/node1/hugepages").exists()


@pytest.mark.parametrize(
    ("driver", "path"),
    [
        ("cgroupfs-containerd", "/kubepods/burstable/pod{uid}/{id}"),
        ("cgroupfs-crio", "/kubepods/burstable/pod{uid}/crio-{id}"),
        ("cgroupfs-docker", "/kubepods/burstable/pod{uid}/{id}"),
        ("cgroupfs-containerd-nested", "/custom/root/kubepods/burstable/pod{uid}/{id}"),
        (
            "systemd-containerd",
            "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{uid_}.slice/cri-containerd-{id}.scope",
        ),
        ("systemd-crio", "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{uid_}.slice/crio-{id}.scope"),
        (
            "systemd-docker",
            "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{uid_}.slice/docker-{id}.scope",
        ),
        (
            "systemd-containerd-nested",
            "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/"
            "kubelet-kubepods-burstable-pod{uid_}.slice/cri-containerd-{id}.scope",
        ),
    ],
)
def test_container_path_is_that_of_the_driver(root: Path, driver: str, path: str) -> None:
    made = materialise(declare("one-cpu"), root, driver=driver)
    pod = next(pod for pod in made.pods if pod.name.startswith("gateway"))
    container = pod.containers[1]
    assert container.path == path.format(uid=pod.uid, uid_=pod.uid.replace("-", "_"), id=container.id)
    static = next(pod for pod in made.pods if pod.static)
    assert static.cgroup_uid in static.path
    assert static.annotations["kubernetes.io/config.hash"] == static.cgroup_uid


def test_faulty_files_give_the_errno_that_the_kernel_gives(root: Path) -> None:
    made = materialise(declare("psi-refused"), root)
    host = HostRoot(root, FaultyFiles(root, made.faults))
    for path in ("proc/pressure/cpu", f"{made.v2_mount}/cpu.pressure", "sys/class/net/lo/speed"):
        with pytest.raises(HostFileError) as caught:
            host.read(path)
        assert caught.value.errno == made.faults[path]
    assert host.read("proc/loadavg") is not None


def test_static_policy_state_names_the_exclusive_cpus(root: Path) -> None:
    made = materialise(declare("xeon-rdt"), root)
    state = json.loads((root / "var/lib/kubelet/cpu_manager_state").read_text())
    engine = next(c for c in made.pods[0].containers if c.name == "engine")
    assert engine.cpus is not None
    assert state["entries"][made.pods[0].uid] == {"engine": cpulist(engine.cpus)}
    assert not set(engine.cpus) & set(parse_list(state["defaultCpuSet"]))
    assert read(root, f"sys/fs/cgroup{engine.path}/cpuset.cpus") == cpulist(engine.cpus) + "\n"
