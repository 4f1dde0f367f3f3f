"""Tokens looked up and found over a trailing window, from lifetime counters.

Samples are kept by time and the window is cut out of them at each reading. So the figure does
not depend on who scrapes or how often: two Prometheus replicas see the same window.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from exporter.engine import CacheCounters, EngineKey

MAX_GAP_SECONDS = 300.0
"""Longest silence between two samples (if the window is not longer still) that counts as one
observation; after a longer one, what happened in between says nothing of the last minutes."""

CLOCK_TOLERANCE_SECONDS = 1.0
"""How far in the future a counter may claim to be born before its clock is disbelieved."""

_SAMPLES_PER_WINDOW = 300


class WindowTotals(NamedTuple):
    """Tokens looked up (``queries``) and found (``hits``) in the window."""

    queries: float
    hits: float

    @property
    def hit_rate(self) -> float | None:
        """Found divided by looked up (0..1); None while nothing was looked up."""
        if self.queries <= 0:
            return None
        return min(1.0, max(0.0, self.hits / self.queries))


class _Point(NamedTuple):
    time: float
    queries: float
    hits: float


@dataclass
class _Series:
    created: float | None
    points: deque[_Point] = field(default_factory=deque)


class TrailingWindow:
    """Samples of the counters of one server's cache over the last ``seconds``.

    Not thread-safe: the owner calls it from one thread at a time.

    Attributes:
        last_reset: Whether a counter of the last page had begun anew.
        last_excess: Whether some engine found more than it looked up between the last two pages.
    """

    def __init__(self, seconds: float) -> None:
        """Keep a window of ``seconds`` (more than 0)."""
        self._seconds = seconds
        self._max_gap = max(seconds, MAX_GAP_SECONDS)
        # Closer samples replace one another, so that a fast scraper cannot fill the memory.
        self._spacing = seconds / _SAMPLES_PER_WINDOW
        self._series: dict[EngineKey, _Series] = {}
        self.last_reset: bool = False
        self.last_excess: bool = False

    def observe(
        self, counters: Mapping[EngineKey, CacheCounters], monotonic: float, wall: float
    ) -> dict[str, WindowTotals]:
        """Add one page's counters and return the window's totals by model name.

        Args:
            counters: Counters by engine, all from the same page.
            monotonic: Seconds of a clock that never steps; must not decrease between calls.
            wall: Unix time in seconds at the same moment, to place the counters' birth.

        Returns:
            Totals of the engines that are in ``counters``, summed by model before any division.
        """
        start = monotonic - self._seconds
        self.last_reset = self.last_excess = False
        totals: dict[str, WindowTotals] = {}
        for key, counter in counters.items():
            series = self._extend(key, counter, monotonic, wall)
            queries, hits = _increase(series.points, start)
            before = totals.get(key.model_name, WindowTotals(0.0, 0.0))
            totals[key.model_name] = WindowTotals(before.queries + queries, before.hits + hits)
        self._forget(start)
        return totals

    def _extend(self, key: EngineKey, counter: CacheCounters, now: float, wall: float) -> _Series:
        series = self._series.get(key)
        last = series.points[-1] if series else None
        if series is None or last is None or now - last.time > self._max_gap:
            series = self._begin(key, counter, now, wall, not_before=now - self._seconds)
        elif _restarted(series, last, counter):
            self.last_reset = True
            series = self._begin(key, counter, now, wall, not_before=last.time)
        point = _Point(now, counter.queries, counter.hits)
        points = series.points
        if points and point.hits - points[-1].hits > point.queries - points[-1].queries:
            self.last_excess = True
        if len(points) > 1 and (
            now - points[-2].time < self._spacing or points[-2][1:] == points[-1][1:] == point[1:]
        ):
            points[-1] = point
        else:
            points.append(point)
        return series

    def _begin(
        self, key: EngineKey, counter: CacheCounters, now: float, wall: float, not_before: float
    ) -> _Series:
        """Start a series; a counter known to be born in the window began at zero there."""
        series = _Series(counter.created)
        if counter.created is not None:
            born = now - (wall - counter.created)
            if not_before <= born <= now + CLOCK_TOLERANCE_SECONDS:
                series.points.append(_Point(min(born, now), 0.0, 0.0))
        self._series[key] = series
        return series

    def _forget(self, start: float) -> None:
        for key, series in list(self._series.items()):
            points = series.points
            # One point at or before the start stays: the window begins between it and the next.
            while len(points) > 1 and points[1].time <= start:
                points.popleft()
            if points[-1].time <= start:
                del self._series[key]


def _restarted(series: _Series, last: _Point, counter: CacheCounters) -> bool:
    fell = counter.queries < last.queries or counter.hits < last.hits
    reborn = (
        counter.created is not None
        and series.created is not None
        and counter.created != series.created
    )
    return fell or reborn


def _increase(points: deque[_Point], start: float) -> tuple[float, float]:
    """Return the increase of (queries, hits) from ``start`` to the last point.

    Between two points the counters are taken to grow evenly, so of the pair that straddles the
    start only the part after it counts.
    """
    last = points[-1]
    base = points[0]
    if base.time < start:
        before = base
        for point in points:
            if point.time > start:
                share = (start - before.time) / (point.time - before.time)
                base = _Point(
                    start,
                    before.queries + share * (point.queries - before.queries),
                    before.hits + share * (point.hits - before.hits),
                )
                break
            before = point
        else:
            base = last
    return last.queries - base.queries, last.hits - base.hits
