"""Reads host files for `doctor`: never raises, and remembers what it was refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from fuyaod.errors import FuyaodError, HostDenied, HostParseError
from fuyaod.hostfs import HostRoot
from fuyaod.model.cpuset import CpuSet
from fuyaod.model.facts import Refusal

T = TypeVar("T")

MAX_LINE: Final = 256
MAX_WORDS: Final = 65_536
"""Characters; the longest lists of words are those of CPUs in a frequency domain, 1024 CPUs in 4 KiB."""

INT64_MAX: Final = (1 << 63) - 1
"""A larger number is no kernel value and would not fit into serialised facts."""


class Reader:
    """Answers None both for what is not there and for what cannot be read; the latter is kept in `refused`.

    Args:
        host: the root to read below. Paths are relative to it.
    """

    def __init__(self, host: HostRoot) -> None:
        self.host = host
        self._refused: dict[str, Refusal] = {}
        self._texts: dict[str, str | None] = {}

    @property
    def refused(self) -> tuple[Refusal, ...]:
        """What could not be read, in the order of its first try."""
        return tuple(self._refused.values())

    def raw(self, path: str) -> bytes | None:
        """The whole file."""
        return self._try(path, self.host.read)

    def text(self, path: str) -> str | None:
        """The file as text without the blanks around it. Read once: `/proc/cpuinfo` is dear on large machines."""
        if path not in self._texts:
            self._texts[path] = self._try(path, self.host.read_text)
        return self._texts[path]

    def line(self, path: str) -> str | None:
        """The file as one line of at most 256 printable characters; anything longer or stranger is refused."""
        text = self.text(path)
        if text is None or (len(text) <= MAX_LINE and text.isprintable()):
            return text or None
        self.note(path, HostParseError(self.host.absolute(path), text[:80], "a line of text"))
        return None

    def lines(self, path: str) -> list[str]:
        """The lines of the file, none when there is no file."""
        return (self.text(path) or "").splitlines()

    def words(self, path: str) -> tuple[str, ...] | None:
        """The blank-separated words of the file."""
        text = self.text(path)
        if text is None:
            return None
        if len(text) <= MAX_WORDS and all(word.isprintable() for word in text.split()):
            return tuple(text.split())
        self.note(path, HostParseError(self.host.absolute(path), text[:80], "words"))
        return None

    def number(self, path: str) -> int | None:
        """The file as a whole number of at most 64 bits."""
        found = self._try(path, self.host.read_int)
        if found is None or abs(found) <= INT64_MAX:
            return found
        self.note(path, HostParseError(self.host.absolute(path), str(found)[:80], "a number of 64 bits"))
        return None

    def cpulist(self, path: str) -> CpuSet | None:
        """The file as a CPU or node list."""
        return self._try(path, self.host.read_cpulist)

    def names(self, path: str) -> tuple[str, ...]:
        """Names in a directory, without those that are no text; none when there is no directory."""
        found = self._try(path, self.host.list) or ()
        return tuple(name for name in found if name.isprintable() and name.isascii())

    def link(self, path: str) -> str | None:
        """What a link points to, as it is written; None when that is no text."""
        found = self._try(path, self.host.readlink)
        return found if found is None or found.isprintable() else None

    def find(self, *paths: str) -> str | None:
        """The first of the paths that is there, with its leading slash. Links are followed inside the root."""
        for path in paths:
            if self._try(path, self.host.resolve) is not None:
                return "/" + path
        return None

    def there(self, path: str) -> bool:
        """Whether something is there. Links are followed inside the root."""
        return self.find(path) is not None

    def note(self, path: str, error: Exception) -> None:
        """Remembers that `path` was read and made no sense."""
        self._refused.setdefault(path, Refusal(path="/" + path, text=str(error), denied=isinstance(error, HostDenied)))

    def _try(self, path: str, read: Callable[[str], T]) -> T | None:
        try:
            return read(path)
        except (FuyaodError, ValueError) as error:
            self.note(path, error)
            return None
