"""`fuyaoctl`: the group of commands, and how it ends when something goes wrong."""

from __future__ import annotations

import importlib
import signal
import sys
import traceback
from typing import IO, Any, Final

import click

from fuyaod import __version__
from fuyaod.errors import FuyaodError
from fuyaod.view.text import printable

COMMANDS: Final = ("snapshot", "doctor", "capture", "replay", "version")
"""Each is the `command` of the module of its name beside this one."""

INTERRUPTED: Final = 130
"""What shells report for a process that Ctrl-C ended (128 + SIGINT)."""


class Refused(click.ClickException):
    """Ends the command with one line on standard error and status 2."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        """Prints the line."""
        text = printable(self.format_message().replace("\n", " "))
        click.echo(f"fuyaoctl: {text}", file=file, err=file is None)


class Commands(click.Group):
    """Imports a command when it is asked for; turns every error into one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order in which one needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, None for an unknown name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"fuyaod.ctl.{cmd_name}").command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.Abort, click.exceptions.Exit, BrokenPipeError):
            raise
        except FuyaodError as error:
            raise Refused(str(error)) from error
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)
        except Exception as error:
            raise Refused(_defect(error)) from error


def _defect(error: Exception) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{last.filename.rpartition('/')[2]}:{last.lineno}"
    return f"cannot go on: {type(error).__name__}: {error} (at {where}); this is a defect of fuyaoctl, please report it"


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
What does this node look like now?        fuyaoctl snapshot
... without a running agent?              fuyaoctl snapshot --root /
What works here, what does not, and why?  fuyaoctl doctor
Take a bug home:                          fuyaoctl capture -o bug.json.gz
See it again on a laptop:                 fuyaoctl replay bug.json.gz
For scripts:                              fuyaoctl snapshot --json | jq '.pods[].qos'

\b
Exit status: 0 fine; 1 there is a finding (doctor: something is degraded or missing; replay: the snapshot came
out differently); 2 wrong usage, or it could not be done: then one line on standard error says why.""",
)
@click.version_option(__version__, prog_name="fuyaoctl")
def cli() -> None:
    """Look at a node through its agent, or directly at its files."""


def main() -> None:
    """Entry point of the command line."""
    # A reader that has seen enough (`| head`) ends us without a word, as it does every other tool.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    cli(prog_name="fuyaoctl")


if __name__ == "__main__":
    main()
