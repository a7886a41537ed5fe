"""Cache domains."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuyaod.model import CpuSet
from fuyaod.model.findings import Finding
from fuyaod.model.topology import CacheDomain, CacheType
from fuyaod.model.values import parse_cpulist
from fuyaod.numa.observe.caches import observe_caches
from fuyaod.numa.observe.reading import Reading
from tests.unit.numa.trees import CPU, Tree, build, machine

ALL = parse_cpulist("0-7")
L3_OF_0 = f"{CPU}cpu0/cache/index3/"


def _observe(root: Path, changes: Tree) -> tuple[tuple[CacheDomain, ...], tuple[Finding, ...]]:
    reading = Reading(build(root, machine() | changes))
    return observe_caches(reading, ALL), reading.findings()


def test_caches_healthy_machine_gives_each_domain_once(tmp_path: Path) -> None:
    domains, findings = _observe(tmp_path, {})

    assert findings == ()
    assert [(d.level, str(d.cpus), d.cache_id) for d in domains] == [
        (2, "0,4", 0),
        (2, "1,5", 1),
        (2, "2,6", 2),
        (2, "3,7", 3),
        (3, "0-1,4-5", 0),
        (3, "2-3,6-7", 1),
    ]
    assert {d.type for d in domains} == {CacheType.UNIFIED}
    assert domains[0].size_bytes == 1 << 20
    assert domains[-1].size_bytes == 32 << 20


def test_caches_split_l2_keeps_data_and_instruction_apart(tmp_path: Path) -> None:
    tree: Tree = {f"{CPU}cpu{n}/cache/index2/type": "Data\n" for n in range(8)}
    for n in range(8):
        base = f"{CPU}cpu{n}/cache/index4/"
        tree |= {base + "type": "Instruction\n", base + "level": "2\n", base + "shared_cpu_list": f"{n}\n"}

    domains, findings = _observe(tmp_path, tree)

    assert findings == ()
    assert len([d for d in domains if d.type is CacheType.DATA]) == 4
    assert len([d for d in domains if d.type is CacheType.INSTRUCTION]) == 8


def test_caches_some_cpus_without_l3_keep_their_l2(tmp_path: Path) -> None:
    gone: Tree = {f"{CPU}cpu{n}/cache/index3/{f}": None for n in (2, 3, 6, 7) for f in FILES}

    domains, findings = _observe(tmp_path, gone)

    assert findings == ()
    assert [str(d.cpus) for d in domains if d.level == 3] == ["0-1,4-5"]
    assert len([d for d in domains if d.level == 2]) == 4


FILES = ("type", "level", "size", "shared_cpu_list", "id")


def test_caches_no_cache_folder_gives_none(tmp_path: Path) -> None:
    tree = {path: None for path in machine() if "/cache/" in path}

    assert _observe(tmp_path, dict(tree)) == ((), ())


@pytest.mark.parametrize("text", [None, "-1\n", "x", "9" * 30], ids=["no_file", "negative", "garbage", "too_large"])
def test_caches_id_missing_or_broken_is_none(tmp_path: Path, text: str | None) -> None:
    domains, _ = _observe(tmp_path, {L3_OF_0 + "id": text})

    assert [d.cache_id for d in domains if d.level == 3] == [None, 1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("512K", 512 << 10),
        ("2M", 2 << 20),
        ("64", 64),
        (None, None),
        ("0K", None),
        ("K", None),
        ("-5K", None),
        ("", None),
    ],
    ids=str,
)
def test_caches_size_reads_units_or_gives_none(tmp_path: Path, text: str | None, expected: int | None) -> None:
    domains, _ = _observe(tmp_path, {L3_OF_0 + "size": text})

    assert next(d for d in domains if d.level == 3).size_bytes == expected


@pytest.mark.parametrize(
    ("shared", "text"),
    [
        ("0-1,4-5,9\n", "not online"),
        ("1,4-5\n", "leaves out CPU 0"),
        ("junk\n", "CPU numbers"),
        (b"\xff\x00", "not text"),
    ],
    ids=["offline_cpu", "not_itself", "garbage", "binary"],
)
def test_caches_contradictory_list_is_found_and_cut(tmp_path: Path, shared: str | bytes, text: str) -> None:
    domains, findings = _observe(tmp_path, {L3_OF_0 + "shared_cpu_list": shared})

    assert [f.id for f in findings] == ["topology.cache"]
    assert text in findings[0].summary
    assert all(d.cpus <= ALL for d in domains)
    assert "0-1,4-5" in [str(d.cpus) for d in domains if d.level == 3] or "1,4-5" in str(findings)


def test_caches_overlapping_domains_are_made_disjoint(tmp_path: Path) -> None:
    domains, findings = _observe(tmp_path, {f"{CPU}cpu2/cache/index3/shared_cpu_list": "1-3,6-7\n"})

    l3 = [d.cpus for d in domains if d.level == 3]
    assert l3 == [parse_cpulist("0-1,4-5"), parse_cpulist("2-3,6-7")]
    assert "have another L3" in findings[0].summary


@pytest.mark.parametrize("shared", ["2,6\n", "1-2,5-6\n"], ids=["same_cpus", "more_cpus"])
def test_caches_data_and_unified_of_one_level_do_not_overlap(tmp_path: Path, shared: str) -> None:
    base = f"{CPU}cpu2/cache/index0/"

    domains, findings = _observe(tmp_path, {base + "level": "2\n", base + "shared_cpu_list": shared})

    assert sorted(cpu for d in domains if d.level == 2 for cpu in d.cpus) == list(range(8))
    assert "another L2" in findings[0].summary


def test_caches_one_id_for_two_domains_is_found(tmp_path: Path) -> None:
    _, findings = _observe(tmp_path, {f"{CPU}cpu2/cache/index3/id": "0\n"})

    assert "L3 id 0 stands for" in findings[0].summary


def test_caches_only_online_cpus_are_asked(tmp_path: Path) -> None:
    reading = Reading(build(tmp_path, machine()))

    domains = observe_caches(reading, CpuSet((0, 1)))

    assert all(d.cpus <= CpuSet((0, 1)) for d in domains)
