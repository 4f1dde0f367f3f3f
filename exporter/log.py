"""Logging in the forms of the Prometheus family: one line an event, logfmt or JSON, on stderr."""

from __future__ import annotations

import logging
import sys
from typing import Literal

import structlog

LogFormat = Literal["logfmt", "json"]

_ORDER = ["ts", "level", "msg"]


def configure(level: str, log_format: LogFormat) -> None:
    """Set up structlog for the process.

    Args:
        level: ``debug``, ``info``, ``warn`` or ``error``.
        log_format: The form of a line.
    """
    threshold = logging.WARNING if level == "warn" else getattr(logging, level.upper())
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer()
        if log_format == "json"
        else structlog.processors.LogfmtRenderer(key_order=_ORDER)
    )
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", key="ts"),
            structlog.processors.EventRenamer("msg"),
            # A traceback is one field of the line, not lines of its own.
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(threshold),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
