"""What group paths say, in all the forms that kubelet and the runtimes give them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuyaod.cgroups.observe.paths import identify, is_in_pod
from fuyaod.model.cgroup import CgroupDriver, CgroupKind, KubeQos

UID = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"
UID_ = UID.replace("-", "_")
STATIC = "9a5ae07e0b1e7e0ee1b5d4c3c7a1f2d8"
ID = "ab12" * 16
SYS = "/kubepods.slice/kubepods-burstable.slice"
POD = f"{SYS}/kubepods-burstable-pod{UID_}.slice"

CONTAINERS = {
    "cgroupfs-containerd": (f"/kubepods/burstable/pod{UID}/{ID}", KubeQos.BURSTABLE, None, CgroupDriver.CGROUPFS),
    "cgroupfs-guaranteed": (f"/kubepods/pod{UID}/{ID}", KubeQos.GUARANTEED, None, CgroupDriver.CGROUPFS),
    "cgroupfs-crio": (f"/kubepods/besteffort/pod{UID}/crio-{ID}", KubeQos.BEST_EFFORT, "cri-o", CgroupDriver.CGROUPFS),
    "systemd-containerd": (f"{POD}/cri-containerd-{ID}.scope", KubeQos.BURSTABLE, "containerd", CgroupDriver.SYSTEMD),
    "systemd-crio": (f"{POD}/crio-{ID}.scope", KubeQos.BURSTABLE, "cri-o", CgroupDriver.SYSTEMD),
    "systemd-docker": (f"{POD}/docker-{ID}.scope", KubeQos.BURSTABLE, "docker", CgroupDriver.SYSTEMD),
    "systemd-other-runtime": (f"{POD}/isulad-{ID}.scope", KubeQos.BURSTABLE, None, CgroupDriver.SYSTEMD),
    "systemd-guaranteed": (
        f"/kubepods.slice/kubepods-pod{UID_}.slice/crio-{ID}.scope",
        KubeQos.GUARANTEED,
        "cri-o",
        CgroupDriver.SYSTEMD,
    ),
    "cgroup-root": (
        f"/custom/root/kubepods/besteffort/pod{UID}/{ID}",
        KubeQos.BEST_EFFORT,
        None,
        CgroupDriver.CGROUPFS,
    ),
    "kind": (
        f"/system.slice/docker-{ID}.scope/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice"
        f"/kubelet-kubepods-besteffort-pod{UID_}.slice/cri-containerd-{ID}.scope",
        KubeQos.BEST_EFFORT,
        "containerd",
        CgroupDriver.SYSTEMD,
    ),
    "escaped-root": (
        f"/my_root.slice/my_root-kubepods.slice/my_root-kubepods-pod{UID_}.slice/docker-{ID}.scope",
        KubeQos.GUARANTEED,
        "docker",
        CgroupDriver.SYSTEMD,
    ),
    "drivers-disagree": (
        f"/system.slice/containerd.service/kubepods-burstable-pod{UID_}.slice:cri-containerd:{ID}",
        KubeQos.BURSTABLE,
        "containerd",
        CgroupDriver.SYSTEMD,
    ),
    "other-cgroup-namespace": (f"/../../kubepods/pod{UID}/{ID}", KubeQos.GUARANTEED, None, CgroupDriver.CGROUPFS),
}


@pytest.mark.parametrize(("path", "qos", "runtime", "driver"), CONTAINERS.values(), ids=CONTAINERS.keys())
def test_identify_container_names_pod_class_runtime_and_driver(
    path: str, qos: KubeQos, runtime: str | None, driver: CgroupDriver
) -> None:
    found = identify(path, 7)

    assert found is not None
    assert found.kind is CgroupKind.CONTAINER
    assert (found.path, found.inode, found.pod_uid, found.container_id) == (path, 7, UID, ID)
    assert (found.kube_qos, found.runtime, found.driver, found.unit) == (qos, runtime, driver, None)


@pytest.mark.parametrize(
    ("path", "uid", "qos"),
    [
        (f"/kubepods/pod{UID}", UID, KubeQos.GUARANTEED),
        (f"/kubepods/burstable/pod{STATIC}", STATIC, KubeQos.BURSTABLE),
        (POD, UID, KubeQos.BURSTABLE),
        (f"/kubepods.slice/kubepods-pod{STATIC}.slice", STATIC, KubeQos.GUARANTEED),
        ("/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod123.slice", "123", KubeQos.BEST_EFFORT),
    ],
    ids=["cgroupfs", "cgroupfs-static", "systemd", "systemd-static", "systemd-short"],
)
def test_identify_pod_restores_its_uid(path: str, uid: str, qos: KubeQos) -> None:
    found = identify(path, 1)

    assert found is not None
    assert (found.kind, found.pod_uid, found.kube_qos, found.container_id) == (CgroupKind.POD, uid, qos, None)


@pytest.mark.parametrize(
    ("path", "qos"),
    [
        ("/kubepods", None),
        ("/kubepods/besteffort", KubeQos.BEST_EFFORT),
        ("/kubepods.slice", None),
        (SYS, KubeQos.BURSTABLE),
        ("/kubelet.slice/kubelet-kubepods.slice", None),
    ],
)
def test_identify_kubepods_level_is_slice_without_unit(path: str, qos: KubeQos | None) -> None:
    found = identify(path, 1)

    assert found is not None
    assert (found.kind, found.kube_qos, found.unit, found.pod_uid) == (CgroupKind.SLICE, qos, None, None)
    assert found.driver is not None
    assert not is_in_pod(path)


@pytest.mark.parametrize(
    "path",
    [
        f"{POD}/crio-conmon-{ID}.scope",
        f"/kubepods/burstable/pod{UID}/crio-conmon-{ID}",
        f"{POD}/libpod-conmon-{ID}.scope",
        f"{POD}/crio-{ID}.scope/container",
        f"/kubepods/burstable/pod{UID}/{ID}/kubelet/kubepods/burstable/pod{UID}/{ID}",
        f"/kubepods/burstable/pod{UID}/init.scope",
        f"{POD}/system.slice/nginx.service",
        f"/containerd.service/kubepods-pod{UID_}.slice:cri-containerd:{ID}/inner",
    ],
)
def test_identify_beside_or_below_container_is_nothing(path: str) -> None:
    assert identify(path, 1) is None
    assert is_in_pod(path)


@pytest.mark.parametrize(
    "path",
    ["/", "", "//", "/docker", f"/docker/{ID}", "/kubepods/burstable/x", "/kubepods/pod", "/kubepods/other/pod1"],
)
def test_identify_unknown_path_is_nothing(path: str) -> None:
    assert identify(path, 1) is None


@pytest.mark.parametrize(
    ("path", "kind", "unit"),
    [
        ("/system.slice", CgroupKind.SLICE, "system.slice"),
        ("/init.scope", CgroupKind.SERVICE, "init.scope"),
        ("/system.slice/nginx.service", CgroupKind.SERVICE, "nginx.service"),
        ("/system.slice/system-getty.slice/getty@tty1.service", CgroupKind.SERVICE, "getty@tty1.service"),
        ("/batch.slice/batch-night.slice", CgroupKind.SLICE, "batch-night.slice"),
        ("/system.slice/_cpu.service", CgroupKind.SERVICE, "cpu.service"),
        (r"/system.slice/my\x2djob.service", CgroupKind.SERVICE, r"my\x2djob.service"),
        (f"/system.slice/docker-{ID}.scope", CgroupKind.SERVICE, f"docker-{ID}.scope"),
    ],
)
def test_identify_unit_of_this_machine_has_its_name(path: str, kind: CgroupKind, unit: str) -> None:
    found = identify(path, 1)

    assert found is not None
    assert (found.kind, found.unit, found.pod_uid, found.driver) == (kind, unit, None, None)


@pytest.mark.parametrize(
    "path",
    [
        f"/docker/{ID}/system.slice/nginx.service",
        f"/system.slice/docker-{ID}.scope/system.slice/nginx.service",
        "/user.slice/user-1000.slice/user@1000.service/app.slice/nginx.service",
        "/.slice/nginx.service",
        "/system.slice/.service",
    ],
)
def test_identify_unit_of_container_or_user_is_nothing(path: str) -> None:
    assert identify(path, 1) is None


_words = st.sampled_from(
    (
        "kubepods burstable besteffort pod pod1 .. x _ a.service system.slice _.slice kubepods.slice"
        f" kubepods-burstable.slice pod{UID} {ID} crio-{ID} crio-conmon-{ID} crio-{ID}.scope"
        f" kubepods-burstable-pod{UID_}.slice kubepods-pod{UID_}.slice:docker:{ID} kubepods-pod.slice::: \udcff"
    ).split(" ")
)


@given(st.lists(st.one_of(_words, st.text(max_size=12)), max_size=8).map("/".join))
def test_identify_any_path_keeps_its_promises(path: str) -> None:
    found = identify("/" + path, 3)

    if found is None:
        return
    assert found.path == "/" + path
    match found.kind:
        case CgroupKind.POD:
            assert found.pod_uid
            assert found.container_id is None
        case CgroupKind.CONTAINER:
            assert found.pod_uid
            assert found.container_id
        case CgroupKind.SERVICE:
            assert found.unit
        case CgroupKind.SLICE:
            assert (found.unit is None) == (found.driver is not None)
    assert is_in_pod("/" + path) == (found.kind in (CgroupKind.POD, CgroupKind.CONTAINER))


_uids = st.uuids().map(str) | st.text("0123456789abcdef", min_size=32, max_size=32)
_above = st.lists(st.text("abcxyz_", min_size=1, max_size=5).filter(lambda n: n != "kubepods"), max_size=3)


@given(
    uid=_uids,
    above=_above,
    level=st.sampled_from(["", "burstable", "besteffort"]),
    prefix=st.sampled_from(["cri-containerd", "crio", "docker"]),
)
def test_identify_systemd_path_as_kubelet_builds_it_is_read_back(
    uid: str, above: list[str], level: str, prefix: str
) -> None:
    names = [*above, "kubepods", *([level] if level else []), "pod" + uid.replace("-", "_")]
    slices = "".join(f"/{'-'.join(names[: end + 1])}.slice" for end in range(len(names)))

    found = identify(f"{slices}/{prefix}-{ID}.scope", 1)

    assert found is not None
    assert (found.pod_uid, found.container_id, found.driver) == (uid, ID, CgroupDriver.SYSTEMD)


@given(uid=_uids, above=_above, level=st.sampled_from(["", "/burstable", "/besteffort"]), crio=st.booleans())
def test_identify_cgroupfs_path_as_kubelet_builds_it_is_read_back(
    uid: str, above: list[str], level: str, crio: bool
) -> None:
    front = "".join(f"/{name}" for name in above)

    found = identify(f"{front}/kubepods{level}/pod{uid}/{'crio-' if crio else ''}{ID}", 1)

    assert found is not None
    assert (found.pod_uid, found.container_id, found.driver) == (uid, ID, CgroupDriver.CGROUPFS)
