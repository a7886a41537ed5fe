"""What the guest finds in the folder it shares with the host: how to start, what to run, what it is told to be."""

import shlex
from collections.abc import Mapping
from pathlib import Path

import msgspec

from tests.kernel.vm.ground import Ground
from tests.kernel.vm.spec import Vm

GUEST_EXCHANGE = Path("/run/vm")
GUEST_OUT = GUEST_EXCHANGE / "out"
GUEST_SPEC = GUEST_EXCHANGE / "in/vm.json"

# Folders that the guest has of its own, so that what the host keeps there is not seen through the share.
_PRIVATE_IN_GUEST = (Path("/tmp"), Path("/run"), Path("/dev"))


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """A command for the guest.

    Args:
        shell: shell text.
        cwd: working folder, the same path as on the host.
        env: more environment.
        needs: further host paths that must be visible, for example a Python installation below `/tmp`.
    """

    shell: str
    cwd: Path
    env: Mapping[str, str] = {}
    needs: tuple[Path, ...] = ()


def write_guest_files(exchange: Path, vm: Vm, ground: Ground, command: Command, open_files: int) -> None:
    """Fill the shared folder of one boot.

    Args:
        exchange: the empty folder.
        vm: what the guest is told to be.
        ground: where its kernel modules are.
        command: what it runs.
        open_files: files the host's file server may hold open.
    """
    into = exchange / "in"
    into.mkdir()
    (exchange / "out").mkdir()
    (into / "vm.json").write_bytes(msgspec.json.encode(vm))
    (into / "settings.sh").write_text(settings_script(vm, ground, command, open_files))
    (into / "command.sh").write_text(command_script(command))
    init = into / "init.sh"
    init.write_bytes(Path(__file__).with_name("guest-init.sh").read_bytes())
    init.chmod(0o755)


def settings_script(vm: Vm, ground: Ground, command: Command, open_files: int) -> str:
    """Shell variables for the guest's first program."""
    modules = [ground.modules / "kernel/fs/overlayfs/overlay.ko.xz"]
    if vm.disk_mib:
        modules.append(ground.modules / "kernel/drivers/block/virtio_blk.ko.xz")
    paths = {
        "LOAD_MODULES": modules,
        "SHOW_PATHS": hidden_paths((command.cwd, *command.needs)),
    }
    lines = [f"{name}=({' '.join(shlex.quote(str(path)) for path in value)})" for name, value in paths.items()]
    lines.append(f"MODULE_TREE={shlex.quote(str(ground.modules))}")
    lines.append(f"INIT_MODE={vm.mode.value}")
    lines.append(f"HOST_OPEN_FILES={open_files}")
    return "\n".join(lines) + "\n"


def command_script(command: Command) -> str:
    """Shell script that runs the command on `/dev/hvc0` and leaves its exit status in the shared folder."""
    env = {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/root",
        "LANG": "C.UTF-8",
        **command.env,
        "VM_OUT": str(GUEST_OUT),
        "FUYAOD_VM_SPEC": str(GUEST_SPEC),
    }
    exports = "\n".join(f"export {name}={shlex.quote(value)}" for name, value in env.items())
    return f"""exec </dev/null >/dev/hvc0 2>&1
{exports}
read -r uptime _ </proc/uptime
echo "guest is up after $uptime s"
(
cd {shlex.quote(str(command.cwd))} || exit 126
{command.shell}
)
echo $? >{GUEST_EXCHANGE}/status
"""


def hidden_paths(paths: tuple[Path, ...]) -> list[Path]:
    """Those paths that lie below a folder the guest has of its own and must be shown in it."""
    return [path for path in dict.fromkeys(paths) if any(path.is_relative_to(top) for top in _PRIVATE_IN_GUEST)]
