"""Memory, file descriptors and threads of a process over time."""

from __future__ import annotations

import statistics
import threading
from dataclasses import dataclass

import psutil

RSS_GROWTH_BYTES = 2 * 1024**2
MIB = 1024**2
KEPT = 2
"""Threads, and their descriptors, that the exporter keeps once both scrapers have met in it."""


@dataclass(frozen=True)
class Reading:
    """One reading of a process."""

    rss: int
    descriptors: int
    threads: int


class Footprint:
    """Reads a process at an interval."""

    def __init__(self, pid: int, every_seconds: float = 5.0) -> None:
        """Take the process and the interval; nothing is read yet."""
        self.readings: list[Reading] = []
        self._process = psutil.Process(pid)
        self._every = every_seconds
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="footprint", daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def stop(self) -> None:
        """Read no more."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(self._every):
            with self._process.oneshot():
                self.readings.append(
                    Reading(
                        self._process.memory_info().rss,
                        self._process.num_fds(),
                        self._process.num_threads(),
                    )
                )

    def faults(self) -> list[str]:
        """Return what grew; the first sixth of the readings is the warm-up.

        Descriptors and threads come and go with requests, so their least number counts.
        """
        early, late = self._early(), self._late()
        if not early or not late:
            return ["too few readings of the exporter's memory"]
        found = []
        growth = _median(late, "rss") - _median(early, "rss")
        if growth > RSS_GROWTH_BYTES:
            found.append(f"RSS grew by {growth / MIB:.1f} MiB")
        for name in ("descriptors", "threads"):
            least = [min(getattr(reading, name) for reading in part) for part in (early, late)]
            if least[1] > least[0] + KEPT:
                found.append(f"{name} grew from {least[0]} to {least[1]}")
        return found

    def told(self) -> str:
        """Return the figures in one line."""
        early, late = self._early(), self._late()
        if not early or not late:
            return "too few readings"
        return (
            f"RSS {_median(early, 'rss') / MIB:.1f} MiB after the warm-up, "
            f"{_median(late, 'rss') / MIB:.1f} MiB at the end; "
            f"descriptors {_range(early, 'descriptors')} then {_range(late, 'descriptors')}; "
            f"threads {_range(early, 'threads')} then {_range(late, 'threads')}"
        )

    def _early(self) -> list[Reading]:
        sixth = len(self.readings) // 6
        return self.readings[sixth : 2 * sixth]

    def _late(self) -> list[Reading]:
        sixth = len(self.readings) // 6
        return self.readings[-sixth:] if sixth else []


def _median(readings: list[Reading], name: str) -> float:
    return float(statistics.median(getattr(reading, name) for reading in readings))


def _range(readings: list[Reading], name: str) -> str:
    values = [getattr(reading, name) for reading in readings]
    return f"{min(values)} to {max(values)}"
