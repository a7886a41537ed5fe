"""What is read of process, resctrl, kubelet, devices, memory, CPUs and clocks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fuyaod.doctor import diagnose, observe_facts
from fuyaod.doctor.observe import observe_agent
from fuyaod.doctor.observe.clock import monotonic_offset_ns, observe_clock
from fuyaod.doctor.observe.cpu import cpu_model, observe_cpu
from fuyaod.doctor.observe.devices import observe_drivers
from fuyaod.doctor.observe.kubelet import config_scalars, observe_kubelet, observe_runtime
from fuyaod.doctor.observe.memory import observe_memory
from fuyaod.doctor.observe.process import observe_process
from fuyaod.doctor.observe.resctrl import observe_resctrl
from fuyaod.hostfs import HostRoot
from fuyaod.model.cpuset import CpuSet
from fuyaod.model.facts import CpuManagerState, HostFacts, Limit
from fuyaod.model.topology import Hugepages
from tests.unit.doctor.tree import reader

KUBELET = "var/lib/kubelet"
CGROUP = "sys/fs/cgroup"


STATUS = "Name:\tx\nCapEff:\t000001fffeffffff\nNoNewPrivs:\t1\n"
LIMITS = (
    "Limit                     Soft Limit           Hard Limit           Units     \n"
    "Max locked memory         67108864             unlimited            bytes     \n"
    "Max open files            1024                 524288               files     \n"
)


def test_process_status_limits_and_namespace_are_read(tmp_path: Path) -> None:
    files = {
        "proc/self/status": STATUS,
        "proc/self/limits": LIMITS,
        "proc/self/ns/pid": "-> pid:[4026531836]",
        "proc/self/cgroup": "3:cpu,cpuacct:/a\n0::/\n",
        f"{CGROUP}/cpu/a/cpu.rt_runtime_us": "0\n",
        "proc/sys/kernel/sched_rt_runtime_us": "-1\n",
    }
    facts = observe_process(reader(tmp_path, files))

    assert facts is not None
    assert facts.cap_eff == 0x1FFFEFFFFFF
    assert facts.no_new_privs is True
    assert facts.pid_namespace == 4026531836
    assert facts.memlock == Limit(soft=67108864, hard=None)
    assert facts.nofile == Limit(soft=1024, hard=524288)
    assert (facts.rt_runtime_us, facts.rt_group_runtime_us) == (-1, 0)


def test_process_of_a_tree_without_proc_self_is_none(tmp_path: Path) -> None:
    assert observe_process(reader(tmp_path, {})) is None


def test_process_cgroup_that_climbs_out_is_not_followed(tmp_path: Path) -> None:
    facts = observe_process(reader(tmp_path, {"proc/self/status": "", "proc/self/cgroup": "3:cpu:/../../x\n"}))

    assert facts is not None
    assert facts.rt_group_runtime_us is None


def test_resctrl_info_is_read_when_mounted(tmp_path: Path) -> None:
    base = "sys/fs/resctrl"
    files = {
        "proc/filesystems": "nodev\tsysfs\nnodev\tresctrl\n",
        "proc/cpuinfo": "flags\t\t: fpu cat_l3 mba sse2\n",
        f"{base}/schemata": "L3:0=fff\n",
        f"{base}/info/L3/num_closids": "8\n",
        f"{base}/info/L3/cbm_mask": "fff\n",
        f"{base}/info/L3/min_cbm_bits": "1\n",
        f"{base}/info/MB/num_closids": "8\n",
        f"{base}/info/MB/min_bandwidth": "10\n",
        f"{base}/info/L3_MON/mon_features": "llc_occupancy\nmbm_total_bytes\n",
        f"{base}/info/L3_MON/num_rmids": "32\n",
        f"{base}/info/last_cmd_status": "ok\n",
    }
    facts = observe_resctrl(reader(tmp_path, files))

    assert (facts.known, facts.mounted, facts.flags) == (True, True, ("cat_l3", "mba"))
    assert [(r.name, r.num_closids, r.cbm_mask, r.min_bandwidth) for r in facts.resources] == [
        ("L3", 8, "fff", None),
        ("MB", 8, None, 10),
    ]
    assert (facts.monitors, facts.num_rmids) == (("llc_occupancy", "mbm_total_bytes"), 32)


def test_kubelet_static_policy_gives_exclusive_cpus(tmp_path: Path) -> None:
    state = (
        '{"policyName":"static","defaultCpuSet":"0-3","entries":{"u1":{"a":"4-5","b":"6"},"u2":{"a":"7"}},"checksum":1}'
    )
    memory = (
        '{"policyName":"Static","machineState":{"0":{}},"entries":{"u1":{"a":[{"numaAffinity":[0]}]}},"checksum":1}'
    )
    files = {
        f"{KUBELET}/cpu_manager_state": state,
        f"{KUBELET}/memory_manager_state": memory,
        f"{KUBELET}/pod-resources/kubelet.sock": "",
        f"{KUBELET}/device-plugins/kubelet.sock": "",
        f"{KUBELET}/device-plugins/davinci.sock": "",
        f"{KUBELET}/device-plugins/kubelet_internal_checkpoint": "",
    }
    facts = observe_kubelet(reader(tmp_path, files))

    assert facts.cpu_state == CpuManagerState(
        policy="static", default=CpuSet.from_range(0, 3), exclusive=CpuSet.from_range(4, 7), containers=3
    )
    assert facts.memory_state is not None
    assert (facts.memory_state.policy, facts.memory_state.containers) == ("Static", 1)
    assert (facts.pod_resources_socket, facts.device_plugins, facts.config) == (True, ("davinci.sock",), None)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"policyName":1}', b"\xff\xff", b'{"policyName":"static","entries":{"u":{"c":"9-1"}}}'],
    ids=["empty", "cut", "list", "number", "binary", "backwards"],
)
def test_kubelet_damaged_state_is_none_and_noted(tmp_path: Path, content: bytes) -> None:
    damaged = reader(tmp_path, {f"{KUBELET}/cpu_manager_state": content})

    assert observe_kubelet(damaged).cpu_state is None
    assert [r.path for r in damaged.refused] == ["/var/lib/kubelet/cpu_manager_state"]


def test_kubelet_config_takes_top_level_values_only() -> None:
    text = """apiVersion: kubelet.config.k8s.io/v1beta1
