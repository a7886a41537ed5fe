"""What is read of kernel, cgroups and pressure; and what the reader does with damage."""

from __future__ import annotations

import errno
import gzip
from pathlib import Path

import pytest

from fuyaod.doctor.observe.cgroup import observe_cgroup
from fuyaod.doctor.observe.kernel import observe_kernel
from fuyaod.doctor.observe.psi import pressure_state
from fuyaod.doctor.observe.reader import Reader
from fuyaod.hostfs import HostRoot
from fuyaod.model.cgroup import CgroupMode
from fuyaod.model.facts import PsiState
from tests.unit.doctor.tree import RefusingFiles, build, reader

PRESSURE = "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
CGROUP = "sys/fs/cgroup"


def test_reader_denied_file_is_none_and_remembered(tmp_path: Path) -> None:
    build(tmp_path, {"proc/sys/kernel/osrelease": "6.6"})
    denied = Reader(HostRoot(tmp_path, files=RefusingFiles(f"{tmp_path}/proc")))

    assert denied.line("proc/sys/kernel/osrelease") is None
    assert [(r.path, r.denied) for r in denied.refused] == [("/proc/sys/kernel/osrelease", True)]
    assert "EACCES" in denied.refused[0].text


@pytest.mark.parametrize("content", [b"\xff\xfe", b"a\x00b", b"x" * 300], ids=["binary", "control", "long"])
def test_reader_line_that_is_none_is_refused_as_damaged(tmp_path: Path, content: bytes) -> None:
    damaged = reader(tmp_path, {"f": content})

    assert damaged.line("f") is None
    assert [r.denied for r in damaged.refused] == [False]


def test_reader_number_beyond_64_bits_is_refused(tmp_path: Path) -> None:
    damaged = reader(tmp_path, {"f": "9" * 30})

    assert damaged.number("f") is None
    assert len(damaged.refused) == 1


def test_reader_absolute_link_stays_inside_the_root(tmp_path: Path) -> None:
    files = {"run/nri/nri.sock": "", "var/run": "-> /run", "etc/x": "-> /nowhere"}
    found = reader(tmp_path, files)

    assert found.there("var/run/nri/nri.sock")
    assert not found.there("etc/x")


@pytest.mark.parametrize(
    ("files", "hz"),
    [
        ({"proc/config.gz": gzip.compress(b"CONFIG_NO_HZ=y\nCONFIG_HZ=250\n")}, 250),
        ({"boot/config-6.6.0": "CONFIG_HZ_100=y\nCONFIG_HZ=100\n"}, 100),
        ({"proc/config.gz": b"no gzip"}, None),
        ({"proc/config.gz": gzip.compress(b"CONFIG_HZ=250\n")[:10]}, None),
        ({"proc/config.gz": gzip.compress(b"\xff\xff CONFIG_HZ=250\n")}, None),
        ({}, None),
    ],
    ids=["gz", "boot", "garbage", "truncated", "binary", "absent"],
)
def test_kernel_hz_comes_from_its_configuration(tmp_path: Path, files: dict[str, str | bytes], hz: int | None) -> None:
    assert observe_kernel(reader(tmp_path, {"proc/sys/kernel/osrelease": "6.6.0\n", **files})).hz == hz


def test_kernel_config_of_a_bomb_is_cut(tmp_path: Path) -> None:
    bomb = gzip.compress(bytes(1 << 25) + b"\nCONFIG_HZ=250\n")

    assert observe_kernel(reader(tmp_path, {"proc/config.gz": bomb})).hz is None


def test_kernel_release_with_a_slash_opens_no_file_elsewhere(tmp_path: Path) -> None:
    files = {"proc/sys/kernel/osrelease": "/../x", "x": "CONFIG_HZ=250\n", "boot/config-": ""}

    assert observe_kernel(reader(tmp_path, files)).hz is None


@pytest.mark.parametrize(
    ("files", "machine"),
    [
        ({"proc/sys/kernel/arch": "aarch64\n"}, "aarch64"),
        ({"proc/cpuinfo": "CPU implementer\t: 0x48\n"}, "aarch64"),
        ({"proc/cpuinfo": "vendor_id\t: GenuineIntel\n"}, "x86_64"),
        ({}, None),
    ],
)
def test_kernel_machine_is_told_by_arch_or_cpuinfo(
    tmp_path: Path, files: dict[str, str | bytes], machine: str | None
) -> None:
    assert observe_kernel(reader(tmp_path, files)).machine == machine


