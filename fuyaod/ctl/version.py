"""`fuyaoctl version`."""

from __future__ import annotations

import os

import click

from fuyaod import __version__
from fuyaod.ctl.options import config_option, json_option, root_option, socket_option
from fuyaod.errors import FuyaodError
from fuyaod.view.text import printable


@click.command("version", short_help="Print the versions of tool and agent.")
@root_option("Ask no agent (there is none for files below DIR).")
@config_option
@socket_option
@json_option
def command(root: str | None, config: str | None, socket: str | None, as_json: bool) -> None:
    """Print the version of this tool and of the agent that runs here.

    \b
    JSON: {"fuyaoctl": "0.1.0", "snapshot_schema": 1, "agent": "0.1.0" | null}
    """
    from fuyaod.model.snapshot import SNAPSHOT_SCHEMA
    from fuyaod.model.values import encode_pretty

    agent, reason = _ask_agent(root, config, socket)
    if as_json:
        click.echo(encode_pretty({"fuyaoctl": __version__, "snapshot_schema": SNAPSHOT_SCHEMA, "agent": agent}))
        return
    click.echo(f"fuyaoctl {__version__} (snapshot schema {SNAPSHOT_SCHEMA})")
    click.echo(printable(f"agent    {agent or f'unknown: {reason}'}"))


def _ask_agent(root: str | None, config: str | None, socket: str | None) -> tuple[str | None, str]:
    if root is not None:
        return None, "not asked"
    from fuyaod.ctl.places import agent_socket, read_settings
    from fuyaod.rpc.client import NodeClient

    path = agent_socket(read_settings(config), socket, os.environ, os.geteuid())
    try:
        with NodeClient(path) as client:
            return client.get_node().agent_version, ""
    except FuyaodError as error:
        return None, str(error)
