"""Points set against each other: with what is shared, and without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from monitoring.bench.measurement import Point
from monitoring.bench.scenario import Prompts


@dataclass(frozen=True)
class Comparison:
    """The same load with caching at work and without it.

    Attributes:
        prefix_tokens: Length of the prefix.
        concurrency: Requests at once.
        prompts: How prompts were sent.
        without: The point without: unique prefixes, or caching off.
        with_caching: The point with.
    """

    prefix_tokens: int
    concurrency: int
    prompts: Prompts
    without: Point
    with_caching: Point

    @property
    def first_saved(self) -> float:
        """Share (0..1) of the median time to first token that is saved; below 0 where it grew."""
        before = self.without.first.median
        return 1 - self.with_caching.first.median / before if before else 0.0

    @property
    def rate_factor(self) -> float:
        """How many times the output rate became."""
        before = self.without.output_rate.median
        return self.with_caching.output_rate.median / before if before else 0.0


def compared(points: Sequence[Point], without_setting: str | None = None) -> list[Comparison]:
    """Return the pairs among the points.

    Args:
        points: What was measured.
        without_setting: The setting whose points are those without caching; None compares unique
            prefixes with shared ones.
    """

    def is_without(point: Point) -> bool:
        if without_setting is None:
            return not point.scenario.shared
        return point.setting == without_setting

    def load(point: Point) -> tuple[int, int, Prompts]:
        scenario = point.scenario
        return scenario.prefix_tokens, scenario.concurrency, scenario.prompts

    with_caching = {load(point): point for point in points if not is_without(point)}
    return [
        Comparison(*load(point), point, with_caching[load(point)])
        for point in points
        if is_without(point) and load(point) in with_caching
    ]


def best(points: Sequence[Point]) -> Point:
    """Return the point with the highest output rate; of equal ones the one quickest to answer."""
    return max(points, key=lambda point: (point.output_rate.median, -point.first.median))
