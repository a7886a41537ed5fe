"""`Reading`: reads that turn damage into findings, so that one broken file costs one value and not the snapshot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, TypeVar

import msgspec

from fuyaod.errors import HostDenied, HostFileError, HostParseError
from fuyaod.hostfs import HostRoot, KeptFile
from fuyaod.model.cpuset import MAX_ID, CpuSet
from fuyaod.model.findings import Finding, FindingStatus

T = TypeVar("T")

SHOWN_PROBLEMS: Final = 3
"""Problems that a finding's summary quotes; a host of 1024 broken CPUs must not make a summary of a megabyte."""

INT64_MAX: Final = (1 << 63) - 1
"""A larger number is no kernel value and would not fit into a serialised snapshot."""

COSTS: Final = {
    "topology.cpu": "CPUs are left out, or their place in core, die and package is unknown to placement",
    "topology.cache": "placement cannot keep a pod inside one cache for the CPUs concerned",
    "topology.node": "placement cannot keep CPU and memory of a pod on one NUMA node where the node is unclear",
    "memory.node": "memory of the node is missing from the snapshot",
    "memory.system": "memory of the host is missing from the snapshot",
    "cpu.time": "utilisation of the host is missing from the snapshot",
    "pci.device": "devices are left out, or their NUMA node and link are unknown to placement",
    "nic.interface": "network interfaces are left out, or their state and counters are unknown",
}
"""What a finding of this id costs."""


class Observed(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """What was seen, and what was wrong with the files it came from."""

    value: T
    findings: tuple[Finding, ...] = ()


class Reading:
    """Reads below one root. Each read gives None for what is missing, and also for what is damaged or denied, which
    it then remembers for `findings()`.

    Every reader takes `about`, the id of the finding that a problem belongs to.
    """

    def __init__(self, host: HostRoot) -> None:
        self.host = host
        self._problems: dict[str, list[str]] = {}
        self._denied: set[str] = set()

    def again(self) -> Reading:
        """A new reading of the same host that starts with the problems of this one."""
        reading = Reading(self.host)
        reading._problems = {about: list(texts) for about, texts in self._problems.items()}
        reading._denied = set(self._denied)
        return reading

    def cpulist(self, about: str, path: str) -> CpuSet | None:
        """The file as a CPU or node list."""
        return self._guard(about, self.host.read_cpulist, path)

    def number(self, about: str, path: str, *, none_errno: int | None = None) -> int | None:
        """The file as a number of at most 64 bits. `none_errno` is how the kernel says that there is none now."""
        found = self._guard(about, self.host.read_int, path, none_errno)
        if found is not None and abs(found) > INT64_MAX:
            self.problem(about, f"{self.host.absolute(path)}: {str(found)[:40]} is beyond 64 bits")
            return None
        return found

    def count(self, about: str, path: str) -> int | None:
        """The file as a number; None also for a negative one, the kernel's "not known"."""
        found = self.number(about, path)
        return None if found is None or found < 0 else found

    def text(self, about: str, path: str) -> str | None:
        """The file as text without the blanks around it, for a parser: it may hold anything."""
        return self._guard(about, self.host.read_text, path)

    def raw(self, about: str, path: str) -> bytes | None:
        """The file's bytes."""
        return self._guard(about, self.host.read, path)

    def names(self, about: str, path: str) -> tuple[str, ...] | None:
        """Printable names in a directory, sorted."""
        found = self._guard(about, self.host.list, path)
        return None if found is None else tuple(name for name in found if name.isprintable())

    def link_name(self, about: str, path: str) -> str | None:
        """Last part of a link's target."""
        found = self._guard(about, self.host.readlink, path)
        name = "" if found is None else found.rstrip("/").rpartition("/")[2]
        return name if name and name.isprintable() else None

    def resolve(self, about: str, path: str) -> str | None:
        """The path with every link followed."""
        found = self._guard(about, self.host.resolve, path)
        return found if found is None or found.isprintable() else None

    def exists(self, about: str, path: str) -> bool | None:
        """Whether something is there; None when that cannot be told."""
        try:
            return self.host.stat(path) is not None
        except HostFileError as error:
            self._remember(about, error)
            return None

    def kept(self, about: str, file: KeptFile) -> bytes | None:
        """What a kept file holds."""
        try:
            return file.read()
        except HostFileError as error:
            self._remember(about, error)
            return None

    def kept_count(self, about: str, file: KeptFile) -> int | None:
        """A kept file as a count: digits and nothing else, of at most 63 bits."""
        raw = self.kept(about, file)
        if raw is None:
            return None
        digits = raw.strip()
        if digits.isdigit() and len(digits) <= 19 and (count := int(digits)) <= INT64_MAX:
            return count
        self.problem(about, f"{self.host.absolute(file.relative)}: {raw[:40]!r} is not a count")
        return None

    def problem(self, about: str, text: str) -> None:
        """Something in the files that makes no sense."""
        self._problems.setdefault(about, []).append(text)

    def findings(self) -> tuple[Finding, ...]:
        """One finding for each id with problems."""
        return tuple(self._finding(about, texts) for about, texts in sorted(self._problems.items()))

    def _guard(self, about: str, read: Callable[[str], T | None], path: str, none_errno: int | None = None) -> T | None:
        try:
            return read(path)
        except (HostFileError, HostParseError) as error:
            if none_errno is None or not isinstance(error, HostFileError) or error.errno != none_errno:
                self._remember(about, error)
            return None

    def _remember(self, about: str, error: HostFileError | HostParseError) -> None:
        self.problem(about, str(error))
        if isinstance(error, HostDenied):
            self._denied.add(about)

    def _finding(self, about: str, texts: list[str]) -> Finding:
        more = len(texts) - SHOWN_PROBLEMS
        denied = about in self._denied
        return Finding(
            id=about,
            status=FindingStatus.DEGRADED,
            summary="; ".join(texts[:SHOWN_PROBLEMS]) + (f"; and {more} more" if more > 0 else ""),
            cost=COSTS[about],
            mend="let the agent read these files (run it as root, and with the host's /sys and /proc)"
            if denied
            else "",
        )


def meminfo_kib(raw: bytes, key: bytes) -> int | None:
    """The number behind `key` in a meminfo file. A plain search: parsing all 50 lines would cost ten times as much."""
    at = raw.find(key)
    # `Cached:` is also the end of `SwapCached:`; a key starts a line, or follows a blank in a node's file.
    while at > 0 and raw[at - 1] not in b"\n ":
        at = raw.find(key, at + 1)
    if at < 0:
        return None
    words = raw[at + len(key) : at + len(key) + 40].split(None, 1)
    return int(words[0]) if words and words[0].isdigit() and int(words[0]) <= INT64_MAX >> 10 else None


def numbered(names: tuple[str, ...], prefix: str) -> CpuSet:
    """The numbers behind `prefix` in names such as `cpu12` or `node3`; other names are passed over."""
    start = len(prefix)
    tails = (name[start:] for name in names if name.startswith(prefix))
    numbers = (int(tail) for tail in tails if tail.isascii() and tail.isdigit() and len(tail) <= 5)
    return CpuSet(number for number in numbers if number <= MAX_ID)
