from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from fuyaod.ctl.cli import cli
from tests.hosts.declare import declare, materialise

Run = Callable[..., Result]
Start = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def laptop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A declared host's files; nobody writes to them."""
    folder = tmp_path_factory.mktemp("host")
    materialise(declare("laptop-hybrid"), folder)
    return folder


@pytest.fixture
def nowhere(tmp_path: Path) -> dict[str, str]:
    """An environment in which no agent runs and no settings file is named."""
    return {"FUYAOD_STATE__DIR": str(tmp_path / "no-agent"), "FUYAOD_CONFIG": ""}


@pytest.fixture
def run(nowhere: dict[str, str]) -> Run:
    """Runs the command line in this process."""

    def invoke(*arguments: str | Path) -> Result:
        return CliRunner().invoke(cli, [str(one) for one in arguments], env=nowhere, prog_name="fuyaoctl")

    return invoke


@pytest.fixture
def start(nowhere: dict[str, str]) -> Start:
    """Runs the command line as the process it is in the field."""

    def execute(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "fuyaod.ctl.cli", *map(str, arguments)]
        return subprocess.run(
            command, env=os.environ | nowhere, capture_output=True, text=True, timeout=60, check=False
        )

    return execute


def parsed(result: Result) -> Any:
    """The one JSON document on standard output."""
    return msgspec.json.decode(result.stdout)
