"""`python -m tests.apiserver` as a process."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

ROOT = Path(__file__).parents[3]
COMMAND = [sys.executable, "-m", "tests.apiserver"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


@pytest.mark.parametrize(("option", "status"), [("--help", 0), ("--bogus", 2)])
def test_option_is_no_file_and_serves_nothing(tmp_path: Path, option: str, status: int) -> None:
    done = subprocess.run([*COMMAND, option], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, timeout=60)

    assert done.returncode == status
    assert b"usage: python -m tests.apiserver" in done.stdout + done.stderr
    assert list(tmp_path.iterdir()) == []


def test_kubeconfig_names_the_server_until_it_is_interrupted(tmp_path: Path) -> None:
    path = tmp_path / "config"
    with subprocess.Popen(
        [*COMMAND, str(path)], cwd=tmp_path, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True
    ) as it:
        assert it.stdout is not None
        url = it.stdout.readline().strip()
        it.send_signal(signal.SIGINT)
        status = it.wait(60)

    assert status == 0
    assert msgspec.json.decode(path.read_bytes())["clusters"][0]["cluster"]["server"] == url
