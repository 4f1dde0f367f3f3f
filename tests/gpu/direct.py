"""The hit rate straight from vLLM's counters, computed in another way than the exporter does."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from tests.gpu.recording import Counters, Scrape


def hit_rates(scrapes: Sequence[Scrape], window: float, which: int) -> list[float | None]:
    """Return for each scrape what was found of what was looked up in the window before it.

    Counters grow evenly between two readings, and from 0 at their birth; of a server that was
    started within the window only its own life counts.

    Args:
        scrapes: In order of time.
        window: Its length in seconds.
        which: 0 for the counters read right before the exporter, 1 for those right after.

    Returns:
        Rates (0..1); None while nothing was looked up, or no counters were there.
    """
    life: list[tuple[float, Counters]] = []
    rates: list[float | None] = []
    for scrape in scrapes:
        counters = scrape.counters[which]
        if counters is None:
            rates.append(None)
            continue
        born = counters[2]
        if not life or life[-1][1][2] != born:
            life = [(born, (0.0, 0.0, born))]
        life.append((scrape.time, counters))
        start = _at(life, scrape.time - window)
        looked_up, found = counters[0] - start[0], counters[1] - start[1]
        rates.append(found / looked_up if looked_up > 0 else None)
    return rates


def _at(life: Sequence[tuple[float, Counters]], time: float) -> tuple[float, float]:
    """Return looked up and found at a time, interpolated; those of birth before it."""
    for (left, before), (right, after) in pairwise(life):
        if left <= time < right:
            share = (time - left) / (right - left)
            looked_up = before[0] + share * (after[0] - before[0])
            return looked_up, before[1] + share * (after[1] - before[1])
    return life[0][1][0], life[0][1][1]