def test_kernel_systemd_version_is_in_the_name_of_its_library(tmp_path: Path) -> None:
    files = {"usr/lib/systemd/libsystemd-shared-255.4-1.so": "", "run/systemd/system/x": ""}
    facts = observe_kernel(reader(tmp_path, files))

    assert (facts.systemd_running, facts.systemd_version) == (True, "255")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (f"{CGROUP}/cgroup.controllers", (CgroupMode.UNIFIED, CGROUP)),
        (f"{CGROUP}/unified/cgroup.controllers", (CgroupMode.HYBRID, f"{CGROUP}/unified")),
        (f"{CGROUP}/cpu/cgroup.procs", (CgroupMode.LEGACY, None)),
        ("proc/x", (CgroupMode.NONE, None)),
    ],
    ids=["unified", "hybrid", "v1", "none"],
)
def test_cgroup_mode_is_told_by_the_usual_places(
    tmp_path: Path, name: str, expected: tuple[CgroupMode, str | None]
) -> None:
    facts = observe_cgroup(reader(tmp_path, {name: "cpu\n"}))

    assert (facts.mode, facts.mount) == expected


def group(path: str, *files: str, controllers: str = "cpu memory", enabled: str = "cpu") -> dict[str, str | bytes]:
    base = f"{CGROUP}{path}"
    found: dict[str, str | bytes] = {
        f"{base}/cgroup.procs": "",
        f"{base}/cgroup.controllers": controllers,
        f"{base}/cgroup.subtree_control": enabled,
    }
    return found | {f"{base}/{name}": "0\n" for name in files}


def test_cgroup_levels_lead_from_the_root_to_nested_pods(tmp_path: Path) -> None:
    files = group("") | group("/kubelet.slice") | group("/kubelet.slice/kubelet-kubepods.slice", "cpu.idle")
    files |= group("/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice", enabled="")
    files |= group("/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod1.slice") | group(
        "/init.scope", "cgroup.kill"
    )
    facts = observe_cgroup(reader(tmp_path, files))

    assert facts.pod_roots == ("/kubelet.slice/kubelet-kubepods.slice",)
    assert [level.path.rpartition("/")[2] for level in facts.levels] == [
        "",
        "kubelet.slice",
        "kubelet-kubepods.slice",
        "kubelet-kubepods-besteffort.slice",
    ]
    assert facts.levels[2].files == ("cpu.idle",)
    assert facts.levels[3].enabled == ()
    assert [level.path for level in facts.others] == ["/init.scope"]


def test_cgroup_without_pods_leads_to_system_slice(tmp_path: Path) -> None:
    facts = observe_cgroup(reader(tmp_path, group("") | group("/system.slice")))

    assert [level.path for level in facts.levels] == ["/", "/system.slice"]


def test_cgroup_mount_options_are_those_of_our_root_not_of_the_containers_own(tmp_path: Path) -> None:
    mountinfo = (
        "31 22 0:26 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw,nsdelegate\n"
        f"99 22 0:26 / {tmp_path}/sys/fs/cgroup rw,nosuid - cgroup2 cgroup rw,nsdelegate,memory_recursiveprot\n"
    )
    facts = observe_cgroup(reader(tmp_path, group("") | {"proc/self/mountinfo": mountinfo}))

    assert facts.mount_options == ("rw", "nosuid", "nsdelegate", "memory_recursiveprot")


def test_cgroup_v1_qos_level_is_found_in_a_group(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        f"{CGROUP}/cpu,cpuacct/kubepods/cpu.qos_level": "0",
        f"{CGROUP}/cpu": "-> cpu,cpuacct",
    }

    assert observe_cgroup(reader(tmp_path, files)).v1_qos_level


@pytest.mark.parametrize(
    ("content", "state"),
    [(PRESSURE, PsiState.READABLE), ("", PsiState.SWITCHED_OFF), ("garbage", PsiState.REFUSED)],
    ids=["numbers", "empty", "garbage"],
)
def test_pressure_state_is_what_reading_gives(tmp_path: Path, content: str, state: PsiState) -> None:
    assert pressure_state(reader(tmp_path, {"proc/pressure/cpu": content}), "proc/pressure/cpu") is state


@pytest.mark.parametrize(
    ("number", "state"),
    [(errno.EOPNOTSUPP, PsiState.SWITCHED_OFF), (errno.EACCES, PsiState.REFUSED), (errno.ENOENT, PsiState.ABSENT)],
)
def test_pressure_state_of_a_refusal_depends_on_its_errno(tmp_path: Path, number: int, state: PsiState) -> None:
    host = HostRoot(tmp_path, files=RefusingFiles(f"{tmp_path}/proc", number))

    assert pressure_state(Reader(host), "proc/pressure/cpu") is state
