"""The resctrl filesystem (RDT on x86, MPAM on arm64): what the CPU has, the kernel knows, and the mount offers."""

from __future__ import annotations

from typing import Final

from fuyaod.doctor.observe.reader import Reader
from fuyaod.model.facts import ResctrlFacts, ResctrlResource

ROOT: Final = "sys/fs/resctrl"

FLAGS: Final = frozenset(
    {"rdt_a", "cat_l2", "cat_l3", "cdp_l2", "cdp_l3", "mba", "smba", "bmec", "abmc"}
    | {"cqm", "cqm_llc", "cqm_occup_llc", "cqm_mbm_total", "cqm_mbm_local", "mpam"}
)
"""Source: Linux Documentation/filesystems/resctrl.rst, table of feature flags; `mpam` is shown by openEuler."""


def observe_resctrl(reader: Reader) -> ResctrlFacts:
    """Reads the capabilities; the folder is empty until the filesystem is mounted."""
    filesystems = reader.text("proc/filesystems")
    mounted = reader.there(f"{ROOT}/schemata")
    names = reader.names(f"{ROOT}/info") if mounted else ()
    resources = (allocating_resource(reader, name) for name in names)
    monitors = [word for name in names for word in reader.words(f"{ROOT}/info/{name}/mon_features") or ()]
    rmids = (reader.number(f"{ROOT}/info/{name}/num_rmids") for name in names if name.endswith("_MON"))
    return ResctrlFacts(
        known=None if filesystems is None else "resctrl" in filesystems.split(),
        mounted=mounted,
        flags=cpu_flags(reader),
        resources=tuple(resource for resource in resources if resource is not None),
        monitors=tuple(monitors),
        num_rmids=next((number for number in rmids if number is not None), None),
    )


def cpu_flags(reader: Reader) -> tuple[str, ...]:
    """The words of the first CPU's flags (x86) or features (arm64) that belong to resource control."""
    for line in reader.lines("proc/cpuinfo"):
        key, colon, value = line.partition(":")
        if colon and key.strip() in ("flags", "Features"):
            return tuple(sorted(FLAGS & set(value.split())))
    return ()


def allocating_resource(reader: Reader, name: str) -> ResctrlResource | None:
    """One folder of `info`, None when it allocates nothing (monitoring, `last_cmd_status`)."""
    base = f"{ROOT}/info/{name}"
    closids = reader.number(f"{base}/num_closids")
    if closids is None:
        return None
    return ResctrlResource(
        name=name,
        num_closids=closids,
        cbm_mask=reader.line(f"{base}/cbm_mask"),
        min_cbm_bits=reader.number(f"{base}/min_cbm_bits"),
        shareable_bits=reader.line(f"{base}/shareable_bits"),
        min_bandwidth=reader.number(f"{base}/min_bandwidth"),
        bandwidth_gran=reader.number(f"{base}/bandwidth_gran"),
    )
