"""`fuyaoctl replay`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from fuyaod.ctl.options import json_option, root_option
from fuyaod.errors import FuyaodError

if TYPE_CHECKING:
    from fuyaod.model.findings import Finding
    from fuyaod.model.snapshot import NodeSnapshot
    from fuyaod.node.capture import Capture, Difference

MAX_FILE_BYTES: Final = 128 << 20
SHOWN: Final = 20
"""Differences listed for people; the JSON has them all."""


@click.command(
    "replay",
    short_help="Make the snapshot of a capture again.",
    epilog="""\b
Does this version see the host the same way?  fuyaoctl replay bug.json.gz
What would other settings make of it?         fuyaoctl replay bug.json.gz --config new.toml
Every difference:                             fuyaoctl replay bug.json.gz --json | jq .differences

\b
Exit status: 0 the snapshot came out as it was captured; 1 it came out differently; 2 the file is no capture.""",
)
@click.argument("file", type=click.Path(dir_okay=False))
@root_option("Take the host files below DIR in place of the captured ones.")
@click.option("--config", metavar="FILE", help="Settings (TOML) in place of the captured ones.")
@json_option
@click.pass_context
def command(ctx: click.Context, file: str, root: str | None, config: str | None, as_json: bool) -> None:
    """Make the snapshot of a capture again and say where it differs from the captured one; run `doctor` on it, too.

    FILE is what `fuyaoctl capture` wrote, packed or unpacked. Nothing of this machine is looked at.

    \b
    JSON: {"same": true | false, "differences": [{"path", "captured", "replayed"}], "findings": [...],
           "snapshot": {...}}
    """
    from fuyaod.ctl.output import progress
    from fuyaod.model.values import encode_pretty
    from fuyaod.node.capture import differences, unpack

    with progress(f"replaying {file}"):
        capture = unpack(_read(file), file)
        snapshot, findings = _replay(capture, root, config)
        found = differences(capture.snapshot, snapshot)
    if as_json:
        document = {"same": not found, "differences": found, "findings": findings, "snapshot": snapshot}
        click.echo(encode_pretty(document))
    else:
        click.echo(_as_text(capture, snapshot, findings, found))
    ctx.exit(1 if found else 0)


def _replay(capture: Capture, root: str | None, config: str | None) -> tuple[NodeSnapshot, tuple[Finding, ...]]:
    from fuyaod.ctl.places import open_host, read_settings
    from fuyaod.doctor.decide import diagnose
    from fuyaod.doctor.observe import observe_facts
    from fuyaod.node.capture import captured_host, replay

    host = open_host(root) if root is not None else captured_host(capture)
    settings = read_settings(config) if config is not None else None
    return replay(capture, host, settings), diagnose(observe_facts(host, brand_deadline_s=0))


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            raw = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise FuyaodError(f"cannot read {path}: {error.strerror}") from error
    if len(raw) > MAX_FILE_BYTES:
        raise FuyaodError(f"cannot read {path}: larger than {MAX_FILE_BYTES} bytes")
    return raw


def _as_text(
    capture: Capture, snapshot: NodeSnapshot, findings: tuple[Finding, ...], found: tuple[Difference, ...]
) -> str:
    from fuyaod.ctl.output import terminal_width
    from fuyaod.view.screens import finding_lines, headline, screens
    from fuyaod.view.table import Table, render

    changed = Table(
        title=f"differences from the snapshot that fuyaod {capture.version} captured"
        + (f" (first {SHOWN} of {len(found)})" if len(found) > SHOWN else ""),
        columns=("path", "captured", "replayed"),
        rows=tuple((one.path, one.captured, one.replayed) for one in found[:SHOWN]),
        empty="none: the same snapshot",
    )
    tables = render((*screens(snapshot), changed), terminal_width())
    return f"{headline(snapshot)}\n\n{tables}\n\ndoctor\n{finding_lines(findings)}"
