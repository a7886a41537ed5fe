"""The shipped daemon as a child process, on a root of our choice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

DEADLINE_S = 60.0
"""For a start or a stop on a loaded machine; quiet, both take about a second."""


class Agent:
    """One `fuyaod run`. Use as a context manager; it is killed at the end whatever happened.

    Args:
        root: the host it observes.
        work: folder for its socket, settings and log.
        settings: TOML text.
        environment: more variables.
        log_path: where its output goes; None for a file in `work`.
    """

    def __init__(
        self,
        root: Path,
        work: Path,
        settings: str = "",
        environment: dict[str, str] | None = None,
        log_path: Path | None = None,
    ) -> None:
        self.settings = work / "fuyaod.toml"
        self.settings.write_text(settings)
        self.socket = work / "run" / "fuyaod.sock"
        self._log_path = log_path or work / "log"
        self._log = self._log_path.open("wb")
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("FUYAOD_")}
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-m", "fuyaod.agent", "run", "--root", root, "--config", self.settings, "--no-live"],
            env={
                **inherited,
                "FUYAOD_STATE__DIR": str(work / "run"),
                "FUYAOD_HTTP__LISTEN": "127.0.0.1:0",
                **(environment or {}),
            },
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
        )

    def __enter__(self) -> Agent:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(DEADLINE_S)
        self._log.close()

    def events(self, name: str | None = None) -> list[dict[str, Any]]:
        """Log lines so far, all or those of one event."""
        lines = self._log_path.read_text(errors="replace").splitlines()
        found = [json.loads(line) for line in lines if line.startswith("{")]
        return [event for event in found if name is None or event["event"] == name]

    def text(self) -> str:
        """All output so far."""
        return self._log_path.read_text(errors="replace")

    def wait_for(self, condition: Callable[[], bool], what: str) -> None:
        """Waits until something is so. Raises AssertionError with the log when it never is, or the agent ended."""
        until = time.monotonic() + DEADLINE_S
        while not condition():
            if self.process.poll() is not None or time.monotonic() > until:
                raise AssertionError(f"{what}: agent ended with {self.process.poll()}\n{self.text()[-4000:]}")
            time.sleep(0.02)

    def wait_started(self) -> Agent:
        """Waits for the first snapshot. Returns itself."""
        self.wait_for(lambda: bool(self.events("host_examined")), "start")
        return self

    @property
    def url(self) -> str:
        """Where the pages are."""
        return str(self.events("started")[0]["url"])

    def get(self, page: str) -> tuple[int, str]:
        """Status and body of a page."""
        try:
            with urllib.request.urlopen(self.url + page, timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Asks it to end and waits. Returns the exit status."""
        self.process.send_signal(number)
        return self.process.wait(DEADLINE_S)
