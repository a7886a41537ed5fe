"""From the description of a virtual machine to the command line of the emulator."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from tests.kernel.vm.ground import Ground
from tests.kernel.vm.spec import Vm

_TRANSLATION_CACHE_MIB = 512
_QUEUE_ENTRIES = 1024

# A small CPU model: each feature more costs the emulated kernel time at boot.
_CPU_MODEL = "Nehalem"
# With resctrl: leaves up to 10H answered, and the model number of a part without resctrl quirks in the kernel.
_RESCTRL_CPU_MODEL = f"{_CPU_MODEL},model=106,stepping=6,level=0x10,check=off"

ROOT_SHARE = "host"
EXCHANGE_SHARE = "exchange"


class Files(msgspec.Struct, frozen=True, kw_only=True):
    """What the emulator opens for one boot.

    Args:
        init: first program of the guest, a path on the host.
        sockets: path of each file server's socket, by share name.
        kernel_log: where kernel and process 1 write.
        disk: backing file of `/dev/vda`, None without one.
    """

    init: Path
    sockets: dict[str, Path]
    kernel_log: Path
    disk: Path | None = None


def qemu_argv(vm: Vm, ground: Ground, files: Files) -> list[str]:
    """Command line of one boot. The guest's first serial port is the kernel log, its `/dev/hvc0` our stdout."""
    return [
        str(ground.qemu),
        *_machine(vm, ground),
        *_memory(vm),
        *_shares(files),
        *_consoles(files),
        *_disk(files),
        *("-kernel", str(ground.kernel(rdt=vm.rdt)), "-append", kernel_command_line(files.init)),
    ]


def kernel_command_line(init: Path) -> str:
    """Words for the guest kernel: quiet, fast to boot, powered off by a panic, PSI and cgroup v2 on."""
    words = [
        *(f"root={ROOT_SHARE}", "rootfstype=virtiofs", "ro", f"init={init}"),
        *("console=ttyS0", "quiet", "panic=-1"),
        *("mitigations=off", "nokaslr", "nowatchdog", "cryptomgr.notests", "random.trust_cpu=1"),
        *("psi=1", "systemd.unified_cgroup_hierarchy=1"),
    ]
    return " ".join(words)


def _machine(vm: Vm, ground: Ground) -> Iterator[str]:
    for folder in ground.firmware:
        yield from ("-L", str(folder))
    yield from ("-bios", "qboot.rom")
    yield from ("-machine", "q35", "-accel", f"tcg,thread=multi,tb-size={_TRANSLATION_CACHE_MIB}")
    yield from ("-cpu", _RESCTRL_CPU_MODEL if vm.rdt else _CPU_MODEL)
    yield from ("-smp", f"{vm.cpus},sockets={vm.sockets},cores={vm.cores_per_socket},threads={vm.threads}")
    yield from ("-no-user-config", "-nodefaults", "-no-reboot", "-display", "none")


def _memory(vm: Vm) -> Iterator[str]:
    yield from ("-m", f"{vm.mem_mib}M")
    for node in range(vm.nodes):
        cpus = vm.node_cpus(node)
        # share=on: the file servers map the guest's memory
        yield from ("-object", f"memory-backend-memfd,id=mem{node},size={vm.node_mem_mib}M,share=on")
        yield from ("-numa", f"node,nodeid={node},memdev=mem{node},cpus={cpus[0]}-{cpus[-1]}")
    for source in range(vm.nodes):
        for target in range(vm.nodes):
            if source != target:
                yield from ("-numa", f"dist,src={source},dst={target},val={vm.distance(source, target)}")


def _shares(files: Files) -> Iterator[str]:
    for name, socket in files.sockets.items():
        yield from ("-chardev", f"socket,id={name},path={socket}")
        yield from ("-device", f"vhost-user-fs-pci,chardev={name},tag={name},queue-size={_QUEUE_ENTRIES}")


def _consoles(files: Files) -> Iterator[str]:
    yield from ("-serial", f"file:{files.kernel_log}")
    yield from ("-chardev", "stdio,id=command,signal=off")
    yield from ("-device", "virtio-serial-pci", "-device", "virtconsole,chardev=command")


def _disk(files: Files) -> Iterator[str]:
    if files.disk is not None:
        yield from ("-drive", f"id=disk,if=none,format=raw,file={files.disk}")
        yield from ("-device", "virtio-blk-pci,drive=disk")
