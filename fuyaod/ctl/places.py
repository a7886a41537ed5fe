"""Where to look: settings, the agent's socket, the host's files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from fuyaod.errors import FuyaodError
from fuyaod.hostfs import HostRoot
from fuyaod.model.settings import Settings
from fuyaod.settings_load import load_settings, resolve_socket

SIGNS: Final = ("proc/stat", "proc/meminfo", "sys/devices/system/cpu", "sys/devices/system/node", "sys/fs/cgroup")
"""At least one of them is there on every host, however damaged or reduced the tree is."""


def read_settings(config: str | None) -> Settings:
    """The settings in force. Raises SettingsError."""
    return load_settings(config, os.environ)


def agent_socket(settings: Settings, socket: str | None, environment: Mapping[str, str], uid: int) -> str:
    """The socket to ask: the one named, else the user's own agent, else the machine's when the user has none."""
    if socket:
        return socket
    own = resolve_socket(settings, environment, uid)
    of_root = resolve_socket(settings, environment, 0)
    return of_root if not Path(own).exists() and Path(of_root).exists() else own


def open_host(root: str) -> HostRoot:
    """The files below `root`. Raises FuyaodError when it is no folder, or none that holds a host's files."""
    folder = Path(root)
    if not folder.is_dir():
        raise FuyaodError(f"cannot look at --root {root}: {'not a folder' if folder.exists() else 'not there'}")
    host = HostRoot(root)
    if not any(host.exists(sign) for sign in SIGNS):
        raise FuyaodError(
            f"cannot look at --root {root}: no host's files are below it (none of {', '.join(SIGNS)}); "
            "--root wants what is / on that host"
        )
    return host
