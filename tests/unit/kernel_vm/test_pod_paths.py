import pytest

from tests.kernel.guest.pods import CgroupDriver, PodQos, container_path, pod_path

UID = "1f0a-22bb"


@pytest.mark.parametrize(
    ("driver", "qos", "path"),
    [
        (CgroupDriver.CGROUPFS, PodQos.GUARANTEED, "kubepods/pod1f0a-22bb"),
        (CgroupDriver.CGROUPFS, PodQos.BESTEFFORT, "kubepods/besteffort/pod1f0a-22bb"),
        (CgroupDriver.SYSTEMD, PodQos.GUARANTEED, "kubepods.slice/kubepods-pod1f0a_22bb.slice"),
        (
            CgroupDriver.SYSTEMD,
            PodQos.BURSTABLE,
            "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1f0a_22bb.slice",
        ),
    ],
    ids=lambda value: getattr(value, "value", None),
)
def test_pod_path_is_kubelets(driver: CgroupDriver, qos: PodQos, path: str) -> None:
    assert str(pod_path(driver, qos, UID)) == path


@pytest.mark.parametrize(
    ("driver", "name"), [(CgroupDriver.CGROUPFS, "abc"), (CgroupDriver.SYSTEMD, "cri-containerd-abc.scope")]
)
def test_container_path_is_containerds(driver: CgroupDriver, name: str) -> None:
    assert container_path(driver, PodQos.BURSTABLE, UID, "abc") == pod_path(driver, PodQos.BURSTABLE, UID) / name
