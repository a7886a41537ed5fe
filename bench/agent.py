"""Runs the shipped `fuyaod run` and reads from outside what it uses."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import psutil

START_LIMIT_S = 30


class AgentUse(msgspec.Struct, frozen=True, kw_only=True):
    """What a running agent uses. `core_pct` of one core; `rss_mib` the largest seen before anybody asked for /metrics,
    `scraped_rss_mib` after that; `first_snapshot_s` from exec."""

    core_pct: float
    rss_mib: float
    scraped_rss_mib: float
    first_snapshot_s: float
    scrape_cpu_ms: float
    seconds: float


class RunningAgent:
    """An agent that has made its first snapshot `first_snapshot_s` after its start."""

    def __init__(self, process: subprocess.Popen[bytes], first_snapshot_s: float, log: Path) -> None:
        self._process = process
        self._seen = psutil.Process(process.pid)
        self._log = log
        self.first_snapshot_s = first_snapshot_s

    def cpu_s(self) -> float:
        """CPU time so far, user and system, all threads."""
        times = self._seen.cpu_times()
        return float(times.user + times.system)

    def rss_mib(self) -> float:
        """Resident memory now."""
        return float(self._seen.memory_info().rss) / (1 << 20)

    def scrape(self) -> int:
        """Reads /metrics once; returns its length."""
        found = re.search(r"http://[0-9.:]+[0-9]", self._log.read_text(errors="replace"))
        if found is None:
            raise SystemExit("cannot scrape: the agent's log names no URL")
        with urllib.request.urlopen(found[0] + "/metrics", timeout=10) as answer:
            return len(answer.read())


@contextmanager
def running_agent(root: Path) -> Iterator[RunningAgent]:
    """`fuyaod run --root ROOT` with its defaults, but for a free HTTP port and its own run-time folder."""
    with (
        tempfile.TemporaryDirectory(prefix="fuyaod-bench-") as folder,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready,
    ):
        ready.bind(f"{folder}/notify")
        ready.settimeout(START_LIMIT_S)
        foreign = ("FUYAOD_", "KUBERNETES_")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        environment |= {
            "NOTIFY_SOCKET": f"{folder}/notify",
            "FUYAOD_HTTP__LISTEN": "127.0.0.1:0",
            "FUYAOD_STATE__DIR": folder,
        }
        log = Path(folder) / "log"
        command = [str(Path(sys.executable).parent / "fuyaod"), "run", "--root", str(root), "--no-live"]
        with log.open("wb") as output:
            began = time.monotonic()
            process = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )
            try:
                _wait_ready(ready, log)
                yield RunningAgent(process, time.monotonic() - began, log)
            finally:
                process.terminate()
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


def _wait_ready(ready: socket.socket, log: Path) -> None:
    """systemd's READY=1 comes with the first snapshot."""
    try:
        while b"READY=1" not in ready.recv(4096):
            pass
    except TimeoutError:
        raise SystemExit(f"cannot measure: no snapshot in {START_LIMIT_S} s\n{log.read_text()}") from None


def measure_agent(root: Path, warm_up_s: float, seconds: float, scrapes: int = 10) -> AgentUse:
    """What the agent on `root` uses per second after a warm-up, then what a scrape of /metrics costs on top."""
    with running_agent(root) as agent:
        time.sleep(warm_up_s)
        began, cpu_before = time.monotonic(), agent.cpu_s()
        rss = agent.rss_mib()
        while time.monotonic() < began + seconds:
            rss = max(rss, agent.rss_mib())
            time.sleep(0.5)
        lasted = time.monotonic() - began
        core = (agent.cpu_s() - cpu_before) / lasted
        began, cpu_before = time.monotonic(), agent.cpu_s()
        for _ in range(scrapes):
            agent.scrape()
        scraping = agent.cpu_s() - cpu_before - core * (time.monotonic() - began)
        return AgentUse(
            core_pct=100 * core,
            rss_mib=rss,
            scraped_rss_mib=agent.rss_mib(),
            first_snapshot_s=agent.first_snapshot_s,
            scrape_cpu_ms=1000 * max(0.0, scraping) / scrapes,
            seconds=lasted,
        )