authentication:
  anonymous:
    cpuManagerPolicy: nested
cpuManagerPolicy: static   # since May
reservedSystemCPUs: "0-1"
topologyManagerPolicy: 'restricted'
cpuManagerPolicyOptions: {full-pcpus-only: "true"}
evictionHard: &anchor
clusterDNS:
- 10.0.0.10
failSwapOn: false
"""
    assert config_scalars(text) == {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "cpuManagerPolicy": "static",
        "reservedSystemCPUs": "0-1",
        "topologyManagerPolicy": "restricted",
        "failSwapOn": "false",
    }


def test_kubelet_config_written_as_json_is_read_as_json() -> None:
    assert config_scalars('{"cpuManagerPolicy": "static", "x": {"y": 1}}') == {"cpuManagerPolicy": "static"}
    assert config_scalars('{"cpuManagerPolicy"') == {}


def test_runtime_sockets_and_version_are_found(tmp_path: Path) -> None:
    files = {
        "run/crio/crio.sock": "",
        "run/nri/nri.sock": "",
        "var/run": "-> /run",
        "var/lib/crio/version": '"1.31.0"\n',
    }
    facts = observe_runtime(reader(tmp_path, files))

    assert (facts.sockets, facts.nri_socket, facts.versions) == (
        ("/run/crio/crio.sock",),
        "/run/nri/nri.sock",
        ('CRI-O "1.31.0"',),
    )


def test_drivers_are_found_on_the_usual_paths(tmp_path: Path) -> None:
    files = {
        "dev/davinci10": "",
        "dev/davinci2": "",
        "dev/davinci_manager": "",
        "dev/nvidia0": "",
        "dev/nvidia-uvm": "",
        "usr/local/Ascend/driver/version.info": "Version=24.1.rc3\nascendhal_version=7\n",
        "usr/local/Ascend/driver/tools/hccn_tool": "",
        "usr/lib64/libdcmi.so": "",
        "usr/local/sbin/npu-smi": "",
        "usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1": "",
        "proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5\nGCC\n",
    }
    facts = observe_drivers(reader(tmp_path, files), ())

    assert facts.davinci_nodes == ("davinci2", "davinci10")
    assert facts.davinci_manager
    assert (facts.ascend_version, facts.nvidia_version) == ("24.1.rc3", "550.54.15")
    assert (facts.libdcmi, facts.npu_smi) == ("/usr/lib64/libdcmi.so", "/usr/local/sbin/npu-smi")
    assert facts.hccn_tool == "/usr/local/Ascend/driver/tools/hccn_tool"
    assert (facts.nvidia_nodes, facts.libnvidia_ml) == (("nvidia0",), "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1")


def test_nvidia_version_of_the_open_module_is_read(tmp_path: Path) -> None:
    text = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build\n"

    assert observe_drivers(reader(tmp_path, {"proc/driver/nvidia/version": text}), ()).nvidia_version == "570.86.15"


def test_memory_nodes_and_knobs_are_read(tmp_path: Path) -> None:
    node = "sys/devices/system/node"
    files = {
        f"{node}/online": "0-1\n",
        f"{node}/node0/cpulist": "0-3\n",
        f"{node}/node0/meminfo": "Node 0 MemTotal:       16384 kB\nNode 0 MemFree:  1 kB\n",
        f"{node}/node0/hugepages/hugepages-2048kB/nr_hugepages": "8\n",
        f"{node}/node0/hugepages/hugepages-2048kB/free_hugepages": "6\n",
        f"{node}/node0/hugepages/hugepages-2048kB/surplus_hugepages": "0\n",
        f"{node}/node1/cpulist": "\n",
        "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
        "proc/sys/kernel/numa_balancing": "1\n",
        "proc/sys/vm/overcommit_memory": "2\n",
        "proc/meminfo": "MemTotal: 1 kB\nSwapTotal:       2048 kB\n",
    }
    facts = observe_memory(reader(tmp_path, files))

    assert [(n.node, str(n.cpus), n.total_bytes) for n in facts.nodes] == [(0, "0-3", 16 << 20), (1, "", None)]
    assert facts.nodes[0].hugepages == (Hugepages(size_bytes=2 << 20, total=8, free=6, surplus=0),)
    assert (facts.transparent_hugepages, facts.numa_balancing, facts.overcommit) == ("madvise", 1, 2)
    assert facts.swap_total_bytes == 2 << 20


@pytest.mark.parametrize(
    ("cpuinfo", "model"),
    [
        ("processor\t: 0\nmodel name\t: AMD EPYC\nmodel name\t: other\n", "AMD EPYC"),
        ("CPU implementer\t: 0x48\nCPU part\t: 0xd01\n", "Kunpeng 920 (TaiShan v110)"),
        ("CPU implementer\t: 0x48\nCPU part\t: 0xfff\n", None),
        ("CPU implementer\t: x\nCPU part\t: y\n", None),
        ("", None),
    ],
    ids=["x86", "kunpeng", "new part", "garbage", "empty"],
)
def test_cpu_model_comes_from_cpuinfo(cpuinfo: str, model: str | None) -> None:
    assert cpu_model(cpuinfo) == model


def test_cpu_governors_are_grouped_over_frequency_domains(tmp_path: Path) -> None:
    base = "sys/devices/system/cpu"
    files = {
        f"{base}/cpufreq/policy0/scaling_governor": "performance\n",
        f"{base}/cpufreq/policy0/affected_cpus": "0 1\n",
        f"{base}/cpufreq/policy2/scaling_governor": "powersave\n",
        f"{base}/cpufreq/policy2/affected_cpus": "2 99999 x\n",
        f"{base}/cpufreq/policy3/scaling_governor": "performance\n",
        f"{base}/nohz_full": "(null)\n",
        f"{base}/isolated": "\n",
    }
    facts = observe_cpu(reader(tmp_path, files), brand_deadline_s=0)

    assert facts.governors == {"performance": CpuSet((0, 1, 3)), "powersave": CpuSet((2,))}
    assert (facts.nohz_full, facts.isolated, facts.online) == (CpuSet(), CpuSet(), None)


def test_clock_source_and_daemons_are_read(tmp_path: Path) -> None:
    base = "sys/devices/system/clocksource/clocksource0"
    files = {
        f"{base}/current_clocksource": "hpet\n",
        f"{base}/available_clocksource": "tsc hpet \n",
        "run/chrony/chronyd.pid": "1",
        "run/systemd/timesync/synchronized": "",
    }
    facts = observe_clock(reader(tmp_path, files))

    assert (facts.source, facts.available) == ("hpet", ("tsc", "hpet"))
    assert (facts.sync_daemons, facts.kernel_synchronised) == (("chrony", "systemd-timesyncd"), None)


@pytest.mark.parametrize(
    ("text", "offset"),
    [("monotonic  5  7\nboottime 0 0\n", 5_000_000_007), ("monotonic -1 0\n", -(10**9)), ("monotonic x y\n", None)],
)
def test_clock_monotonic_offset_is_that_of_the_time_namespace(tmp_path: Path, text: str, offset: int | None) -> None:
    assert monotonic_offset_ns(reader(tmp_path, {"proc/self/timens_offsets": text})) == offset


def test_agent_state_folder_that_is_not_there_is_judged_by_the_folder_above(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    assert observe_agent(str(tmp_path / "a" / "b")).writable is True
    assert observe_agent(str(tmp_path / "file" / "b")).writable is False
    assert observe_agent(None).writable is None
    assert not (tmp_path / "a").exists()


def test_observe_facts_of_an_empty_root_knows_nothing(tmp_path: Path) -> None:
    facts = observe_facts(HostRoot(tmp_path))

    assert (facts.refused, facts.found, facts.process) == ((), (), None)
    assert diagnose(facts) == diagnose(HostFacts())


def test_observe_facts_of_this_machine_names_kernel_and_cpus() -> None:
    facts = observe_facts(HostRoot("/"), brand_deadline_s=0)

    assert facts.kernel.release == os.uname().release
    assert facts.kernel.machine == os.uname().machine
    assert facts.process is not None
    assert facts.process.cap_eff is not None
    assert facts.cpu.online
