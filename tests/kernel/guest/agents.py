"""The shipped daemon inside the machine: as a child process, or as a transient unit of systemd."""

import contextlib
import http.client
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from tests.kernel.guest.waiting import wait_until

UNIT = "fuyaod-under-test.service"
START_S = 120
WATCHDOG_S = 6
SETTINGS = """
[observe]
interval_ms = 500
topology_interval_s = 86400  # only an event makes it look at the topology again

[http]
listen = "127.0.0.1:0"

[rpc]
socket = "{socket}"

[log]
format = "json"

[[qos.services]]
unit = "nginx-kernel-*.service"
class = "{nginx}"

[[qos.services]]
unit = "batch-*.slice"
class = "BE"
"""


class Places(msgspec.Struct, frozen=True, kw_only=True):
    """Files of one daemon."""

    settings: Path
    socket: Path
    log: Path


def lay_out(folder: Path) -> Places:
    """Settings for a daemon, and where its socket and log will be."""
    places = Places(settings=folder / "fuyaod.toml", socket=folder / "run/fuyaod.sock", log=folder / "log")
    write_settings(places, nginx="LS")
    return places


def write_settings(places: Places, *, nginx: str) -> None:
    """The settings, with the class of the nginx unit."""
    places.settings.write_text(SETTINGS.format(socket=places.socket, nginx=nginx))


def agent_argv(places: Places) -> list[str]:
    """How the daemon is called."""
    return [sys.executable, "-I", "-m", "fuyaod.agent", "run", "--no-live", "--config", str(places.settings)]


class Agent(msgspec.Struct, frozen=True, kw_only=True):
    """A running daemon.

    Args:
        pid: its process.
        url: where its pages are.
        socket: where its node API listens.
    """

    pid: int
    url: str
    socket: Path

    def get(self, page: str) -> tuple[int, str]:
        """Status and body of a page."""
        address = urlsplit(self.url)
        with contextlib.closing(http.client.HTTPConnection(address.netloc, timeout=30)) as connection:
            connection.request("GET", page)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

    def metrics(self) -> dict[str, float]:
        """Values by name and labels, as they are written."""
        lines = self.get("/metrics")[1].splitlines()
        pairs = (line.rpartition(" ") for line in lines if not line.startswith("#"))
        return {name: float(value) for name, _, value in pairs}

    def snapshot(self) -> dict[str, Any]:
        """What `fuyaoctl snapshot --json` says through the socket."""
        answer = ctl("snapshot", "--json", "--socket", str(self.socket))
        assert answer.returncode == 0, answer.stderr
        found: dict[str, Any] = json.loads(answer.stdout)
        return found


def ctl(*argv: str, under: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    """Run `fuyaoctl`, perhaps under another command."""
    tool = Path(sys.executable).with_name("fuyaoctl")
    return subprocess.run([*under, sys.executable, tool, *argv], capture_output=True, text=True, check=False)


@contextlib.contextmanager
def child_agent(folder: Path) -> Iterator[Agent]:
    """The daemon as a child, from its first snapshot on."""
    places = lay_out(folder)
    with places.log.open("wb") as log:
        process = subprocess.Popen(agent_argv(places), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        wait_until(
            lambda: bool(_events(places.log, "node_state")) or process.poll() is not None,
            "the first snapshot",
            within_s=START_S,
        )
        assert process.poll() is None, places.log.read_text()
        yield Agent(pid=process.pid, url=_events(places.log, "started")[0]["url"], socket=places.socket)
    finally:
        process.kill()
        process.wait()


class AgentUnit:
    """The daemon as a transient unit of systemd. Tests share it: whoever needs it running calls `running`.

    Args:
        folder: for its files.
    """

    def __init__(self, folder: Path) -> None:
        self.places = lay_out(folder)
        self._said = folder / "systemd-run"
        self._holder: subprocess.Popen[bytes] | None = None

    def begin(self) -> None:
        """Ask systemd to start it, and return when its process exists."""
        unit = ["--wait", "--collect", f"--unit={UNIT}"]
        properties = {
            "Type": "notify",
            "WatchdogSec": WATCHDOG_S,
            "TimeoutStartSec": START_S,
            "LimitCORE": 0,
            "StandardOutput": f"append:{self.places.log}",
            "StandardError": f"append:{self.places.log}",
        }
        argv = ["systemd-run", *unit, *(f"--property={name}={value}" for name, value in properties.items())]
        with self._said.open("wb") as said:
            self._holder = subprocess.Popen([*argv, *agent_argv(self.places)], stdin=subprocess.DEVNULL, stderr=said)
        wait_until(lambda: self.show()["MainPID"] != "0", f"the process of {UNIT}")

    def running(self) -> Agent:
        """The daemon, started unless it runs."""
        if self._holder is None:
            self.begin()
        wait_until(lambda: self.show()["ActiveState"] != "activating", f"the start of {UNIT}", within_s=START_S)
        seen = self.show()
        assert seen["ActiveState"] == "active", (seen, self._said.read_text())
        url = seen["StatusText"].partition("/metrics")[0]
        return Agent(pid=int(seen["MainPID"]), url=url, socket=self.places.socket)

    def show(self) -> dict[str, str]:
        """What systemd says of the unit."""
        names = "ActiveState,MainPID,StatusText"
        shown = subprocess.run(
            ["systemctl", "show", f"--property={names}", UNIT], capture_output=True, text=True, check=True
        )
        return dict(line.split("=", 1) for line in shown.stdout.splitlines())

    def wait_ended(self) -> str:
        """Wait for the unit's end.

        Returns:
            What `systemd-run --wait` printed: its result, and how the process ended.
        """
        assert self._holder is not None
        self._holder.wait(START_S)
        self._holder = None
        return self._said.read_text()

    def stop(self) -> str:
        """Ask systemd to stop it if it runs. Returns as `wait_ended`."""
        if self._holder is None:
            return ""
        subprocess.run(["systemctl", "stop", UNIT], check=True)
        return self.wait_ended()


def _events(log: Path, name: str) -> list[dict[str, Any]]:
    lines = [line for line in log.read_text().splitlines() if line.startswith("{") and line.endswith("}")]
    return [event for event in map(json.loads, lines) if event["event"] == name]
