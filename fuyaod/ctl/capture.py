"""`fuyaoctl capture`."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from fuyaod.ctl.options import config_option, json_option, root_option, socket_option
from fuyaod.errors import FuyaodError

if TYPE_CHECKING:
    from fuyaod.model.pods import SourceReport
    from fuyaod.model.settings import Settings
    from fuyaod.node.capture import Capture


@click.command(
    "capture",
    short_help="Pack the files behind a snapshot into one file.",
    epilog="""\b
This machine, with what the agent knows of its pods:  fuyaoctl capture
Into a file of your choice:                           fuyaoctl capture -o bug.json.gz
A host's files in a folder:                           fuyaoctl capture --root /mnt/host -o host.json.gz
Read what is in it before you send it:                gunzip -c bug.json.gz | jq .""",
)
@click.option(
    "-o", "--output", metavar="FILE", help="A new file; default: fuyaod-capture-<time>.json.gz in this folder."
)
@root_option("Capture the host below DIR, asking no agent; default: this machine.")
@config_option
@socket_option
@json_option
def command(output: str | None, root: str | None, config: str | None, socket: str | None, as_json: bool) -> None:
    """Pack the host files that a snapshot comes from into one file, for `fuyaoctl replay` and for tests.

    Left out: host name, names of pods and containers and their labels (but for the QoS ones), kernel options that
    nothing here depends on, serial numbers, command lines, users, addresses.

    What the Kubernetes API server said is in it when the agent runs and --root is not given.

    \b
    JSON: {"file", "bytes", "host_files", "pods", "kubernetes": true | false}
    """
    from fuyaod.ctl.output import progress
    from fuyaod.ctl.places import read_settings
    from fuyaod.model.values import encode_pretty
    from fuyaod.node.capture import pack

    target = output or f"fuyaod-capture-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.json.gz"
    if os.path.lexists(target):
        raise FuyaodError(f"cannot write {target}: it is there already; name another file with -o")
    settings = read_settings(config)
    with progress(f"capturing {root or 'this machine'}"):
        reports = () if root is not None else _ask_agent(settings, socket)
        made = _capture(root or "/", settings, reports)
        packed = pack(made)
    _write_new(target, packed)
    summary = {
        "file": target,
        "bytes": len(packed),
        "host_files": len(made.tape.text) + len(made.tape.binary),
        "pods": len(made.snapshot.pods),
        "kubernetes": bool(reports),
    }
    if as_json:
        click.echo(encode_pretty(summary))
    else:
        click.echo("{file}: {bytes} bytes, {host_files} host files, {pods} pods".format_map(summary))


def _capture(root: str, settings: Settings, reports: tuple[SourceReport, ...]) -> Capture:
    from fuyaod.ctl.places import open_host
    from fuyaod.doctor.observe import observe_facts
    from fuyaod.node.capture import make_capture

    return make_capture(
        open_host(root),
        settings,
        reports,
        at_ns=time.monotonic_ns(),
        wall_s=time.time(),
        also=lambda host: observe_facts(host, brand_deadline_s=0),
    )


def _ask_agent(settings: Settings, socket: str | None) -> tuple[SourceReport, ...]:
    from fuyaod.ctl.output import say
    from fuyaod.ctl.places import agent_socket
    from fuyaod.node.capture import kubernetes_report
    from fuyaod.rpc.client import NodeClient

    try:
        with NodeClient(agent_socket(settings, socket, os.environ, os.geteuid())) as client:
            return kubernetes_report(client.snapshot())
    except FuyaodError as error:
        if socket:
            raise
        say(f"captured without what an agent knows from Kubernetes ({error})")
        return ()


def _write_new(path: str, data: bytes) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
    except OSError as error:
        raise FuyaodError(f"cannot write {path}: {error.strerror}") from error
