"""What is remembered of one server from page to page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from exporter.engine import ServerReading
from exporter.generations import Cache
from exporter.window import TrailingWindow, WindowTotals


@dataclass
class Tally:
    """Counts over the exporter's life."""

    failures: int = 0
    parse_errors: int = 0
    counter_resets: int = 0
    excess_hits: int = 0


@dataclass
class ServerHistory:
    """Windows over one server's counters, and what happened to it so far.

    Not thread-safe: the owner calls it from one thread at a time.

    Attributes:
        window_seconds: Length of the trailing windows.
        totals: The windows' totals at the last page, by cache and model name.
        tally: Counts.
        start_time: Unix time in seconds since when the server's counters count; None before its
            first page.
        last_success: Unix time in seconds of its last page; None before the first.
    """

    window_seconds: float
    totals: Mapping[Cache, Mapping[str, WindowTotals]] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)
    start_time: float | None = None
    last_success: float | None = None

    def __post_init__(self) -> None:
        """Open a window for each cache."""
        self._windows = {cache: TrailingWindow(self.window_seconds) for cache in Cache}

    def observe(self, reading: ServerReading, monotonic: float, wall: float) -> None:
        """Add what a page said.

        Args:
            reading: The page.
            monotonic: Seconds of a clock that never steps, when the page was there.
            wall: Unix time in seconds at that moment.
        """
        self.totals = {
            cache: window.observe(reading.caches[cache], monotonic, wall)
            for cache, window in self._windows.items()
        }
        reset = any(window.last_reset for window in self._windows.values())
        self.tally.parse_errors += reading.parse_errors
        self.tally.counter_resets += reset
        self.tally.excess_hits += any(window.last_excess for window in self._windows.values())
        self.last_success = wall
        born = [c.created for c in reading.prefix_cache.values() if c.created is not None]
        if born:
            # The youngest engine's: its part of the cache is empty however old the others are.
            # The server's clock may be ahead of this one.
            self.start_time = min(max(born), wall)
        elif reset or self.start_time is None:
            self.start_time = wall

    def fail(self) -> None:
        """Take note of a page that could not be had; the windows wait for the next one."""
        self.totals = {}
        self.tally.failures += 1
