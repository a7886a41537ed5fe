"""What the kernel lets this process do."""

from __future__ import annotations

import re

from fuyaod.doctor.observe.reader import Reader
from fuyaod.hostfs.parse import parse_colon_keyed
from fuyaod.model.facts import Limit, ProcessFacts


def observe_process(reader: Reader) -> ProcessFacts | None:
    """The reading process, None where the root has no `/proc/self` (a declared tree)."""
    text = reader.text("proc/self/status")
    if text is None:
        return None
    status = parse_colon_keyed(text.encode(), "/proc/self/status")
    limits = reader.text("proc/self/limits") or ""
    capabilities = status.get("CapEff", "")
    return ProcessFacts(
        cap_eff=int(capabilities, 16) if re.fullmatch(r"[0-9a-fA-F]{1,16}", capabilities) else None,
        no_new_privs={"0": False, "1": True}.get(status.get("NoNewPrivs", "")),
        pid_namespace=pid_namespace(reader),
        memlock=limit(limits, "Max locked memory"),
        nofile=limit(limits, "Max open files"),
        rt_runtime_us=reader.number("proc/sys/kernel/sched_rt_runtime_us"),
        rt_group_runtime_us=group_rt_runtime_us(reader),
    )


def pid_namespace(reader: Reader) -> int | None:
    """Inode of our PID namespace, from a link such as `pid:[4026531836]`."""
    found = re.fullmatch(r"pid:\[(\d{1,18})\]", reader.link("proc/self/ns/pid") or "")
    return int(found[1]) if found else None


def limit(text: str, name: str) -> Limit | None:
    """One row of `/proc/self/limits`. Source: Linux fs/proc/base.c, proc_pid_limits()."""
    number = r" +(\d{1,18}|unlimited)"
    found = re.search(rf"^{name}{number}{number} ", text, re.MULTILINE)
    if not found:
        return None
    soft, hard = (None if word == "unlimited" else int(word) for word in found.groups())
    return Limit(soft=soft, hard=hard)


def group_rt_runtime_us(reader: Reader) -> int | None:
    """Real-time share of our own v1 cpu group, None without one (v2, or a kernel without RT_GROUP_SCHED)."""
    for line in reader.lines("proc/self/cgroup"):
        parts = line.split(":", 2)
        if len(parts) == 3 and "cpu" in parts[1].split(",") and ".." not in parts[2]:
            folder = f"sys/fs/cgroup/cpu{parts[2].rstrip('/')}"
            return reader.number(f"{folder}/cpu.rt_runtime_us")
    return None
