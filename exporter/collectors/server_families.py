"""From what was observed of servers to metric families."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from prometheus_client.metrics_core import Metric

from exporter import catalogue
from exporter.catalogue import ExportedMetric
from exporter.engine import ServerReading
from exporter.generations import NO_GENERATION, Cache
from exporter.history import ServerHistory
from exporter.upstream import State


@dataclass(frozen=True)
class Observation:
    """What one scrape learnt of one server.

    Attributes:
        server: Its name.
        state: What the fetch came to.
        duration: Seconds that the fetch took.
        reading: None unless the state is ok.
        history: What is remembered of it, this scrape included.
    """

    server: str
    state: State
    duration: float
    reading: ServerReading | None
    history: ServerHistory


class _Families:
    """Families of one scrape, made when the first sample comes."""

    def __init__(self) -> None:
        self._by_name: dict[str, Metric] = {}

    def add(self, metric: ExportedMetric, labels: list[str], value: float | None) -> None:
        """Add a sample, unless its value is None: what is unknown has no sample."""
        if value is None:
            return
        family = self._by_name.get(metric.name)
        if family is None:
            family = self._by_name[metric.name] = metric.family()
        family.add_metric(labels, value)  # type: ignore[attr-defined]

    def in_page_order(self) -> list[Metric]:
        """Return the families in the catalogue's order."""
        return [
            self._by_name[metric.name]
            for metric in catalogue.EXPORTED
            if metric.name in self._by_name
        ]


def families(observations: Iterable[Observation]) -> list[Metric]:
    """Return the metric families of ``observations``; what is unknown has no sample."""
    page = _Families()
    for observation in observations:
        _add_health(page, observation)
        if observation.reading is not None:
            _add_caches(page, observation.server, observation.history, observation.reading)
            _add_engines(page, observation.server, observation.reading)
    return page.in_page_order()


def _add_health(page: _Families, observation: Observation) -> None:
    server = [observation.server]
    history = observation.history
    page.add(catalogue.UPSTREAM_UP, server, observation.state is State.OK)
    for state in State:
        page.add(catalogue.UPSTREAM_STATE, [*server, str(state)], observation.state is state)
    page.add(catalogue.UPSTREAM_DURATION, server, observation.duration)
    page.add(catalogue.UPSTREAM_START_TIME, server, history.start_time)
    page.add(catalogue.UPSTREAM_LAST_SUCCESS, server, history.last_success)
    page.add(catalogue.UPSTREAM_FAILURES, server, history.tally.failures)
    page.add(catalogue.UPSTREAM_PARSE_ERRORS, server, history.tally.parse_errors)
    page.add(catalogue.UPSTREAM_COUNTER_RESETS, server, history.tally.counter_resets)
    page.add(catalogue.UPSTREAM_EXCESS_HITS, server, history.tally.excess_hits)


def _add_caches(
    page: _Families, server: str, history: ServerHistory, reading: ServerReading
) -> None:
    for cache, metric in (
        (Cache.PREFIX, catalogue.PREFIX_CACHE_HIT_RATE),
        (Cache.EXTERNAL, catalogue.EXTERNAL_PREFIX_CACHE_HIT_RATE),
        (Cache.MULTIMODAL, catalogue.MM_CACHE_HIT_RATE),
    ):
        for model_name, totals in history.totals[cache].items():
            page.add(metric, [server, model_name], totals.hit_rate)
    for model_name, totals in history.totals[Cache.PREFIX].items():
        queries = totals.queries if totals.hit_rate is not None else None
        page.add(catalogue.PREFIX_CACHE_WINDOW_QUERY_TOKENS, [server, model_name], queries)
    for model_name, rate in reading.lifetime_hit_rates.items():
        page.add(catalogue.PREFIX_CACHE_HIT_RATE, [server, model_name], rate)


def _add_engines(page: _Families, server: str, reading: ServerReading) -> None:
    for model_name, usage in reading.kv_cache_usage.items():
        page.add(catalogue.KV_CACHE_USAGE, [server, model_name], usage)
    page.add(catalogue.GPU_MEMORY_UTILIZATION_LIMIT, [server], reading.memory_utilization_limit)
    for generation in reading.generations or (NO_GENERATION,):
        page.add(catalogue.UPSTREAM_INFO, [server, generation, reading.spelling, reading.format], 1)
    page.add(catalogue.PREFIX_CACHING_ENABLED, [server], reading.prefix_caching)
    for engine, asleep in reading.asleep.items():
        page.add(catalogue.ENGINE_ASLEEP, [server, engine], asleep)
