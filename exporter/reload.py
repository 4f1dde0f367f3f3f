"""The configuration in force, and its replacement by what the file says now."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import structlog
from prometheus_client.metrics_core import Metric

from exporter import catalogue
from exporter.config import Configuration
from exporter.yaml_document import DocumentError

log = structlog.get_logger()


class ConfigurationFile:
    """Reads the file again on demand; a bad one is refused whole and the old stays in force.

    It is a collector too: of how the last reading went.
    """

    name = "config"

    def __init__(
        self,
        load: Callable[[], Configuration],
        apply: Callable[[Configuration], None],
        wall: Callable[[], float] = time.time,
    ) -> None:
        """Take what reads the file, what puts it in force, and a clock in Unix seconds.

        The file must have been read and put in force once already.
        """
        self._load = load
        self._apply = apply
        self._wall = wall
        self._lock = threading.Lock()
        self._successful = True
        self._read_at = wall()

    def reload(self) -> str:
        """Put what the file says now in force.

        Returns:
            Empty if it is, else one line that says why the old one stays.
        """
        with self._lock:
            try:
                self._apply(self._load())
            except (DocumentError, OSError) as error:
                return self._refuse(str(error))
            except Exception as error:  # the boundary: a file must not end what runs
                log.exception("configuration cannot be read; please report this")
                return self._refuse(f"{type(error).__name__}: {error}")
            self._successful = True
            self._read_at = self._wall()
            log.info("configuration read again")
            return ""

    def _refuse(self, reason: str) -> str:
        self._successful = False
        log.error("configuration refused; the old one stays in force", reason=reason)
        return reason

    def collect(self, timeout: float) -> tuple[list[Metric], bool]:  # noqa: ARG002 - it never waits
        """Return the families on the last reading; see `exporter.collectors.Collector`."""
        successful = catalogue.CONFIG_RELOAD_SUCCESSFUL.family()
        successful.add_metric([], float(self._successful))
        read_at = catalogue.CONFIG_RELOAD_TIME.family()
        read_at.add_metric([], self._read_at)
        return [successful, read_at], self._successful
