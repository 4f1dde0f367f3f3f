"""From the samples of a vLLM page to what its engines say of themselves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from exporter import catalogue
from exporter.exposition import Page, Sample


class EngineKey(NamedTuple):
    """Which engine of a server, serving which model."""

    engine: str
    model_name: str


class CacheCounters(NamedTuple):
    """Lifetime counters of one engine's prefix cache.

    Attributes:
        queries: Tokens looked up.
        hits: Tokens found.
        created: Unix time in seconds at which the counters began at zero, where vLLM tells it
            (not with several API servers).
    """

    queries: float
    hits: float
    created: float | None


@dataclass(frozen=True)
class ServerReading:
    """What one vLLM server's page says.

    Attributes:
        prefix_cache: Counters by engine; only engines of which both counters were read.
        memory_utilization_limit: ``--gpu-memory-utilization`` (0..1), the largest over engines.
    """

    prefix_cache: Mapping[EngineKey, CacheCounters]
    memory_utilization_limit: float | None


def read(page: Page) -> ServerReading:
    """Return the values of ``page``; what is missing or not a finite number stays missing."""
    by_name: dict[str, list[Sample]] = {}
    for sample in page.samples:
        if math.isfinite(sample.value) and sample.value >= 0:
            by_name.setdefault(sample.name, []).append(sample)
    return ServerReading(
        prefix_cache=_prefix_cache(by_name),
        memory_utilization_limit=_limit(by_name.get(catalogue.CACHE_CONFIG_INFO, [])),
    )


def _prefix_cache(by_name: Mapping[str, Iterable[Sample]]) -> dict[EngineKey, CacheCounters]:
    def values(name: str) -> dict[EngineKey, float]:
        return {
            EngineKey(s.labels.get("engine", ""), s.labels.get("model_name", "")): s.value
            for s in by_name.get(name, [])
        }

    queries = values(catalogue.PREFIX_CACHE_QUERIES)
    hits = values(catalogue.PREFIX_CACHE_HITS)
    created = values(catalogue.PREFIX_CACHE_QUERIES_CREATED)
    return {
        key: CacheCounters(queries[key], hits[key], created.get(key))
        for key in queries
        if key in hits
    }


def _limit(samples: Iterable[Sample]) -> float | None:
    limits = []
    for sample in samples:
        try:
            limit = float(sample.labels["gpu_memory_utilization"])
        except (KeyError, ValueError):
            continue  # vLLM writes Python's None as a label value where it has no number
        if 0 < limit <= 1:
            limits.append(limit)
    return max(limits, default=None)
