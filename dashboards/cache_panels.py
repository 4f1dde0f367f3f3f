"""Panels on the prefix cache."""

from __future__ import annotations

from alerts.settings import Settings
from dashboards import figures, metrics, scales
from dashboards.elements import Look, Query, Size
from dashboards.layer import Panel, stat, time_series
from dashboards.promql import CHOSEN, MODEL, by, rate, renamed
from dashboards.tiles import MODEL as MODEL_LEGEND
from exporter.catalogue import (
    EXTERNAL_PREFIX_CACHE_HIT_RATE,
    MM_CACHE_HIT_RATE,
    PREFIX_CACHE_WINDOW_QUERY_TOKENS,
)

_SECONDS_AN_HOUR = 3600


def hit_rate_now(settings: Settings) -> Panel:
    """Show the rate that the alert looks at."""
    return stat(
        1,
        "Hit rate",
        f"Share of the prompt tokens looked up in the last {settings.cache.window} that were found "
        "in the prefix cache. Low: see the runbook of VLLMPrefixCacheHitRateLow.",
        Size(8, 4),
        [Query(figures.hit_rate(CHOSEN), MODEL_LEGEND)],
        scales.hit_rate(settings),
    )


def looked_up_now(settings: Settings) -> Panel:
    """Show what the rate is a share of."""
    return stat(
        2,
        "Tokens looked up",
        f"Prompt tokens looked up in the prefix cache in the last {settings.cache.window}: what "
        "the hit rate is a share of. A hit rate of few tokens means little.",
        Size(8, 4),
        [Query(by(MODEL, "sum", CHOSEN.select(PREFIX_CACHE_WINDOW_QUERY_TOKENS)), MODEL_LEGEND)],
        scales.COUNT,
    )


def saved_an_hour() -> Panel:
    """Show what the cache is worth."""
    found = renamed(
        metrics.PREFIX_CACHE_HITS, lambda metric: f"{rate(CHOSEN, metric)} * {_SECONDS_AN_HOUR}"
    )
    return stat(
        3,
        "Prefill saved per hour",
        "Prompt tokens an hour that need no computing because the prefix cache has them, at the "
        "present pace: an estimate. Divide it by the prefill speed of your GPU for the time won.",
        Size(8, 4),
        [Query(found, MODEL_LEGEND)],
        scales.COUNT,
    )


def hit_rate(settings: Settings) -> Panel:
    """Show the rate's course against its thresholds."""
    rates = settings.cache.hit_rate
    pending = settings.alerts["VLLMPrefixCacheHitRateLow"].pending
    return time_series(
        11,
        "Hit rate over time",
        f"Share of looked-up prompt tokens found, over the last {settings.cache.window} at each "
        f"moment. Lines: {rates.good:.0%} and above is good, below {rates.low:.0%} for {pending} "
        f"alerts, below {rates.broken:.0%} caching hardly works. A gap means that nothing was "
        "looked up.",
        Size(12, 10),
        [Query(figures.hit_rate(CHOSEN), MODEL_LEGEND)],
        scales.hit_rate(settings),
    )


def looked_up_and_found() -> Panel:
    """Show both sides of the rate."""
    looked_up = renamed(metrics.PREFIX_CACHE_QUERIES, lambda metric: rate(CHOSEN, metric))
    found = renamed(metrics.PREFIX_CACHE_HITS, lambda metric: rate(CHOSEN, metric))
    return time_series(
        12,
        "Tokens looked up and found, per second",
        "Prompt tokens per second that vLLM looked up in its prefix cache, and those that it found "
        "there. The gap between the two lines is computed anew. With vLLM 0.8 blocks, not tokens.",
        Size(12, 10),
        [
            Query(looked_up, f"looked up, {MODEL_LEGEND}"),
            Query(found, f"found, {MODEL_LEGEND}"),
        ],
        scales.COUNT,
    )


def prefilled_by_source() -> Panel:
    """Show where prompt tokens came from."""
    return time_series(
        13,
        "Prompt tokens by source, per second",
        "Where prompt tokens came from: computed (local_compute), found in this server's prefix "
        "cache (local_cache_hit), fetched by a connector (external_kv_transfer). Much computed "
        "with shared prompts: see the hit rate. Since vLLM 0.17.",
        Size(12, 9),
        [
            Query(
                rate(CHOSEN, metrics.PROMPT_TOKENS_BY_SOURCE, (*MODEL, "source")),
                f"{{{{source}}}} {MODEL_LEGEND}",
            )
        ],
        scales.COUNT,
        stacked=True,
    )


def external() -> Panel:
    """Show the hit rate of a connector's cache."""
    return time_series(
        14,
        "External cache, hit rate",
        "Share of the prompt tokens asked of the KV connector (LMCache, Mooncake, offloading …) "
        "that it had. Nothing is reported where no connector is configured. Low: what it stores "
        "is evicted before it is asked for, or is keyed by another model.",
        Size(6, 9),
        [Query(by(MODEL, "max", CHOSEN.select(EXTERNAL_PREFIX_CACHE_HIT_RATE)), MODEL_LEGEND)],
        Look("percentunit", maximum=1, no_value="No KV connector seen"),
    )


def multimodal() -> Panel:
    """Show the hit rate of the cache of processed images."""
    return time_series(
        15,
        "Multimodal cache, hit rate",
        "Share of images, audio and the like that were processed before and found in their cache. "
        "Nothing is reported while no such item comes in. Low with repeated items: raise "
        "--mm-processor-cache-gb.",
        Size(6, 9),
        [Query(by(MODEL, "max", CHOSEN.select(MM_CACHE_HIT_RATE)), MODEL_LEGEND)],
        Look("percentunit", maximum=1, no_value="No images or audio seen"),
    )
