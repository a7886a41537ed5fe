"""`fuyaoctl snapshot`."""

from __future__ import annotations

import os

import click

from fuyaod.ctl.options import config_option, json_option, root_option, socket_option


@click.command(
    "snapshot",
    short_help="Show this node as it is.",
    epilog="""\b
The agent's view of this node:         fuyaoctl snapshot
Without an agent:                      fuyaoctl snapshot --root /
A host's files in a folder:            fuyaoctl snapshot --root /mnt/host
CPUs of every NUMA node:               fuyaoctl snapshot --json | jq '.topology.nodes[] | {node, cpus}'
Pods whose class is doubtful:          fuyaoctl snapshot --json | jq '.pods[] | select(.qos.problems != [])'""",
)
@root_option("Look at the host below DIR directly, without an agent (/ is this machine).")
@config_option
@socket_option
@json_option
@click.option(
    "--over",
    "over_s",
    metavar="SECONDS",
    type=click.FloatRange(0, 60),
    default=1.0,
    show_default=True,
    help="Take CPU use and stalls over this long; 0 looks once and shows none. --json looks once.",
)
@click.option(
    "--pods", "most", metavar="N", type=click.IntRange(min=1), default=20, show_default=True, help="Pods shown."
)
def command(root: str | None, config: str | None, socket: str | None, as_json: bool, over_s: float, most: int) -> None:
    """Show this node as it is: pressure, pods by class, NUMA nodes, devices, sources, findings.

    Asks the agent of this machine for its last snapshot, or reads the files below --root. The JSON is the whole
    snapshot with its `schema` number; sets of CPUs are written as the kernel does ("0-3,8"), times end in their unit.
    """
    if as_json:
        click.echo(_as_json(root, config, socket))
    else:
        click.echo(_as_text(root, config, socket, over_s, most))


def _as_json(root: str | None, config: str | None, socket: str | None) -> bytes:
    import msgspec

    from fuyaod.ctl.output import progress
    from fuyaod.ctl.places import agent_socket, open_host, read_settings
    from fuyaod.model.values import encode_pretty

    settings = read_settings(config)
    if root is not None:
        from fuyaod.ctl.look import observe_host

        with progress(f"looking at {root}"):
            return encode_pretty(observe_host(open_host(root), settings)[1])
    from fuyaod.rpc.client import NodeClient

    with NodeClient(agent_socket(settings, socket, os.environ, os.geteuid())) as client:
        return msgspec.json.format(client.snapshot_json(), indent=2)


def _as_text(root: str | None, config: str | None, socket: str | None, over_s: float, most: int) -> str:
    from fuyaod.ctl.look import observe_host, twice
    from fuyaod.ctl.output import progress, terminal_width
    from fuyaod.ctl.places import agent_socket, open_host, read_settings
    from fuyaod.view.screens import headline, screens
    from fuyaod.view.table import render

    settings = read_settings(config)
    if root is not None:
        with progress(f"looking at {root}", over_s):
            before, now = observe_host(open_host(root), settings, over_s)
    else:
        from fuyaod.rpc.client import NodeClient

        with (
            NodeClient(agent_socket(settings, socket, os.environ, os.geteuid())) as client,
            progress("waiting for the agent", over_s),
        ):
            before, now = twice(client.snapshot, over_s)
    return f"{headline(now, before)}\n\n{render(screens(now, before, most), terminal_width())}"
