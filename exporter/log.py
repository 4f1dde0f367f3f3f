"""Logging in the forms of the Prometheus family: one line an event, logfmt or JSON, on stderr."""

from __future__ import annotations

import contextlib
import io
import logging
import sys
from typing import Literal, TextIO, cast

import structlog

LogFormat = Literal["logfmt", "json"]

_ORDER = ["ts", "level", "msg"]

_CLIENT_LOGGERS = ("tornado",)
"""Loggers that tell of what clients did: closed early, spoke no HTTP, failed a TLS handshake."""


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
        logger_factory=structlog.PrintLoggerFactory(cast(TextIO, _Sink(sys.stderr))),
        cache_logger_on_first_use=False,
    )
    # What libraries say below a warning is not for operators, except about clients at debug.
    logging.basicConfig(handlers=[_Forwarder()], level=logging.WARNING, force=True)
    if threshold <= logging.DEBUG:
        for name in _CLIENT_LOGGERS:
            logging.getLogger(name).setLevel(logging.DEBUG)


class _Sink(io.TextIOBase):
    """A stream of which nobody notices that it cannot be written to.

    A full disk, or a reader that is gone, costs lines of the log; figures are worth more.
    """

    def __init__(self, stream: TextIO | None) -> None:
        """Take the stream; None where the process was started without one."""
        self._stream = stream

    def write(self, text: str) -> int:
        """Write ``text`` if that can be done."""
        if self._stream is not None:
            with contextlib.suppress(OSError, ValueError):  # ValueError: it is closed
                self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Write what waits if that can be done."""
        if self._stream is not None:
            with contextlib.suppress(OSError, ValueError):
                self._stream.flush()


class _Forwarder(logging.Handler):
    """Gives what libraries log to structlog, so that there is one form of line."""

    def emit(self, record: logging.LogRecord) -> None:
        """Log ``record``: at its level, or at debug if it is about a client's doings."""
        level = record.levelname.lower()
        if record.name.startswith(_CLIENT_LOGGERS) and record.levelno < logging.ERROR:
            level = "debug"
        event = getattr(structlog.get_logger(), "error" if level == "critical" else level)
        detail = record.getMessage()
        event("library", logger=record.name, detail=detail, exc_info=record.exc_info or None)
