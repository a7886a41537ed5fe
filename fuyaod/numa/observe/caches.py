"""Caches of level 2 and 3, and the CPUs behind each."""

from __future__ import annotations

from typing import Final

from fuyaod.model.cpuset import EMPTY, CpuSet
from fuyaod.model.topology import CacheDomain, CacheType
from fuyaod.numa.observe.reading import Reading

ABOUT: Final = "topology.cache"
LEVELS: Final = (2, 3)
SIZE_UNITS: Final = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
"""The kernel prints K only. Source: Linux drivers/base/cacheinfo.c, size_show()."""

RIVALS: Final = {CacheType.DATA: CacheType.UNIFIED, CacheType.UNIFIED: CacheType.DATA}
"""A CPU has one of the two on a level."""


def observe_caches(reading: Reading, online: CpuSet) -> tuple[CacheDomain, ...]:
    """Cache domains of level 2 and 3, by level and lowest CPU; domains of one level and type never overlap.

    A CPU that an earlier CPU's domains already cover is not asked again, which on 1024 CPUs saves most reads.

    Source: Linux Documentation/ABI/testing/sysfs-devices-system-cpu, cache/index*.
    """
    found: list[CacheDomain] = []
    covered: dict[tuple[int, CacheType], CpuSet] = {}
    for cpu in online:
        if covered and all(cpu in cpus for cpus in covered.values()):
            continue
        base = f"sys/devices/system/cpu/cpu{cpu}/cache/"
        for index in reading.names(ABOUT, base) or ():
            if not index.startswith("index"):
                continue
            domain = _observe_cache(reading, cpu, base + index + "/", online, covered)
            if domain is not None:
                key = (domain.level, domain.type)
                covered[key] = covered.get(key, EMPTY) | domain.cpus
                found.append(domain)
    _note_shared_ids(reading, found)
    return tuple(sorted(found, key=lambda c: (c.level, c.type.value, next(iter(c.cpus)))))


def _observe_cache(
    reading: Reading, cpu: int, base: str, online: CpuSet, covered: dict[tuple[int, CacheType], CpuSet]
) -> CacheDomain | None:
    level = reading.count(ABOUT, base + "level")
    if level not in LEVELS:
        return None
    kind = _cache_type(reading, base + "type")
    if kind is None or cpu in (taken := covered.get((level, kind), EMPTY)):
        return None
    rivals = covered.get((level, RIVALS.get(kind, kind)), EMPTY)
    if cpu in rivals:
        reading.problem(ABOUT, f"{base}type: CPU {cpu} has another L{level} of data already")
        return None
    taken |= rivals
    named = reading.cpulist(ABOUT, base + "shared_cpu_list")
    if named is None:
        return None
    if cpu not in named:
        reading.problem(ABOUT, f"{base}shared_cpu_list: {str(named)[:40]!r} leaves out CPU {cpu} itself")
        return None
    if not named <= online:
        reading.problem(ABOUT, f"{base}shared_cpu_list: CPUs {str(named - online)[:40]} are not online")
    if named & taken:
        reading.problem(ABOUT, f"{base}shared_cpu_list: CPUs {str(named & taken)[:40]} have another L{level} already")
    return CacheDomain(
        level=level,
        type=kind,
        cache_id=reading.count(ABOUT, base + "id"),
        cpus=named & online - taken,
        size_bytes=_size_bytes(reading, base + "size"),
    )


def _cache_type(reading: Reading, path: str) -> CacheType | None:
    text = reading.text(ABOUT, path)
    if text is None:
        return None
    try:
        return CacheType(text)
    except ValueError:
        reading.problem(ABOUT, f"{path}: {text[:40]!r} is no cache type")
        return None


def _size_bytes(reading: Reading, path: str) -> int | None:
    text = reading.text(ABOUT, path)
    if text is None:
        return None
    digits, unit = (text[:-1], SIZE_UNITS.get(text[-1:])) if not text.isdigit() else (text, 1)
    if unit is None or not (digits.isascii() and digits.isdigit() and len(digits) <= 9):
        reading.problem(ABOUT, f"{path}: {text[:40]!r} is no cache size")
        return None
    return int(digits) * unit or None


def _note_shared_ids(reading: Reading, domains: list[CacheDomain]) -> None:
    seen: dict[tuple[int, CacheType, int], CpuSet] = {}
    for domain in domains:
        if domain.cache_id is None:
            continue
        other = seen.setdefault((domain.level, domain.type, domain.cache_id), domain.cpus)
        if other is not domain.cpus:
            text = f"L{domain.level} id {domain.cache_id} stands for CPUs {other} and for CPUs {domain.cpus}"
            reading.problem(ABOUT, text[:200])
