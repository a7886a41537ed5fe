import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kernel.vm.processes import child, talking_child
from tests.unit.kernel_vm.waiting import readable

pytestmark = pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv (util-linux) is not installed")

PARENT = """
import sys
from pathlib import Path
from tests.kernel.vm.processes import child
with child(["sleep", "1000"], log=Path(sys.argv[1]), keep_fd=int(sys.argv[2])) as process:
    print("started", flush=True)
    process.wait()
"""


def test_child_is_gone_after_the_block(tmp_path: Path) -> None:
    with child(["sleep", "1000"], log=tmp_path / "log") as process:
        assert process.poll() is None

    assert process.returncode == -signal.SIGTERM


def test_child_that_ignores_the_request_is_killed(tmp_path: Path) -> None:
    with talking_child(
        ["sh", "-c", "trap '' TERM; echo ready; exec sleep 1000"], log=tmp_path / "log", end_within_s=0.1
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()

    assert process.returncode == -signal.SIGKILL


def test_child_output_is_in_its_log(tmp_path: Path) -> None:
    with child(["sh", "-c", "echo said; echo cried >&2"], log=tmp_path / "log") as process:
        process.wait(30)

    assert (tmp_path / "log").read_text() == "said\ncried\n"


def test_child_dies_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    end, held = os.pipe()
    os.set_inheritable(held, True)
    argv = [sys.executable, "-c", PARENT, str(tmp_path / "log"), str(held)]
    root = Path(__file__).parents[3]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, pass_fds=[held], cwd=root) as parent:
        os.close(held)
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"started\n"

        parent.kill()

        # The pipe ends when nobody holds its other side: neither parent nor child.
        assert readable(end)
    os.close(end)
