"""Collectors, one subject a module, and the boundary that keeps their errors apart."""

from __future__ import annotations

import platform
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

import structlog
from prometheus_client.metrics_core import Metric

from exporter import __version__, catalogue

log = structlog.get_logger()


class Collector(Protocol):
    """One subject of the page."""

    name: str

    def collect(self, timeout: float) -> tuple[list[Metric], bool]:
        """Return fresh families, and whether all that was asked for was got.

        Args:
            timeout: Seconds within which the answer is of use to the scraper.
        """


class _Flight:
    """One collection under way, and what came of it."""

    def __init__(self) -> None:
        self.landed = threading.Event()
        self.families: list[Metric] = []


class Collectors:
    """All collectors as one page; whatever fails in one, the others are served.

    Scrapes that arrive while a collection runs share its result, so that no number of them asks
    vLLM or a driver twice at once.
    """

    def __init__(
        self,
        collectors: Sequence[Collector],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take the collectors, in page order, and a clock in seconds."""
        self._collectors = collectors
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._flight: _Flight | None = None
        self._broken: set[str] = set()

    def collect(self, timeout: float) -> list[Metric]:
        """Return the families of one scrape, to be had within ``timeout`` seconds."""
        with self._lock:
            flight = self._flight
            leads = flight is None
            if flight is None:
                flight = self._flight = _Flight()
        if not leads:
            # Who began it may have had more time; then only the exporter itself can be told of.
            return flight.families if flight.landed.wait(timeout) else self._incomplete()
        try:
            flight.families = self._collect(timeout)
        finally:
            with self._lock:
                self._flight = None
            flight.landed.set()
        return flight.families

    def _collect(self, timeout: float) -> list[Metric]:
        success = catalogue.COLLECTOR_SUCCESS.family()
        duration = catalogue.COLLECTOR_DURATION.family()
        families: list[Metric] = []
        for collector in self._collectors:
            began = self._monotonic()
            collected, complete = self._guarded(collector, timeout)
            families += collected
            success.add_metric([collector.name], float(complete))
            duration.add_metric([collector.name], self._monotonic() - began)
        return [*families, _build_info(), success, duration]

    def _incomplete(self) -> list[Metric]:
        success = catalogue.COLLECTOR_SUCCESS.family()
        for collector in self._collectors:
            success.add_metric([collector.name], 0.0)
        return [_build_info(), success]

    def _guarded(self, collector: Collector, timeout: float) -> tuple[list[Metric], bool]:
        """Run one collector; its error is logged when it is new and costs only its families."""
        try:
            result = collector.collect(timeout)
        except Exception as error:  # the boundary: nothing may cost the other subjects
            if collector.name not in self._broken:
                self._broken.add(collector.name)
                log.exception(
                    "collector failed; please report this",
                    collector=collector.name,
                    error=f"{type(error).__name__}: {error}",
                )
            return [], False
        self._broken.discard(collector.name)
        return result


class Snapshot:
    """One scrape's families in the form that prometheus_client's encoders read."""

    def __init__(self, families: Iterable[Metric]) -> None:
        """Take the families."""
        self._families = families

    def collect(self) -> Iterator[Metric]:
        """Yield the families; those without a sample are left out."""
        return (family for family in self._families if family.samples)


def _build_info() -> Metric:
    family = catalogue.BUILD_INFO.family()
    family.add_metric([__version__, platform.python_version()], 1)
    return family
