"""What vLLM servers say of their prefix cache and their configuration."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import structlog
from prometheus_client.metrics_core import Metric

from exporter import catalogue, engine, exposition
from exporter.upstream import Fetcher, UpstreamError, metrics_url
from exporter.window import TrailingWindow, WindowTotals

log = structlog.get_logger()


@dataclass(frozen=True)
class Server:
    """One vLLM server: the value of the label ``server``, and its URL."""

    name: str
    url: str


@dataclass(frozen=True)
class Observation:
    """What one scrape learnt of one server.

    Attributes:
        reading: None if the page could not be had or is not vLLM's.
        totals: The window's totals by model name; empty without a reading.
        duration: Seconds that the fetch took.
        failure: One line that says what to do; empty if there is a reading.
    """

    server: str
    reading: engine.ServerReading | None
    totals: dict[str, WindowTotals]
    duration: float
    failure: str


class ServerCollector:
    """Fetches each server's page once a scrape. A server that fails has only its up = 0."""

    name = "server"

    def __init__(
        self,
        servers: Sequence[Server],
        window_seconds: float,
        fetch: Fetcher,
        monotonic: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        """Take the servers, the window in seconds, the fetcher and the two clocks in seconds."""
        self._watched = [(server, TrailingWindow(window_seconds)) for server in servers]
        self._fetch = fetch
        self._monotonic = monotonic
        self._wall = wall
        self._told: dict[str, str] = {}

    def collect(self, timeout: float) -> tuple[list[Metric], bool]:
        """Return the families of all servers; see `exporter.collectors.Collector`."""
        observations = [self._observe(server, window, timeout) for server, window in self._watched]
        for observation in observations:
            self._tell(observation)
        return families(observations), not any(o.failure for o in observations)

    def _observe(self, server: Server, window: TrailingWindow, timeout: float) -> Observation:
        began = self._monotonic()
        reading = None
        totals: dict[str, WindowTotals] = {}
        failure = ""
        try:
            reading = engine.read(_vllm_page(self._fetch(metrics_url(server.url), timeout)))
            totals = window.observe(reading.prefix_cache, self._monotonic(), self._wall())
        except UpstreamError as error:
            failure = str(error)
        return Observation(server.name, reading, totals, self._monotonic() - began, failure)

    def _tell(self, observation: Observation) -> None:
        """Log a server's state when it changes, not at each scrape."""
        before = self._told.get(observation.server)
        if observation.failure == before:
            return
        self._told[observation.server] = observation.failure
        if observation.failure:
            log.warning(
                "vLLM's metrics are missing",
                server=observation.server,
                reason=observation.failure,
            )
        else:
            log.info("vLLM's metrics are read", server=observation.server)


def _vllm_page(text: str) -> exposition.Page:
    """Return the wanted samples of a vLLM page.

    Raises:
        UpstreamError: The text is no vLLM page.
    """
    if f"\n{catalogue.SERIES_PREFIX}" not in f"\n{text}":
        raise UpstreamError(
            "the page has no vllm: series: wrong port, vLLM still loading, or started with "
            "--disable-log-stats"
        )
    return exposition.parse(text, catalogue.READ)


def families(observations: Sequence[Observation]) -> list[Metric]:
    """Return the metric families of ``observations``; what is unknown has no sample."""
    rate = catalogue.PREFIX_CACHE_HIT_RATE.family()
    queries = catalogue.PREFIX_CACHE_WINDOW_QUERY_TOKENS.family()
    limit = catalogue.GPU_MEMORY_UTILIZATION_LIMIT.family()
    up = catalogue.UPSTREAM_UP.family()
    duration = catalogue.UPSTREAM_DURATION.family()
    for observation in observations:
        server = observation.server
        up.add_metric([server], float(observation.reading is not None))
        duration.add_metric([server], observation.duration)
        for model_name, totals in observation.totals.items():
            if totals.hit_rate is not None:
                rate.add_metric([server, model_name], totals.hit_rate)
                queries.add_metric([server, model_name], totals.queries)
        if observation.reading and observation.reading.memory_utilization_limit is not None:
            limit.add_metric([server], observation.reading.memory_utilization_limit)
    return [rate, queries, limit, up, duration]
