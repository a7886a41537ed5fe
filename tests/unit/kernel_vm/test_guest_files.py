import subprocess
from pathlib import Path

import msgspec
import pytest

from tests.kernel.vm.ground import Ground
from tests.kernel.vm.guest_files import Command, command_script, hidden_paths, settings_script, write_guest_files
from tests.kernel.vm.spec import InitMode, Vm

GROUND = Ground(root=Path("/ca che/ground"), kernel_release="6.0-x")
COMMAND = Command(shell="true", cwd=Path("/tmp/it's here"), env={"WORD": "two words"}, needs=(Path("/usr"),))


def evaluate(script: str, expression: str) -> str:
    """What bash makes of the script."""
    argv = ["bash", "-c", f"{script}\nprintf '%s\\n' {expression}"]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def test_settings_of_a_machine_with_disk_load_both_modules() -> None:
    script = settings_script(Vm(disk_mib=1), GROUND, COMMAND, 5)

    tree = "/ca che/ground/lib/modules/6.0-x/kernel"
    assert evaluate(script, '"${LOAD_MODULES[@]}"').splitlines() == [
        f"{tree}/fs/overlayfs/overlay.ko.xz",
        f"{tree}/drivers/block/virtio_blk.ko.xz",
    ]


def test_settings_without_disk_load_the_overlay_only() -> None:
    assert evaluate(settings_script(Vm(), GROUND, COMMAND, 5), '"${#LOAD_MODULES[@]}"') == "1\n"


def test_settings_carry_mode_limit_and_hidden_paths() -> None:
    script = settings_script(Vm(mode=InitMode.SYSTEMD), GROUND, COMMAND, 5)

    assert evaluate(script, '"$INIT_MODE" "$HOST_OPEN_FILES" "${SHOW_PATHS[@]}"').splitlines() == [
        "systemd",
        "5",
        "/tmp/it's here",
    ]


def test_settings_without_hidden_paths_have_an_empty_list() -> None:
    script = settings_script(Vm(), GROUND, Command(shell="true", cwd=Path("/srv")), 5)

    assert evaluate(script, '"${#SHOW_PATHS[@]}"') == "0\n"


@pytest.mark.parametrize(
    ("path", "hidden"),
    [("/tmp/a", True), ("/run/a", True), ("/dev/shm/a", True), ("/srv/tmp", False), ("/tmpfiles", False)],
)
def test_hidden_paths_are_those_below_private_folders(path: str, hidden: bool) -> None:
    assert hidden_paths((Path(path), Path(path))) == ([Path(path)] if hidden else [])


def test_command_script_quotes_and_keeps_the_command_as_shell() -> None:
    script = command_script(COMMAND)

    assert "cd '/tmp/it'\"'\"'s here' || exit 126" in script
    assert "export WORD='two words'" in script
    assert "export FUYAOD_VM_SPEC=/run/vm/in/vm.json" in script
    subprocess.run(["bash", "-n", "-c", script], check=True)


def test_guest_files_tell_the_guest_what_it_is(tmp_path: Path) -> None:
    vm = Vm(cpus=4, nodes=2, sockets=2, threads=1, mem_mib=512)

    write_guest_files(tmp_path, vm, GROUND, COMMAND, 5)

    assert msgspec.json.decode((tmp_path / "in/vm.json").read_bytes(), type=Vm) == vm
    assert (tmp_path / "in/init.sh").stat().st_mode & 0o111
    assert (tmp_path / "out").is_dir()
    subprocess.run(["bash", "-n", str(tmp_path / "in/init.sh")], check=True)
