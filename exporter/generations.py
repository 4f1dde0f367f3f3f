"""Names under which vLLM 0.6.6 to 0.33 writes what the exporter reads, newest first.

Names are given in today's spelling, without what Ray makes of it (see `SPELLINGS`). What a
release writes under two names at once (0.9.2 to 0.10 did) is read under the newer one only.

==================  =========================  ==========================================
release             KV-cache use               prefix cache
==================  =========================  ==========================================
0.6.6 (V0 engine)   gpu_cache_usage_perc       gauge gpu_prefix_cache_hit_rate
0.7 to 0.8.5        gpu_cache_usage_perc       gpu_prefix_cache_{queries,hits} in blocks
0.9.0, 0.9.1        gpu_cache_usage_perc       gpu_prefix_cache_{queries,hits} in tokens
0.9.2 to 0.10       both                       both
0.11 and later      kv_cache_usage_perc        prefix_cache_{queries,hits} in tokens
==================  =========================  ==========================================

A page does not say whether it counts blocks or tokens. A ratio of the two counters does not
depend on it; a count of looked-up tokens from 0.7 to 0.8.5 is a count of blocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

PREFIX_CACHE_QUERIES = "vllm:prefix_cache_queries_total"
"""Counter, tokens looked up in the prefix cache; labels ``engine``, ``model_name``."""

PREFIX_CACHE_HITS = "vllm:prefix_cache_hits_total"
"""Counter, tokens found in the prefix cache; labels ``engine``, ``model_name``."""

PREFIX_CACHE_QUERIES_CREATED = "vllm:prefix_cache_queries_created"
"""Gauge, Unix time in seconds at which the counter of queries began at zero. Absent where several
API servers write one page."""

CACHE_CONFIG_INFO = "vllm:cache_config_info"
"""Constant 1; vLLM's cache configuration as labels, with ``engine`` and without ``model_name``.
The set of labels changes with nearly every release."""

ENGINE_SLEEP_STATE = "vllm:engine_sleep_state"
"""Gauge (since 0.12), 1 for the current value of its label ``sleep_state``: ``awake``,
``weights_offloaded``, ``discard_all``."""

PROMPT_TOKENS = "vllm:prompt_tokens_total"
"""Counter, prompt tokens processed. Read to tell a V0 server without traffic from one without
hits: its hit-rate gauge is 0 in both cases."""

HIT_RATE_GAUGE = "vllm:gpu_prefix_cache_hit_rate"
"""Gauge of the V0 engine: lifetime ratio of blocks (0..1), -1 where prefix caching is off."""

KV_CACHE_USAGE: tuple[str, ...] = ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc")
"""Gauges, used share of the KV cache (0..1 in spite of their name), newest first."""


class Cache(Enum):
    """The caches of which vLLM counts look-ups and hits."""

    PREFIX = "prefix"
    """Blocks on the GPU that hold the beginning of a prompt; counted in tokens."""
    EXTERNAL = "external"
    """What a KV connector fetches from elsewhere; counted in tokens. Before 0.12 its look-ups
    included those that the GPU's own cache had answered."""
    MULTIMODAL = "multimodal"
    """Processed images, audio, …; counted in items."""


@dataclass(frozen=True)
class CounterNames:
    """The two counters of one cache under the names of some releases.

    Attributes:
        generation: What the info metric calls these releases' names.
        queries: Counter of look-ups.
        hits: Counter of hits.
        created: Gauge with the Unix time in seconds at which ``queries`` began at zero.
    """

    generation: str
    queries: str
    hits: str
    created: str


def _names(base: str) -> CounterNames:
    return CounterNames(
        base,
        f"vllm:{base}_queries_total",
        f"vllm:{base}_hits_total",
        f"vllm:{base}_queries_created",
    )


COUNTERS: Mapping[Cache, tuple[CounterNames, ...]] = {
    Cache.PREFIX: (
        CounterNames(
            "prefix_cache", PREFIX_CACHE_QUERIES, PREFIX_CACHE_HITS, PREFIX_CACHE_QUERIES_CREATED
        ),
        _names("gpu_prefix_cache"),
    ),
    Cache.EXTERNAL: (_names("external_prefix_cache"),),
    Cache.MULTIMODAL: (_names("mm_cache"),),
}
"""Counters of each cache, newest names first."""

GAUGE_GENERATION = "gpu_prefix_cache_hit_rate"
"""What the info metric calls releases that have only `HIT_RATE_GAUGE`."""

NO_GENERATION = "none"
"""What the info metric says of a vLLM page without any figure on the prefix cache."""

SERIES_PREFIX = "vllm:"
"""What every series of a vLLM server begins with; a page without it is not vLLM's."""

SPELLINGS: tuple[str, ...] = (SERIES_PREFIX, "ray_vllm:", "ray_vllm_", "vllm_")
"""What the names begin with on vLLM's own page and on those of Ray, by version of Ray."""


def without_suffix(counter: str) -> str:
    """Return the name that some versions of Ray give a counter: without ``_total``."""
    return counter.removesuffix("_total")


def _read() -> frozenset[str]:
    counters = [
        name
        for generations in COUNTERS.values()
        for names in generations
        for name in (names.queries, names.hits)
    ]
    counters.append(PROMPT_TOKENS)
    created = [names.created for generations in COUNTERS.values() for names in generations]
    gauges = [CACHE_CONFIG_INFO, ENGINE_SLEEP_STATE, HIT_RATE_GAUGE, *KV_CACHE_USAGE]
    return frozenset([*counters, *map(without_suffix, counters), *created, *gauges])


READ: frozenset[str] = _read()
"""Names of the series that are picked out of a server's page."""
