"""What a snapshot and the agent cost on a node with many pods: `python -m bench.snapshot [--json] [--quick]
[--kernfs]`.

The node is a declared host on tmpfs; every control group file that is read gets another content between two looks,
outside the measured time. CPU time is that of the process, so the figures hold on a busy machine too.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator

import click

from bench.agent import AgentUse, measure_agent
from bench.ground import Ground, declared_host
from bench.kernfs import FILES, read_cost_us, real_groups, real_mount
from bench.machine import Row, print_rows, this_machine
from fuyaod.cgroups.observe import CensusObserver
from fuyaod.hostfs import DescriptorBudget, HostRoot
from fuyaod.hostfs.budget import raise_descriptor_limit
from fuyaod.model.settings import Observe, Settings
from fuyaod.node.observe import NodeObserver

FAST_FILES, SLOW_FILES = 3, 6
"""Files of a group that are read each tick, and every fifth tick."""


def look_cpu_ms(ground: Ground, settings: Settings, looks: int) -> list[float]:
    """CPU milliseconds of each look after the first, on changed files."""
    host = HostRoot(ground.root, budget=DescriptorBudget(raise_descriptor_limit()))
    observer = NodeObserver(host, settings)
    found = []
    for look in range(looks + 1):
        ground.change()
        began = time.process_time_ns()
        snapshot = observer.observe(look * 1_000_000_000, 0.0)
        found.append((time.process_time_ns() - began) / 1e6)
        if snapshot.cgroups.unreadable:
            raise SystemExit(f"cannot measure: {snapshot.cgroups.unreadable[0]} gave no value")
    observer.close()
    return found[1:]


def look_rows(ground: Ground, quick: bool) -> Iterator[Row]:
    """The mean tick and the full read, in this process."""
    every = Observe().slow_every_ticks
    ticks = look_cpu_ms(ground, Settings(), every * (6 if quick else 18))
    full = look_cpu_ms(ground, Settings(observe=Observe(slow_every_ticks=1)), 10 if quick else 30)
    spread = f"max {max(ticks):.1f} over {len(ticks)} ticks"
    yield Row(name="snapshot_cpu_ms", value=statistics.fmean(ticks), unit="ms", target=25, note=spread)
    spread = f"max {max(full):.1f} over {len(full)} reads"
    yield Row(name="full_read_cpu_ms", value=statistics.fmean(full), unit="ms", target=50, note=spread)


def kernfs_rows(ground: Ground, snapshot_ms: float) -> Iterator[Row]:
    """How far tmpfs flatters: the same kept reads on this machine's real groups."""
    groups = ground.groups
    with real_groups(real_mount(), groups) as folders:
        real = read_cost_us(folders)
    folder = f"{ground.root}/{ground.made.v2_mount}"
    declared = read_cost_us([folder + group.path for group in ground.made.cgroups.groups])
    reads = groups * (FAST_FILES + SLOW_FILES / Observe().slow_every_ticks)
    names = " + ".join(FILES)
    yield Row(name="kernfs_read_us", value=real, unit="us", note=f"{names} of {groups} real groups, no load in them")
    yield Row(name="tmpfs_read_us", value=declared, unit="us", note="the same files of the declared host")
    estimate = snapshot_ms + reads * (real - declared) / 1000
    yield Row(
        name="snapshot_on_kernfs_ms", value=estimate, unit="ms", note=f"estimate: {reads:.0f} reads at that price"
    )


def census_row() -> Row:
    """What a look at one of this machine's processes costs; the declared host has none."""
    looks = [_census_look() for _ in range(10)]
    note = f"{looks[-1][1]} processes of this machine"
    return Row(name="census_us_per_process", value=statistics.median(cost for cost, _ in looks), unit="us", note=note)


def _census_look() -> tuple[float, int]:
    """CPU microseconds per process of a first sweep, and the processes."""
    observer = CensusObserver(HostRoot("/"), Observe(census_chunk=10_000))
    began = time.process_time_ns()
    census = observer.step(0)
    spent = time.process_time_ns() - began
    if census is None:
        raise SystemExit("cannot measure: this machine's processes cannot be told from those of pods")
    processes = census.processes + census.in_pods
    return spent / 1000 / processes, processes


def agent_rows(use: AgentUse, starts: list[float]) -> Iterator[Row]:
    """The agent's own use, seen from outside."""
    lasted = f"over {use.seconds:.0f} s at its default interval"
    yield Row(name="agent_core_pct", value=use.core_pct, unit="%", target=3.5, note=lasted)
    yield Row(
        name="agent_rss_mib",
        value=use.rss_mib,
        unit="MiB",
        target=64,
        note="largest seen, without Kubernetes, not scraped",
    )
    yield Row(name="agent_rss_scraped_mib", value=use.scraped_rss_mib, unit="MiB", note="after ten /metrics requests")
    shown = ", ".join(f"{start:.2f}" for start in starts)
    first = statistics.median(starts)
    yield Row(name="first_snapshot_s", value=first, unit="s", target=1.5, note=f"median of {shown}")
    yield Row(name="metrics_scrape_cpu_ms", value=use.scrape_cpu_ms, unit="ms", note="per /metrics request, on top")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--json", "as_json", is_flag=True, help="JSON for machines.")
@click.option("--quick", is_flag=True, help="Under a minute, less exact.")
@click.option("--kernfs", is_flag=True, help="Also read groups made for it in this machine's /sys/fs/cgroup; as root.")
@click.option("--pods", type=click.IntRange(1, 5000), default=200, show_default=True)
@click.option("--containers-per-pod", type=click.IntRange(0, 20), default=2, show_default=True)
def main(as_json: bool, quick: bool, kernfs: bool, pods: int, containers_per_pod: int) -> None:
    """Measure the cost of a snapshot and of the agent on a node with many pods."""
    machine = this_machine()
    with declared_host(pods, containers_per_pod) as ground:
        rows = list(look_rows(ground, quick))
        if kernfs:
            rows += kernfs_rows(ground, rows[0].value)
        rows.append(census_row())
        with ground.changing():
            warm_up_s, seconds = (3, 12) if quick else (5, 30)
            uses = [measure_agent(ground.root, warm_up_s, seconds)]
            uses += [measure_agent(ground.root, 0, 0, scrapes=1) for _ in range(0 if quick else 2)]
        rows += agent_rows(uses[0], [use.first_snapshot_s for use in uses])
        title = f"{pods} pods, {pods * containers_per_pod} containers, {ground.groups} groups, {ground.files} files"
    print_rows(title, rows, machine, as_json=as_json)


if __name__ == "__main__":
    main()
