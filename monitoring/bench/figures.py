"""Figures of one measurement: the client's, and the server's own over the same requests."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from exporter import catalogue
from monitoring.metrics_page import parse

TTFT = "vllm:time_to_first_token_seconds"
ITL = "vllm:inter_token_latency_seconds"
QUEUE = "vllm:request_queue_time_seconds"
PREFILL = "vllm:request_prefill_time_seconds"
HISTOGRAMS = (TTFT, ITL, QUEUE, PREFILL)

NAMES = frozenset(
    [catalogue.PREFIX_CACHE_QUERIES, catalogue.PREFIX_CACHE_HITS]
    + [f"{name}_{part}" for name in HISTOGRAMS for part in ("bucket", "sum", "count")]
)


@dataclass(frozen=True)
class Client:
    """What the load generator measured; seconds, and tokens per second.

    Attributes:
        first: Time to first token of each request.
        gaps: Time between tokens, of all requests.
        prompt_tokens: Length of each prompt as the server counted it; the length that was meant
            where the server does not say.
        output_rate: Generated tokens per second.
        total_rate: Prompt and generated tokens per second.
        duration: Of the measurement.
    """

    first: tuple[float, ...]
    gaps: tuple[float, ...]
    prompt_tokens: tuple[int, ...]
    output_rate: float
    total_rate: float
    duration: float


@dataclass(frozen=True)
class Histogram:
    """Observations of a histogram between two moments.

    Attributes:
        bounds: Upper bounds of the buckets in seconds, the last one infinite.
        counts: Observations up to each bound.
        total: Sum of all observations in seconds.
    """

    bounds: tuple[float, ...]
    counts: tuple[float, ...]
    total: float

    @property
    def count(self) -> float:
        """Number of observations."""
        return self.counts[-1] if self.counts else 0.0

    @property
    def mean(self) -> float | None:
        """Mean in seconds; exact, unlike a quantile. None without observations."""
        return self.total / self.count if self.count else None

    def bucket(self, quantile: float) -> tuple[float, float] | None:
        """Return the bounds between which a quantile (0..1) lies; None without observations."""
        if not self.count:
            return None
        wanted = quantile * self.count
        below = 0.0
        for bound, count in zip(self.bounds, self.counts, strict=True):
            if count >= wanted:
                return below, bound
            below = bound
        return None


@dataclass(frozen=True)
class Server:
    """What the server counted over the measurement.

    Attributes:
        looked_up: Tokens looked up in the prefix cache.
        found: Those of them that were found.
        first: Histogram of times to first token.
        gaps: Histogram of times between tokens.
        queue: Histogram of times from the engine's queue to the first step of the prefill.
        prefill: Histogram of times from there to the first token.
    """

    looked_up: float
    found: float
    first: Histogram
    gaps: Histogram
    queue: Histogram
    prefill: Histogram

    @property
    def hit_rate(self) -> float | None:
        """Found divided by looked up; None while nothing was looked up."""
        return self.found / self.looked_up if self.looked_up else None


def client(result: Mapping[str, Any]) -> Client:
    """Return the client's figures from a result of ``vllm bench serve --save-detailed``."""
    return Client(
        first=tuple(result["ttfts"]),
        gaps=tuple(gap for gaps in result["itls"] for gap in gaps),
        prompt_tokens=tuple(result["input_lens"]),
        output_rate=float(result["output_throughput"]),
        total_rate=float(result["total_token_throughput"]),
        duration=float(result["duration"]),
    )


def server(before: str, after: str) -> Server | None:
    """Return what the server counted between two pages; None where they are not vLLM's."""
    first, second = _sums(before), _sums(after)
    if catalogue.PREFIX_CACHE_QUERIES not in {name for name, _ in second}:
        return None
    grown = {key: value - first.get(key, 0.0) for key, value in second.items()}
    return Server(
        looked_up=grown.get((catalogue.PREFIX_CACHE_QUERIES, ""), 0.0),
        found=grown.get((catalogue.PREFIX_CACHE_HITS, ""), 0.0),
        first=_histogram(grown, TTFT),
        gaps=_histogram(grown, ITL),
        queue=_histogram(grown, QUEUE),
        prefill=_histogram(grown, PREFILL),
    )


def _sums(page: str) -> dict[tuple[str, str], float]:
    """Return the sums over engines and models, by name and bound."""
    sums: dict[tuple[str, str], float] = {}
    for sample in parse(page, NAMES).samples:
        key = (sample.name, sample.labels.get("le", ""))
        sums[key] = sums.get(key, 0.0) + sample.value
    return sums


def _histogram(grown: Mapping[tuple[str, str], float], name: str) -> Histogram:
    buckets = sorted(
        (math.inf if bound == "+Inf" else float(bound), value)
        for (series, bound), value in grown.items()
        if series == f"{name}_bucket"
    )
    return Histogram(
        tuple(bound for bound, _ in buckets),
        tuple(value for _, value in buckets),
        grown.get((f"{name}_sum", ""), 0.0),
    )


def percentile(values: Sequence[float], share: float) -> float:
    """Return a percentile (share 0..1), interpolated between neighbours; NaN of nothing."""
    if not values:
        return math.nan
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])
