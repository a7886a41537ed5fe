from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from fuyaod import __version__
from fuyaod.ctl.cli import COMMANDS, Commands
from tests.unit.ctl.conftest import Run, parsed

READS_HOST = ("snapshot", "doctor", "capture")


@pytest.mark.parametrize("arguments", [(), *((name,) for name in COMMANDS)], ids=lambda a: " ".join(a) or "fuyaoctl")
def test_help_teaches_by_example_and_is_quick_to_read(run: Run, arguments: tuple[str, ...]) -> None:
    result = run(*arguments, "--help")

    assert result.exit_code == 0
    assert arguments == ("version",) or "fuyaoctl " + (arguments[0] if arguments else "doctor") in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 120


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_root_config_and_json(name: str) -> None:
    command: click.Command = importlib.import_module(f"fuyaod.ctl.{name}").command

    options = {option for parameter in command.params for option in parameter.opts}

    assert {"--root", "--config", "--json"} <= options


def test_help_imports_neither_grpc_nor_msgspec() -> None:
    code = (
        "import sys; from fuyaod.ctl.cli import cli; cli(['--help'], standalone_mode=False); "
        "print(sorted({'grpc', 'msgspec', 'asyncio', 'google.protobuf'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)

    assert done.stderr.strip() == "[]"


@pytest.mark.parametrize("arguments", [("frobnicate",), ("snapshot", "--bogus"), ("replay",)], ids=" ".join)
def test_wrong_usage_exits_2(run: Run, arguments: tuple[str, ...]) -> None:
    result = run(*arguments)

    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Usage: fuyaoctl" in result.stderr


@pytest.mark.parametrize("name", READS_HOST)
@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: None, "not there"),
        (lambda path: path.write_text("x"), "not a folder"),
        (lambda path: path.mkdir(), "no host's files are below it"),
    ],
    ids=["missing", "a-file", "an-empty-folder"],
)
def test_root_that_is_no_host_exits_2_with_one_line(
    run: Run, tmp_path: Path, name: str, make: object, said: str
) -> None:
    root = tmp_path / "root"
    assert callable(make)
    make(root)

    result = run(name, "--root", root)

    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"fuyaoctl: cannot look at --root {root}: {said}")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("name", READS_HOST)
def test_config_with_unknown_key_exits_2_and_names_it(run: Run, tmp_path: Path, laptop: Path, name: str) -> None:
    config = tmp_path / "fuyaod.toml"
    config.write_text("[observe]\ninterval_sm = 5\n")

    result = run(name, "--root", laptop, "--config", config)

    assert result.exit_code == 2
    assert result.stderr.startswith("fuyaoctl: cannot use settings from")
    assert "interval_sm" in result.stderr
    assert "$.observe" in result.stderr


def test_defect_is_one_line_that_says_where() -> None:
    @click.group(cls=Broken)
    def cli() -> None: ...

    result = CliRunner().invoke(cli, ["snapshot"])

    assert result.exit_code == 2
    assert result.stderr.startswith("fuyaoctl: cannot go on: ValueError: two lines (at test_cli.py:")
    assert result.stderr.count("\n") == 1


class Broken(Commands):
    """A group whose command has a defect."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        def fail() -> None:
            raise ValueError("two\nlines")

        return click.Command(cmd_name, callback=fail)


@pytest.mark.parametrize("name", ["a\x1b]0;owned\x07", "a\x9b2J"])
def test_error_about_a_hostile_name_shows_no_control_character(run: Run, tmp_path: Path, name: str) -> None:
    result = run("replay", tmp_path / name)

    assert result.exit_code == 2
    assert result.stderr.strip().isprintable()


def test_interrupt_exits_130_without_a_word() -> None:
    class Interrupted(Commands):
        def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
            def interrupt() -> None:
                raise KeyboardInterrupt

            return click.Command(cmd_name, callback=interrupt)

    @click.group(cls=Interrupted)
    def cli() -> None: ...

    result = CliRunner().invoke(cli, ["snapshot"])

    assert (result.exit_code, result.output) == (130, "")


def test_reader_that_goes_away_ends_it_without_a_word(laptop: Path) -> None:
    command = [sys.executable, "-m", "fuyaod.ctl.cli", "snapshot", "--root", str(laptop), "--json"]
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = subprocess.run(command, stdout=write_end, stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(write_end)

    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, b"")


def test_version_without_agent_says_why(run: Run) -> None:
    result = run("version")

    assert result.exit_code == 0
    assert f"fuyaoctl {__version__}" in result.stdout
    assert "unknown: cannot reach the agent at" in result.stdout


def test_version_json_without_agent_is_null(run: Run) -> None:
    assert parsed(run("version", "--json")) == {"fuyaoctl": __version__, "snapshot_schema": 1, "agent": None}
