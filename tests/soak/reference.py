"""The hit rate of a window, computed the long way from whole pages.

Deliberately nothing of the exporter's is used here: prometheus_client parses the pages, and the
window is summed pair by pair over all of them at each reading.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from prometheus_client.parser import text_string_to_metric_families

QUERIES = "vllm:prefix_cache_queries_total"
HITS = "vllm:prefix_cache_hits_total"
CREATED = "vllm:prefix_cache_queries_created"
KV_CACHE_USAGE = "vllm:kv_cache_usage_perc"


@dataclass(frozen=True)
class Counters:
    """What one page says of its one engine.

    Attributes:
        at: When the page was had, in seconds of `time.monotonic`.
        queries: Tokens looked up since the start.
        hits: Tokens found since the start.
        created: When the counters began at zero, by the same clock as ``at``.
        kv_cache_usage: 0..1.
    """

    at: float
    queries: float
    hits: float
    created: float
    kv_cache_usage: float


@dataclass(frozen=True)
class Totals:
    """Tokens of a window."""

    queries: float
    hits: float


def read(page: bytes, at: float) -> Counters:
    """Return what ``page`` says; it must be a page of vLLM with one engine.

    Raises:
        KeyError: It is none.
        ValueError: It cannot be parsed.
    """
    values: dict[str, float] = {}
    for family in text_string_to_metric_families(page.decode()):
        for sample in family.samples:
            if sample.name in (QUERIES, HITS, CREATED, KV_CACHE_USAGE):
                values[sample.name] = sample.value
    # Taken now, long after ``at`` perhaps; but the two clocks run side by side.
    created = values[CREATED] - time.time() + time.monotonic()
    return Counters(at, values[QUERIES], values[HITS], created, values[KV_CACHE_USAGE])


def window(pages: Sequence[Counters], seconds: float) -> Totals:
    """Return the tokens of the ``seconds`` before the last page.

    After a restart only the new process counts; between two pages counters grow evenly.
    """
    end = pages[-1].at
    start = end - seconds
    life = [pages[-1]]
    restarted = False
    for page in reversed(pages[:-1]):
        after = life[0]
        restarted = (
            page.queries > after.queries
            or page.hits > after.hits
            or abs(page.created - after.created) > 1.0
        )
        # A page at or before the start is still needed, a second such is not.
        if restarted or after.at <= start:
            break
        life.insert(0, page)
    first = life[0]
    # Since when a counter counts matters where nothing older is known of this process.
    if restarted or first.created >= first.at - seconds:
        life.insert(0, Counters(first.created, 0.0, 0.0, first.created, 0.0))
    queries = hits = 0.0
    for before, after in pairwise(life):
        if after.at <= start or after.at <= before.at:
            continue
        share = (after.at - max(start, before.at)) / (after.at - before.at)
        queries += share * (after.queries - before.queries)
        hits += share * (after.hits - before.hits)
    return Totals(queries, hits)
