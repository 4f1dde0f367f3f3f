"""Figures straight from the pages of vLLM and of the exporter, as a check on each other."""

from __future__ import annotations

from dataclasses import dataclass

from exporter import catalogue, exposition
from monitoring import metrics_page

_SECONDS = 5.0


@dataclass(frozen=True)
class Counters:
    """vLLM's lifetime counters, all engines together, in tokens."""

    queries: float
    hits: float


@dataclass(frozen=True)
class Comparison:
    """The hit rate over one window, computed twice.

    Attributes:
        seconds: Length of the window.
        queries: Tokens looked up in it, from two pages of vLLM.
        hits: Tokens found in it, likewise.
        exported: What the exporter says at its end.
    """

    seconds: float
    queries: float
    hits: float
    exported: float

    @property
    def computed(self) -> float:
        """Found divided by looked up."""
        return self.hits / self.queries

    @property
    def difference(self) -> float:
        """Absolute difference of the two."""
        return abs(self.exported - self.computed)


def counters(vllm_url: str) -> Counters:
    """Return the counters of vLLM's page.

    Raises:
        metrics_page.PageError: The page cannot be had.
    """
    queries, hits = catalogue.PREFIX_CACHE_QUERIES, catalogue.PREFIX_CACHE_HITS
    # Both from one page: between two, a request would count in one of them alone.
    samples = _samples(vllm_url, queries, hits)
    return Counters(
        queries=sum(sample.value for sample in samples if sample.name == queries),
        hits=sum(sample.value for sample in samples if sample.name == hits),
    )


def exported_hit_rate(exporter_url: str) -> float | None:
    """Return the exporter's hit rate; None where it reports none.

    Raises:
        metrics_page.PageError: The page cannot be had.
    """
    name = catalogue.PREFIX_CACHE_HIT_RATE.name
    samples = _samples(exporter_url, name)
    return samples[0].value if samples else None


def _samples(url: str, *names: str) -> tuple[exposition.Sample, ...]:
    return metrics_page.parse(metrics_page.fetch(url, _SECONDS), names).samples
