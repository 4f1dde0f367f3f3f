"""What a soak has shown so far, and whether all of it is right."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.soak.footprint import Footprint
from tests.soak.scraper import Scraper
from tests.soak.server import Faults, Server

SHOWN_FAULTS = 20


@dataclass
class Soak:
    """One run.

    Attributes:
        version: vLLM's.
        server: vLLM.
        faults: What it went through.
        scrapers: What checked the exporter's pages.
        footprint: What the exporter took.
        exporter_log: The exporter's log file.
        answered: Number of requests that vLLM answered.
    """

    version: str
    server: Server
    faults: Faults
    scrapers: Sequence[Scraper]
    footprint: Footprint
    exporter_log: Path
    answered: int = 0
    _began: float = field(default_factory=time.monotonic)
    _ended: float | None = None
    _failures: list[str] = field(default_factory=list)
    _log: str = ""

    def end(self, *, exporter_lives: bool) -> None:
        """Take the last figures, before processes and files are gone."""
        self._ended = time.monotonic()
        self._log = self.exporter_log.read_text(encoding="utf-8")
        if not exporter_lives:
            self._failures.append("the exporter has ended")
        if "Traceback" in self._log:
            self._failures.append("a traceback in the exporter's log")
        if not any(scraper.tally.compared for scraper in self.scrapers):
            self._failures.append("nothing was compared")
        self._failures += self.footprint.faults()

    def wrong(self) -> list[str]:
        """Return what is wrong, one line each."""
        found = [fault for scraper in self.scrapers for fault in scraper.tally.faults]
        return found + self._failures + ([self.faults.failure] if self.faults.failure else [])

    def progress(self) -> str:
        """Return the counts in a few words."""
        return "; ".join(
            f"{scraper.tally.scrapes} scrapes, {len(scraper.tally.faults)} wrong"
            for scraper in self.scrapers
        )

    def summary(self) -> str:
        """Return all of it, some lines of text."""
        wrong = self.wrong()
        lasted = (self._ended or time.monotonic()) - self._began
        state = "" if self._ended else " so far"
        faults = ", ".join(f"{kind} {count}" for kind, count in self.faults.done.items())
        lines = [
            f"Soak of {lasted:.0f} s{state} beside vLLM {self.version}: "
            + ("FAILED" if wrong else "all in order"),
            f"vLLM: {self.server.starts} starts; {faults}; {self.answered} requests answered",
            *(_told(scraper) for scraper in self.scrapers),
            f"Exporter: {self.footprint.told()}; {len(self._log.splitlines())} lines of log",
        ]
        return "\n".join(lines + [f"WRONG: {fault}" for fault in wrong[:SHOWN_FAULTS]])


def _told(scraper: Scraper) -> str:
    tally = scraper.tally
    middle = statistics.median(tally.seconds) * 1e3 if tally.seconds else 0.0
    return (
        f"Scraper every {scraper.every_seconds:g} s: {tally.scrapes} scrapes (median {middle:.1f} "
        f"ms), {tally.compared} hit rates equal to the direct computation (largest difference "
        f"{tally.largest_difference:.5f}), {tally.absent} rightly absent, {len(tally.faults)} wrong"
    )
