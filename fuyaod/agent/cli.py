"""`fuyaod`: the daemon's command line."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import termios
from importlib.util import find_spec

import click

from fuyaod import __version__
from fuyaod.agent.clock import Clock
from fuyaod.agent.daemon import Daemon, Places
from fuyaod.agent.heap import give_large_buffers_back
from fuyaod.agent.log import LogTail, make_logger
from fuyaod.agent.settings_file import SettingsFile
from fuyaod.errors import FuyaodError
from fuyaod.hostfs import DescriptorBudget, HostRoot
from fuyaod.hostfs.budget import raise_descriptor_limit
from fuyaod.model.values import encode_pretty
from fuyaod.settings_load import load_settings, resolve_socket
from fuyaod.view.screens import finding_lines

VIEW_ENDS_S = 2.0
"""A view that has not put the terminal back by then never will."""

CONFIG_VARIABLE = "FUYAOD_CONFIG"


@click.group(
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Look at this machine:           fuyaod run
With your own settings:         fuyaod run --config /etc/fuyaod/fuyaod.toml
Every setting and its default:  fuyaod settings
Ask a running agent:            fuyaoctl snapshot""",
)
@click.version_option(__version__, prog_name="fuyaod")
def main() -> None:
    """The node agent: observes this node and keeps online inference fast.

    It observes and reports; it writes nothing to the kernel.
    """


@main.command()
@click.option(
    "--config", type=click.Path(dir_okay=False), envvar=CONFIG_VARIABLE, help="TOML file; default: built-in values."
)
@click.option(
    "--root",
    default="/",
    show_default=True,
    type=click.Path(file_okay=False, exists=True),
    help="Where the host's /sys, /proc and /dev are (in a container: /host).",
)
@click.option("--live/--no-live", default=None, help="One-screen view; default: when standard output is a terminal.")
def run(config: str | None, root: str, live: bool | None) -> None:
    """Observe this node until stopped (Ctrl-C or SIGTERM; SIGHUP reads the settings again).

    \b
    Prints what it can do here and what it cannot, with the mend, and where /metrics, /healthz and the gRPC socket are.
    Any setting can be overridden by a variable named after its TOML path: FUYAOD_OBSERVE__INTERVAL_MS=500.
    """
    wants_live = all(s.isatty() for s in (sys.stdin, sys.stdout, sys.stderr)) if live is None else live
    if wants_live and not sys.stdin.isatty():
        raise SystemExit(
            _say(FuyaodError("cannot show the live view: standard input is no terminal; leave --live out"))
        )
    if wants_live and find_spec("textual") is None:
        click.echo("no live view: install the extra `top` (pip install 'fuyaod[top]'); log lines instead", err=True)
        wants_live = False
    try:
        asyncio.run(_run(SettingsFile(config, os.environ), root, live=wants_live))
    except FuyaodError as error:
        raise SystemExit(_say(error)) from error


@main.command()
@click.option("--config", type=click.Path(dir_okay=False), envvar=CONFIG_VARIABLE, help="TOML file to check and show.")
def settings(config: str | None) -> None:
    """Print the settings in force, as JSON; exits 2 when the file is refused."""
    try:
        click.echo(encode_pretty(load_settings(config, os.environ)))
    except FuyaodError as error:
        raise SystemExit(_say(error)) from error


async def _run(file: SettingsFile, root: str, *, live: bool) -> None:
    give_large_buffers_back()
    tail = LogTail() if live else None
    log = make_logger(file.current.log, tail)
    host = HostRoot(root, budget=DescriptorBudget(raise_descriptor_limit()))
    socket = resolve_socket(file.current, os.environ, os.geteuid())
    daemon = Daemon(host, file, socket, os.environ, log, Clock())
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    view_ended = True
    async with daemon.running() as places:
        await asyncio.sleep(0)  # the first snapshot comes before the slower look at what the host can do
        capabilities = daemon.examine_host()
        if tail is None:
            await stop.wait()
        else:
            # The terminal was closed; without a view SIGHUP means "read the settings again".
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, stop.set)
            _say_safely(finding_lines(capabilities, with_ok=True) + "\n" + places.describe())
            view_ended = await _show(daemon, places, tail, stop)
    if not view_ended:
        os._exit(0)  # all of ours is put away; threads and streams of the view wait for a terminal that is gone
    if tail is not None:
        _say_safely("\n".join(tail.lines()[-5:]))


async def _show(daemon: Daemon, places: Places, tail: LogTail, stop: asyncio.Event) -> bool:
    """Shows the live view until the user quits, `stop` is set or the terminal is gone. Returns whether it has ended and
    given the terminal back."""
    from fuyaod.view.live import LiveView  # 25 MiB that only a terminal needs

    if stop.is_set():
        return True
    view = LiveView(daemon.latest.get, daemon.capabilities, tail.lines, places.describe())
    showing = asyncio.create_task(view.run_async(), name="live")
    ends = {asyncio.create_task(stop.wait(), name="stop"), asyncio.create_task(_terminal_gone(), name="terminal")}
    await asyncio.wait({showing, *ends}, return_when=asyncio.FIRST_COMPLETED)
    for end in ends:
        end.cancel()
    if not showing.done():
        view.exit()
        await asyncio.wait({showing}, timeout=VIEW_ENDS_S)
    if not showing.done():
        return False
    with contextlib.suppress(asyncio.CancelledError, OSError):
        await showing
    return _has_terminal()


def _say_safely(text: str) -> None:
    with contextlib.suppress(OSError):  # a terminal that was closed
        click.echo(text, err=True)


async def _terminal_gone() -> None:
    """Ends when the window of the terminal was closed."""
    while _has_terminal():  # noqa: ASYNC110 no event tells
        await asyncio.sleep(1)


def _has_terminal() -> bool:
    try:
        termios.tcgetattr(0)
    except (termios.error, OSError):
        return False
    return True


def _say(error: FuyaodError) -> int:
    click.echo(f"fuyaod: {error}", err=True)
    return 2
