"""Thresholds of the rules: those of the alerts, and a few of their own."""

from __future__ import annotations

from dataclasses import dataclass

from alerts.settings import Settings
from monitoring.budget.sizes import GIB

MIN_LOOKED_UP = 2000.0
"""Tokens below which a hit rate says nothing: a handful of short prompts."""

MIN_WAITING = 1.0
"""Mean number of waiting requests that counts as a queue."""

FREE_CACHE = 0.7
"""Highest use of the KV cache (0..1) that leaves room for more requests at once."""

FULL_CACHE = 0.95
"""Use of the KV cache (0..1) from which requests are about to displace one another."""

COMFORTABLE_CACHE = 0.8
"""Use of the KV cache (0..1) that changes aim at."""

STRANGER_BYTES = 2 * GIB
"""Memory beyond the configured share that vLLM alone does not explain: it was seen to take 1.05 GiB
there."""


@dataclass(frozen=True)
class Limits:
    """Thresholds of the alerts, which the rules share.

    Attributes:
        low_rate: Hit rate below which caching hardly pays off.
        elevated: GPU memory usage that leaves little room.
        high: GPU memory usage at which VLLMGPUMemoryHigh fires.
    """

    low_rate: float
    elevated: float
    high: float


def from_settings(settings: Settings) -> Limits:
    """Return the thresholds of the alerts."""
    usage = settings.memory.usage
    return Limits(settings.cache.hit_rate.low, usage.elevated, usage.high)
