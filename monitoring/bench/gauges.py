"""The chain's gauges, read while a load runs."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from exporter import catalogue
from monitoring.metrics_page import PageError, fetch, parse

INTERVAL_SECONDS = 1.0
_NAMES = frozenset([catalogue.PREFIX_CACHE_HIT_RATE.name, catalogue.GPU_MEMORY_USAGE.name])


@dataclass
class Gauges:
    """What the exporter said.

    Attributes:
        readings: How often it was asked with success.
        hit_rate: Its last hit rate (0..1); None where it had none.
        memory_usage: Its highest GPU memory usage (0..1); None without a GPU.
    """

    readings: int = 0
    hit_rate: float | None = None
    memory_usage: float | None = None

    def take(self, page: str) -> None:
        """Take one page of the exporter."""
        self.readings += 1
        self.hit_rate = None
        for sample in parse(page, _NAMES).samples:
            if sample.name == catalogue.PREFIX_CACHE_HIT_RATE.name:
                self.hit_rate = sample.value
            else:
                self.memory_usage = max(sample.value, self.memory_usage or 0.0)


@contextmanager
def reading(exporter_url: str | None) -> Iterator[Gauges]:
    """Read the exporter once a second as long as the context lasts, and once at its end."""
    gauges = Gauges()
    if exporter_url is None:
        yield gauges
        return
    stop = threading.Event()

    def read() -> None:
        with contextlib.suppress(PageError):  # the count of readings tells
            gauges.take(fetch(exporter_url, INTERVAL_SECONDS * 5))

    def repeat() -> None:
        while not stop.wait(INTERVAL_SECONDS):
            read()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield gauges
    finally:
        stop.set()
        thread.join()
        read()
