"""The settings file watched: a changed one is taken whole, or refused whole with the old one kept."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from fuyaod.model.settings import Settings
from fuyaod.settings_load import load_settings

Signature = tuple[int, int, int]
SIZE = 1


class SettingsFile:
    """Settings with the file they came from.

    Args:
        path: TOML file, None for the embedded defaults.
        environment: the process's environment at start.

    Raises:
        SettingsError: the file is refused at start.
    """

    def __init__(self, path: str | None, environment: Mapping[str, str]) -> None:
        self._path = path
        self._environment = dict(environment)
        self._signature = self._look()
        self._was_empty = False
        self.current = load_settings(path, self._environment)

    def poll(self) -> Settings | None:
        """New settings if the file changed and they differ, else None.

        A ConfigMap changes by a swapped link, an editor by a rename: device, inode, size and time are compared behind
        links.

        Raises:
            SettingsError: the changed file is refused; `current` stays. The same content is not tried again.
        """
        signature = self._look()
        if signature == self._signature:
            return None
        if signature is not None and signature[SIZE] == 0 and not self._was_empty:
            # Perhaps caught between truncate and write, and an empty file means all defaults: look once more.
            self._was_empty = True
            return None
        self._was_empty = False
        self._signature = signature
        return self.reload()

    def reload(self) -> Settings | None:
        """Reads the file now (SIGHUP). As `poll`."""
        fresh = load_settings(self._path, self._environment)
        if fresh == self.current:
            return None
        self.current = fresh
        return fresh

    def _look(self) -> Signature | None:
        if self._path is None:
            return None
        try:
            seen = Path(self._path).stat()
        except OSError:
            return None
        return seen.st_ino, seen.st_size, seen.st_mtime_ns


def needs_restart(old: Settings, new: Settings) -> tuple[str, ...]:
    """TOML paths of changed settings that are only taken at the next start: names, sockets and where Kubernetes is."""
    pairs = {
        "$.node": (old.node, new.node),
        "$.kubernetes": (old.kubernetes, new.kubernetes),
        "$.http.listen": (old.http.listen, new.http.listen),
        "$.rpc": (old.rpc, new.rpc),
        "$.state": (old.state, new.state),
        "$.log": (old.log, new.log),
    }
    return tuple(path for path, (was, now) in pairs.items() if was != now)
