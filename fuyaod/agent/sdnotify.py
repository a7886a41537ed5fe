"""sd_notify: readiness, status line and watchdog towards systemd.

Source: sd_notify(3) and sd_watchdog_enabled(3). Written by hand: the protocol is one datagram.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Mapping


class SystemdNotifier:
    """Sends state to the service manager; does nothing where there is none (`NOTIFY_SOCKET` unset).

    Attributes:
        watchdog_s: how often `alive` must be sent (half of WATCHDOG_USEC), None when no watchdog is set for this
        process.
    """

    def __init__(self, environment: Mapping[str, str], pid: int | None = None) -> None:
        address = environment.get("NOTIFY_SOCKET", "")
        self._address = "\0" + address[1:] if address.startswith("@") else address
        own = str(os.getpid() if pid is None else pid)
        usec = environment.get("WATCHDOG_USEC", "")
        mine = environment.get("WATCHDOG_PID", own) == own
        self.watchdog_s = int(usec) / 2e6 if usec.isdigit() and int(usec) > 0 and mine and address else None

    def ready(self, status: str) -> None:
        """Start-up is done."""
        self._send(f"READY=1\nSTATUS={status}")

    def alive(self) -> None:
        """Feeds the watchdog."""
        self._send("WATCHDOG=1")

    def stopping(self) -> None:
        """Shutdown has begun."""
        self._send("STOPPING=1")

    def _send(self, message: str) -> None:
        if not self._address:
            return
        # The manager may be gone or slow: never wait for it, never fail over it.
        with (
            contextlib.suppress(OSError),
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sock,
        ):
            sock.setblocking(False)
            sock.sendto(message.encode(), self._address)
