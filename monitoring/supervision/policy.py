"""When a program that ended by itself is started again."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RestartPolicy:
    """When a program that ended by itself is started again.

    Attributes:
        first_seconds: Pause before the first restart; doubled at each further one.
        longest_seconds: Longest pause.
        quick_seconds: A run that ends sooner than this after it was ready is a quick crash.
        attempts: Number of quick crashes in a row after which no more is tried.
    """

    first_seconds: float = 1.0
    longest_seconds: float = 30.0
    quick_seconds: float = 60.0
    attempts: int = 5

    def pause(self, quick_crashes: int) -> float:
        """Return the seconds to wait after so many quick crashes in a row."""
        return min(self.longest_seconds, self.first_seconds * 2.0 ** max(0, quick_crashes - 1))
