from __future__ import annotations

import threading
from pathlib import Path

import click
import pytest

from fuyaod.ctl import output
from fuyaod.ctl.places import agent_socket
from fuyaod.model.settings import Rpc, Settings, State


def test_agent_socket_named_one_wins() -> None:
    assert agent_socket(Settings(rpc=Rpc(socket="/a")), "/b", {}, 0) == "/b"


def test_agent_socket_of_the_settings_is_taken() -> None:
    assert agent_socket(Settings(rpc=Rpc(socket="/a")), None, {}, 1000) == "/a"


def test_agent_socket_of_the_user_is_taken(tmp_path: Path) -> None:
    (tmp_path / "fuyaod").mkdir()
    own = tmp_path / "fuyaod" / "fuyaod.sock"
    own.touch()

    assert agent_socket(Settings(), None, {"XDG_RUNTIME_DIR": str(tmp_path)}, 1000) == str(own)


def test_agent_socket_in_the_state_folder_is_the_same_for_all() -> None:
    assert agent_socket(Settings(state=State(dir="/s")), None, {}, 1000) == "/s/fuyaod.sock"


def test_progress_long_work_is_told_on_standard_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with output.progress("waiting", expected_s=-output.QUIET_FOR_S):
        for thread in threading.enumerate():
            if isinstance(thread, threading.Timer):
                thread.join(10)

    assert capsys.readouterr().err == "fuyaoctl: waiting ...\n"


def test_progress_short_work_is_not_told(capsys: pytest.CaptureFixture[str]) -> None:
    with output.progress("waiting"):
        click.echo("done")

    assert capsys.readouterr() == ("done\n", "")
