"""Log events with fields: one line each, text for a terminal and JSON for everything else."""

from __future__ import annotations

import logging
import sys
from typing import TextIO

import structlog
from structlog.typing import FilteringBoundLogger, Processor

from fuyaod.model.settings import Log, LogFormat

Logger = FilteringBoundLogger
"""What the loops are given; bind fields with `.bind(...)`."""


def make_logger(settings: Log, stream: TextIO | None = None) -> Logger:
    """A logger that writes to `stream` (standard error), filtered by the level of the settings.

    Nothing global is configured: two loggers of one process may differ.
    """
    out = sys.stderr if stream is None else stream
    as_json = settings.format is LogFormat.JSON or (settings.format is LogFormat.AUTO and not out.isatty())
    processors: list[Processor] = [
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.add_log_level,
    ]
    if as_json:
        processors += [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    else:
        processors.append(
            structlog.dev.ConsoleRenderer(colors=out.isatty(), exception_formatter=structlog.dev.plain_traceback)
        )
    level = getattr(logging, settings.level.name)
    logger: Logger = structlog.wrap_logger(
        structlog.PrintLogger(out), processors=processors, wrapper_class=structlog.make_filtering_bound_logger(level)
    )
    return logger
