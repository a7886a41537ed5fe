"""`fuyaoctl doctor`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from fuyaod.ctl.options import config_option, json_option, root_option

if TYPE_CHECKING:
    from fuyaod.model.findings import Finding


@click.command(
    "doctor",
    short_help="Check this node: what works, what does not, what to do.",
    epilog="""\b
This machine:                    fuyaoctl doctor
With everything that is fine:    fuyaoctl doctor --all
A host's files in a folder:      fuyaoctl doctor --root /mnt/host
What is to be mended, as lines:  fuyaoctl doctor --json | jq -r '.findings[] | select(.status != "ok") | .mend'

\b
Exit status: 0 nothing is degraded or missing; 1 something is; 2 the host could not be looked at.""",
)
@root_option("The host's files; in a container /host.", default="/")
@config_option
@json_option
@click.option("--all", "with_ok", is_flag=True, help="Show what is fine as well. --json always has it.")
@click.pass_context
def command(ctx: click.Context, root: str, config: str | None, as_json: bool, with_ok: bool) -> None:
    """Check this node and explain: what works, what does not, what that costs, and how to mend it.

    Reads files only and needs no agent: kernel, cgroups, PSI, capabilities, RDT or MPAM, kubelet's policies, NRI, NPU
    driver, hugepages, clock.

    \b
    JSON: {"findings": [{"id", "status": "ok" | "degraded" | "missing", "summary", "cost", "mend"}]}
    """
    from fuyaod.model.findings import FindingStatus
    from fuyaod.model.values import encode_pretty
    from fuyaod.view.screens import finding_lines

    findings = _examine(root, config)
    bad = sum(1 for finding in findings if finding.status is not FindingStatus.OK)
    if as_json:
        click.echo(encode_pretty({"findings": findings}))
    else:
        click.echo(finding_lines(findings, with_ok=with_ok))
        click.echo(f"\n{len(findings)} checked, {len(findings) - bad} fine, {bad} to look at")
    ctx.exit(status_of(findings))


def status_of(findings: tuple[Finding, ...]) -> int:
    """The exit status: 0 when nothing is degraded or missing, else 1."""
    from fuyaod.model.findings import FindingStatus

    return 0 if all(finding.status is FindingStatus.OK for finding in findings) else 1


def _examine(root: str, config: str | None) -> tuple[Finding, ...]:
    from fuyaod.ctl.output import progress
    from fuyaod.ctl.places import open_host, read_settings
    from fuyaod.doctor.decide import diagnose
    from fuyaod.doctor.observe import observe_facts
    from fuyaod.settings_load import resolve_state_dir

    settings = read_settings(config)
    host = open_host(root)
    state_dir = resolve_state_dir(settings, os.environ, os.geteuid()) if host.is_this_machine else None
    with progress(f"examining {root}"):
        return diagnose(observe_facts(host, state_dir=state_dir))
