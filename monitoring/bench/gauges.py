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
_RATE, _USAGE = catalogue.PREFIX_CACHE_HIT_RATE.name, catalogue.GPU_MEMORY_USAGE.name
_MAPPING = catalogue.SERVER_GPU_INFO.name
_NAMES = frozenset([_RATE, _USAGE, _MAPPING])


@dataclass
class Gauges:
    """What the exporter said.

    Attributes:
        readings: How often it was asked with success.
        hit_rate: Its last hit rate (0..1); None where it had none.
        memory_usage: Its highest GPU memory usage (0..1), of the server's GPUs where it knows them;
            None without a GPU.
    """

    readings: int = 0
    hit_rate: float | None = None
    memory_usage: float | None = None

    def take(self, page: str) -> None:
        """Take one page of the exporter."""
        self.readings += 1
        self.hit_rate = None
        samples = parse(page, _NAMES).samples
        known = {sample.labels["uuid"] for sample in samples if sample.name == _MAPPING}
        for sample in samples:
            if sample.name == _RATE:
                self.hit_rate = sample.value
            elif sample.name == _USAGE and (not known or sample.labels["uuid"] in known):
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
