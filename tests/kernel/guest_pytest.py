"""The pytest call that runs inside the guest, and its rehearsal on the host."""

import compileall
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec

from tests.kernel.boots import Boot

REPOSITORY = Path(__file__).resolve().parents[2]

# The guest's Python is more than ten times slower than the host's: nothing is loaded that the tests do not use.
_UNUSED_PLUGINS = ("cacheprovider", "doctest", "unittest", "nose", "pastebin", "stepwise", "setuponly", "setupplan")
_NO_TESTS = 5


class CollectError(RuntimeError):
    """The guest's tests cannot be collected; the message is what pytest printed."""


def pytest_argv(boot: Boot, keyword: str | None) -> list[str]:
    """The common part of the call."""
    argv = [sys.executable, "-m", "pytest", "-c", "tests/kernel/guest.ini", "--rootdir", str(REPOSITORY)]
    argv += ["-p", "pytest_timeout", "-m", boot.marks]
    for plugin in _UNUSED_PLUGINS:
        argv += ["-p", f"no:{plugin}"]
    if keyword:
        argv += ["-k", keyword]
    return [*argv, "tests/kernel/guest"]


def guest_shell(boot: Boot, keyword: str | None) -> str:
    """Shell text for the guest. The JUnit file appears in its result folder."""
    argv = [*pytest_argv(boot, keyword), "--verbose", "-rfEs", "--tb=short", "--color=no"]
    return f'{shlex.join(argv)} --junitxml="$VM_OUT/{junit_name(boot)}"'


def guest_environ() -> dict[str, str]:
    """Environment of that call."""
    return {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "120"}


def junit_name(boot: Boot) -> str:
    """File name of a boot's JUnit report."""
    return f"kernel-{boot.name}.xml"


def python_folders() -> tuple[Path, ...]:
    """Folders that Python needs in the guest."""
    return (REPOSITORY, Path(sys.prefix), Path(sys.base_prefix))


def collect(boot: Boot, keyword: str | None) -> int:
    """Collect the tests of a boot on the host.

    This also leaves behind the byte code that the guest, whose writes are lost, would compile at each boot.

    Returns:
        How many tests the boot will run.

    Raises:
        CollectError: they cannot be collected.
    """
    with tempfile.TemporaryDirectory() as name:
        spec = Path(name) / "vm.json"
        spec.write_bytes(msgspec.json.encode(boot.vm))
        environ = {**os.environ, **guest_environ(), "FUYAOD_VM_SPEC": str(spec)}
        del environ["PYTHONDONTWRITEBYTECODE"]
        done = subprocess.run(
            [*pytest_argv(boot, keyword), "--collect-only", "-q", "--no-header"],
            capture_output=True,
            text=True,
            check=False,
            env=environ,
            cwd=REPOSITORY,
        )
    if done.returncode not in (0, _NO_TESTS):
        raise CollectError(done.stdout + done.stderr)
    return sum("::" in line for line in done.stdout.splitlines())


def compile_byte_code() -> None:
    """Compile what the guest may import from this repository."""
    for folder in ("fuyaod", "fuyao_api", "tests"):
        compileall.compile_dir(REPOSITORY / folder, quiet=2)
