"""Asks py-cpuinfo for the CPU's name, in a process of its own that can be stopped.

py-cpuinfo starts `lscpu`, `dmesg` and others one after the other without any deadline, so it runs in its own session
and the whole session is stopped when time is up. It is asked only on arm64 models that the kernel shows as numbers;
there it runs no machine code of its own (on x86 it would, for CPUID).
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys


def ask_cpu_brand(deadline_s: float) -> str | None:
    """The CPU's name on this machine, None when py-cpuinfo does not know it, fails, or takes longer."""
    child = subprocess.Popen(
        [sys.executable, "-I", "-m", "fuyaod.doctor.observe.cpu_brand"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        out, _ = child.communicate(timeout=deadline_s)
    except subprocess.TimeoutExpired:
        out = b""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
    return out.decode(errors="replace").strip()[:120] or None


def main() -> None:
    """Prints the CPU's name, or an empty line."""
    from cpuinfo import get_cpu_info

    found: dict[str, object] = get_cpu_info()  # type: ignore[no-untyped-call]
    sys.stdout.write(f"{found.get('brand_raw', '')}\n")


if __name__ == "__main__":
    main()
