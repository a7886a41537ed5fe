"""CPUs: model, which are usable, and how they are clocked."""

from __future__ import annotations

from typing import Final

from fuyaod.doctor.observe.cpu_brand import ask_cpu_brand
from fuyaod.doctor.observe.reader import Reader
from fuyaod.errors import HostParseError
from fuyaod.model.cpuset import CpuSet
from fuyaod.model.facts import CpuFacts
from fuyaod.model.values import parse_cpulist

ROOT: Final = "sys/devices/system/cpu"

ARM_CORES: Final = {
    (0x48, 0xD01): "Kunpeng 920 (TaiShan v110)",
    (0x48, 0xD02): "Kunpeng 920 (TaiShan v120, HIP09)",
    (0x41, 0xD0C): "Arm Neoverse N1",
    (0x41, 0xD40): "Arm Neoverse V1",
    (0x41, 0xD49): "Arm Neoverse N2",
    (0x41, 0xD4F): "Arm Neoverse V2",
}
"""Implementer and part. Source: Linux arch/arm64/include/asm/cputype.h (HISI_CPU_PART_TSV110 and its neighbours)."""


def observe_cpu(reader: Reader, brand_deadline_s: float) -> CpuFacts:
    """CPUs of the host.

    Args:
        brand_deadline_s: how long py-cpuinfo may take to name a CPU that `/proc/cpuinfo` does not name (it starts
            processes and takes about 1 s); 0 does not ask it. Other roots than this machine are never asked.
    """
    model = cpu_model(reader.text("proc/cpuinfo") or "")
    if model is None and reader.host.is_this_machine and brand_deadline_s > 0:
        model = ask_cpu_brand(brand_deadline_s)
    return CpuFacts(
        model=model,
        present=reader.cpulist(f"{ROOT}/present"),
        online=reader.cpulist(f"{ROOT}/online"),
        isolated=reader.cpulist(f"{ROOT}/isolated"),
        nohz_full=nohz_full(reader),
        smt=reader.line(f"{ROOT}/smt/control"),
        governors=governors(reader),
        cpufreq_driver=reader.line(f"{ROOT}/cpufreq/policy0/scaling_driver"),
    )


def cpu_model(cpuinfo: str) -> str | None:
    """The model's name out of `/proc/cpuinfo`: x86 writes it, arm64 gives the numbers of implementer and part."""
    fields: dict[str, str] = {}
    for line in cpuinfo.splitlines():
        key, colon, value = line.partition(":")
        if colon:
            fields.setdefault(key.strip(), value.strip())
    if name := fields.get("model name"):
        return name[:120]
    try:
        return ARM_CORES.get((int(fields["CPU implementer"], 16), int(fields["CPU part"], 16)))
    except (KeyError, ValueError):
        return None


def nohz_full(reader: Reader) -> CpuSet | None:
    """CPUs without a tick. Kernels without any write `(null)` there."""
    path = f"{ROOT}/nohz_full"
    text = reader.text(path)
    if text is None or text.strip("()") == "null":
        return None if text is None else CpuSet()
    try:
        return parse_cpulist(text)
    except ValueError as error:
        reader.note(path, HostParseError(reader.host.absolute(path), text, f"a CPU list ({error})"))
        return None


def governors(reader: Reader) -> dict[str, CpuSet]:
    """CPUs by governor, from one folder per frequency domain."""
    found: dict[str, CpuSet] = {}
    for name in reader.names(f"{ROOT}/cpufreq"):
        if not name.startswith("policy"):
            continue
        governor = reader.line(f"{ROOT}/cpufreq/{name}/scaling_governor")
        words = reader.words(f"{ROOT}/cpufreq/{name}/affected_cpus") or (name.removeprefix("policy"),)
        if governor:
            members = CpuSet(int(word) for word in words if word.isdecimal() and len(word) <= 4 and int(word) <= 8191)
            found[governor] = found.get(governor, CpuSet()) | members
    return found
