"""`fuyaod run` on a terminal of its own: the live view, and every way in which it ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts.declare import declare, materialise
from tests.hosts.scratch import scratch_root
from tests.integration.agent import DEADLINE_S

pytest.importorskip("textual", reason="the live view needs the extra `top`")


DRAWN = b"Quit"
"""In the foot of the view and nowhere before it."""


class OnTerminal:
    """A daemon with a pseudo-terminal as its standard streams and controlling terminal."""

    def __init__(self, root: Path, work: Path) -> None:
        self.master, slave = pty.openpty()
        rows, columns = 55, 190
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("FUYAOD_", "COLUMNS", "LINES"))}
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-m", "fuyaod.agent", "run", "--root", root],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            env={
                **environment,
                "TERM": "xterm-256color",
                "FUYAOD_STATE__DIR": str(work / "run"),
                "FUYAOD_HTTP__LISTEN": "127.0.0.1:0",
            },
        )
        os.close(slave)
        self.seen = b""

    def read_until(self, text: bytes) -> None:
        """Reads what is drawn until a text is in it."""
        until = time.monotonic() + DEADLINE_S
        while text not in self.seen:
            assert time.monotonic() < until, self.seen[-2000:]
            self._read()

    def drain(self) -> int:
        """Reads on so that the process can draw, until it ends. Returns its exit status."""
        until = time.monotonic() + DEADLINE_S
        while self.process.poll() is None and time.monotonic() < until:
            self._read()
        return self.process.wait(0.1)

    def _read(self) -> None:
        ready = select.poll()
        ready.register(self.master, select.POLLIN)
        if ready.poll(50):
            with contextlib.suppress(OSError):  # the other end is closed
                self.seen += os.read(self.master, 65_536)

    def close(self) -> None:
        """Closes the terminal's window."""
        os.close(self.master)
        self.master = -1


@pytest.fixture
def shown(tmp_path: Path) -> Iterator[OnTerminal]:
    with scratch_root() as root:
        materialise(declare("kunpeng920-910b"), root)
        terminal = OnTerminal(root, tmp_path)
        try:
            yield terminal
        finally:
            if terminal.process.poll() is None:
                terminal.process.kill()
            terminal.process.wait(DEADLINE_S)
            if terminal.master >= 0:
                terminal.close()


def test_live_view_on_a_terminal_shows_node_findings_and_places(shown: OnTerminal) -> None:
    shown.read_until(b"/metrics")  # said in full before the view takes the terminal
    shown.read_until(b"NUMA nodes")
    shown.read_until(b"0000:01:00.0")

    assert b"costs:" in shown.seen
    assert b"mend:" in shown.seen


@pytest.mark.parametrize("key", [b"\x03", b"q"], ids=["Ctrl-C", "q"])
def test_live_view_key_ends_the_agent_cleanly(shown: OnTerminal, key: bytes) -> None:
    shown.read_until(DRAWN)

    os.write(shown.master, key)

    assert shown.drain() == 0
    assert b"Traceback" not in shown.seen


def test_live_view_ends_on_sigterm(shown: OnTerminal) -> None:
    shown.read_until(DRAWN)

    shown.process.send_signal(signal.SIGTERM)

    assert shown.drain() == 0


def test_live_view_whose_window_is_closed_ends_the_agent(shown: OnTerminal, tmp_path: Path) -> None:
    shown.read_until(DRAWN)

    shown.close()

    assert shown.process.wait(DEADLINE_S) == 0
    assert not (tmp_path / "run" / "fuyaod.sock").exists()
