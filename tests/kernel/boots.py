"""The two machines that all kernel tests share. A run boots each of them at most once."""

import msgspec

from tests.kernel.vm.spec import InitMode, Vm


class Boot(msgspec.Struct, frozen=True, kw_only=True):
    """One boot of a test run.

    Args:
        name: what `--boot` calls it.
        vm: the machine.
        marks: pytest mark expression that selects its tests; a test with neither mark runs in both.
    """

    name: str
    vm: Vm
    marks: str


BOOTS = (
    Boot(
        name="systemd",
        vm=Vm(mode=InitMode.SYSTEMD, rdt=True, disk_mib=64),
        marks="systemd_boot or not plain_boot",
    ),
    Boot(
        name="plain",
        vm=Vm(mode=InitMode.PLAIN, sockets=2),
        marks="plain_boot or not systemd_boot",
    ),
)
