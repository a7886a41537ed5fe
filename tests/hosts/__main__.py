"""Makes a declared host in a folder, for `fuyaoctl ... --root FOLDER`."""

from __future__ import annotations

from pathlib import Path

import click

from tests.hosts.declare import DRIVERS, HOSTS, PROFILES, declare, materialise


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("name", type=click.Choice(HOSTS))
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--profile", type=click.Choice(sorted(PROFILES)), help="Kernel and distribution instead of the host's.")
@click.option("--driver", type=click.Choice(sorted(DRIVERS)), help="Group names instead of the host's.")
@click.option("--pods", type=click.IntRange(min=0), help="Generated pods instead of the default set.")
@click.option("--containers-per-pod", type=click.IntRange(min=0), default=2, show_default=True)
def main(
    name: str, folder: Path, profile: str | None, driver: str | None, pods: int | None, containers_per_pod: int
) -> None:
    """Makes host NAME in FOLDER, which must be new or empty."""
    if folder.exists() and any(folder.iterdir()):
        raise click.UsageError(f"cannot use {folder}: it is not empty")
    host = declare(name)
    made = materialise(host, folder, profile=profile, driver=driver, pods=pods, containers_per_pod=containers_per_pod)
    groups = len(made.cgroups.groups)
    click.echo(f"{host.summary}")
    click.echo(
        f"{made.profile.os_name}, {made.kernel_release}, {made.driver.name}: {len(made.cpus.online)} CPUs online, "
        f"{len(made.nodes)} nodes, {len(made.devices)} PCI devices, {len(made.pods)} pods, {groups} groups in {folder}"
    )
    if made.faults:
        click.echo(f"{len(made.faults)} files are empty here and cannot be read on such a machine")


if __name__ == "__main__":
    main()
