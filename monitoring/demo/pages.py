"""Figures straight from the pages of vLLM and of the exporter, as a check on each other."""

from __future__ import annotations

from dataclasses import dataclass

import requests

from exporter import catalogue, exposition

_SECONDS = 5.0


class PageError(Exception):
    """A page cannot be had; the message is one line."""


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
        PageError: The page cannot be had.
    """
    queries, hits = catalogue.PREFIX_CACHE_QUERIES, catalogue.PREFIX_CACHE_HITS
    # Both from one page: between two, a request would count in one of them alone.
    samples = _samples(f"{vllm_url}/metrics", frozenset({queries, hits}))
    return Counters(
        queries=sum(sample.value for sample in samples if sample.name == queries),
        hits=sum(sample.value for sample in samples if sample.name == hits),
    )


def exported_hit_rate(exporter_url: str) -> float | None:
    """Return the exporter's hit rate; None where it reports none.

    Raises:
        PageError: The page cannot be had.
    """
    name = catalogue.PREFIX_CACHE_HIT_RATE.name
    samples = _samples(f"{exporter_url}/metrics", frozenset({name}))
    return samples[0].value if samples else None


def _samples(url: str, names: frozenset[str]) -> tuple[exposition.Sample, ...]:
    try:
        with requests.Session() as session:
            session.trust_env = False
            response = session.get(url, timeout=_SECONDS)
            response.raise_for_status()
    except requests.RequestException as error:
        raise PageError(f"{url} cannot be read ({type(error).__name__})") from None
    return exposition.parse(response.text, names).samples
