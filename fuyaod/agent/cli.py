"""`fuyaod`: the daemon's command line."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from importlib.util import find_spec

import click

from fuyaod import __version__
from fuyaod.agent.clock import Clock
from fuyaod.agent.daemon import Daemon, Places
from fuyaod.agent.log import LogTail, make_logger
from fuyaod.agent.settings_file import SettingsFile
from fuyaod.errors import FuyaodError
from fuyaod.hostfs import DescriptorBudget, HostRoot
from fuyaod.hostfs.budget import raise_descriptor_limit
from fuyaod.model.values import encode_pretty
from fuyaod.settings_load import load_settings, resolve_socket
from fuyaod.view.screens import finding_lines

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
    tail = LogTail() if live else None
    log = make_logger(file.current.log, tail)
    host = HostRoot(root, budget=DescriptorBudget(raise_descriptor_limit()))
    socket = resolve_socket(file.current, os.environ, os.geteuid())
    daemon = Daemon(host, file, socket, os.environ, log, Clock())
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with daemon.running() as places:
        await asyncio.sleep(0)  # the first snapshot comes before the slower look at what the host can do
        capabilities = daemon.examine_host()
        if tail is None:
            await stop.wait()
        else:
            click.echo(finding_lines(capabilities, with_ok=True) + "\n" + places.describe())
            await _show(daemon, places, tail, stop)
    if tail is not None:
        click.echo("\n".join(tail.lines()[-5:]), err=True)


async def _show(daemon: Daemon, places: Places, tail: LogTail, stop: asyncio.Event) -> None:
    from fuyaod.view.live import LiveView  # 25 MiB that only a terminal needs

    view = LiveView(daemon.latest.get, daemon.capabilities, tail.lines, places.describe())
    showing = asyncio.create_task(view.run_async(), name="live")
    stopping = asyncio.create_task(stop.wait(), name="stop")
    await asyncio.wait({showing, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if not showing.done():
        view.exit()
    with contextlib.suppress(asyncio.CancelledError):
        await showing


def _say(error: FuyaodError) -> int:
    click.echo(f"fuyaod: {error}", err=True)
    return 2
