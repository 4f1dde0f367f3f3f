"""How each kind of figure is coloured: thresholds from the alerts' settings."""

from __future__ import annotations

from alerts.settings import Settings
from dashboards.elements import NO_TRAFFIC, NOT_REPORTED, Look, Step


def hit_rate(settings: Settings) -> Look:
    """Hit rate of the prefix cache (0..1): the higher the better."""
    rates = settings.cache.hit_rate
    return Look(
        "percentunit",
        (
            Step("red"),
            Step("orange", rates.broken),
            Step("yellow", rates.low),
            Step("green", rates.good),
        ),
        decimals=1,
        maximum=1,
        no_value=NO_TRAFFIC,
    )


def gpu_memory(settings: Settings) -> Look:
    """Share of a GPU's memory in use (0..1)."""
    usage = settings.memory.usage
    steps = (Step("green"), Step("yellow", usage.elevated), Step("red", usage.high))
    return Look("percentunit", steps, decimals=1, maximum=1, no_value=NOT_REPORTED)


def kv_cache(settings: Settings) -> Look:
    """Share of the KV cache in use (0..1)."""
    steps = (Step("green"), Step("yellow", settings.memory.kv_cache_usage))
    return Look("percentunit", steps, decimals=1, maximum=1, no_value=NOT_REPORTED)


def first_token(settings: Settings) -> Look:
    """Time to the first token in seconds."""
    limit = settings.service.time_to_first_token_seconds
    return Look("s", (Step("green"), Step("red", limit)), no_value=NO_TRAFFIC)


def waiting(settings: Settings) -> Look:
    """Requests that wait."""
    steps = (Step("green"), Step("yellow", 1), Step("red", settings.service.waiting_requests + 1))
    return Look("short", steps, decimals=0, no_value=NOT_REPORTED)


def error_share(settings: Settings) -> Look:
    """Share of requests that ended in an error (0..1)."""
    limit = settings.service.error_share
    steps = (Step("green"), Step("red", limit))
    return Look("percentunit", steps, decimals=2, soft_maximum=2 * limit, no_value=NO_TRAFFIC)


def preemptions(settings: Settings) -> Look:
    """Preemptions per second."""
    limit = settings.memory.preemptions_per_second
    steps = (Step("green"), Step("red", limit))
    return Look("short", steps, soft_maximum=2 * limit, no_value=NO_TRAFFIC)


SECONDS = Look("s")
"""Durations that are neither good nor bad by themselves."""

COUNT = Look("short")
"""Numbers and rates."""

BYTES = Look("bytes", no_value=NOT_REPORTED)
"""Memory."""
