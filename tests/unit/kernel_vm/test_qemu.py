import itertools
from pathlib import Path

from tests.kernel.vm.ground import Ground
from tests.kernel.vm.qemu import Files, kernel_command_line, qemu_argv
from tests.kernel.vm.spec import Vm

GROUND = Ground(root=Path("/cache/ground"), kernel_release="6.0-x")


def argv(vm: Vm, disk: Path | None = None) -> list[str]:
    sockets = {"host": Path("/w/host.sock")}
    return qemu_argv(
        vm, GROUND, Files(init=Path("/w/init.sh"), sockets=sockets, kernel_log=Path("/w/kernel.log"), disk=disk)
    )


def values(words: list[str], option: str) -> list[str]:
    return [value for word, value in itertools.pairwise(words) if word == option]


def test_argv_of_two_nodes_gives_each_its_memory_and_cpus() -> None:
    words = argv(Vm(cpus=4, nodes=2, sockets=1, threads=2, mem_mib=512))

    assert values(words, "-smp") == ["4,sockets=1,cores=2,threads=2"]
    assert values(words, "-m") == ["512M"]
    assert values(words, "-numa") == [
        "node,nodeid=0,memdev=mem0,cpus=0-1",
        "node,nodeid=1,memdev=mem1,cpus=2-3",
        "dist,src=0,dst=1,val=12",
        "dist,src=1,dst=0,val=12",
    ]
    assert [value for value in values(words, "-object") if "size=256M" in value and "share=on" in value] != []


def test_argv_with_resctrl_takes_the_other_kernel_and_answers_leaf_10h() -> None:
    plain, resctrl = argv(Vm()), argv(Vm(rdt=True))

    assert values(plain, "-kernel") == ["/cache/ground/vmlinux"]
    assert values(resctrl, "-kernel") == ["/cache/ground/vmlinux-rdt"]
    assert "level=0x10" in values(resctrl, "-cpu")[0]
    assert "level" not in values(plain, "-cpu")[0]


def test_argv_without_disk_has_no_drive() -> None:
    assert values(argv(Vm()), "-drive") == []


def test_argv_with_disk_names_its_file() -> None:
    words = argv(Vm(disk_mib=1), disk=Path("/w/disk.raw"))

    assert values(words, "-drive") == ["id=disk,if=none,format=raw,file=/w/disk.raw"]
    assert "virtio-blk-pci,drive=disk" in values(words, "-device")


def test_argv_connects_each_share_to_its_socket() -> None:
    words = argv(Vm())

    assert "socket,id=host,path=/w/host.sock" in values(words, "-chardev")
    assert any(value.startswith("vhost-user-fs-pci,chardev=host,tag=host,") for value in values(words, "-device"))


def test_kernel_command_line_mounts_the_host_and_starts_init() -> None:
    words = kernel_command_line(Path("/w/init.sh")).split()

    assert {"root=host", "rootfstype=virtiofs", "ro", "init=/w/init.sh", "psi=1", "panic=-1"} <= set(words)
