"""Log events with fields: one line each, text for a terminal and JSON for everything else."""

from __future__ import annotations

import contextlib
import io
import logging
import sys
from collections import deque
from typing import Any

# structlog loads rich wherever it is installed, 4 MiB for tracebacks that are not printed here; a node has 64 in all.
_rich = sys.modules.get("rich")
sys.modules["rich"] = None  # type: ignore[assignment]
import structlog  # noqa: E402
from structlog.typing import FilteringBoundLogger, Processor  # noqa: E402

if _rich is None:
    del sys.modules["rich"]
else:
    sys.modules["rich"] = _rich

from fuyaod.model.settings import Log, LogFormat  # noqa: E402

Logger = FilteringBoundLogger
"""What the loops are given; bind fields with `.bind(...)`."""


class LogTail(io.TextIOBase):
    """A stream that keeps the last lines, for the live view, which owns the terminal."""

    def __init__(self, most: int = 200) -> None:
        self._lines: deque[str] = deque(maxlen=most)

    def write(self, text: str) -> int:
        """Keeps every line of `text` that says something."""
        self._lines.extend(line for line in text.splitlines() if line.strip())
        return len(text)

    def isatty(self) -> bool:
        """Text for people, not JSON."""
        return True

    def lines(self) -> list[str]:
        """The lines kept, oldest first."""
        return list(self._lines)


class LossyStream(io.TextIOBase):
    """Passes text on; what cannot be written is lost. A full disk or a log reader that died must not end the agent.

    Args:
        out: where the text goes.
    """

    def __init__(self, out: Any) -> None:
        self._out = out

    def write(self, text: str) -> int:
        """Writes, or loses it. Returns the length of `text` either way."""
        with contextlib.suppress(OSError, ValueError):
            self._out.write(text)
        return len(text)

    def flush(self) -> None:
        """Flushes, or does not."""
        with contextlib.suppress(OSError, ValueError):
            self._out.flush()


def make_logger(settings: Log, stream: LogTail | None = None) -> Logger:
    """A logger that writes to `stream` (standard error), filtered by the level of the settings.

    Nothing global is configured: two loggers of one process may differ.
    """
    out: Any = sys.stderr if stream is None else stream
    as_json = settings.format is LogFormat.JSON or (settings.format is LogFormat.AUTO and not out.isatty())
    processors: list[Processor] = [
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.add_log_level,
    ]
    if as_json:
        processors += [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    else:
        processors.append(
            structlog.dev.ConsoleRenderer(
                colors=out is sys.stderr and out.isatty(), exception_formatter=structlog.dev.plain_traceback
            )
        )
    level = getattr(logging, settings.level.name)
    lossy: Any = LossyStream(out)
    logger: Logger = structlog.wrap_logger(
        structlog.PrintLogger(lossy),
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(level),
    )
    return logger
