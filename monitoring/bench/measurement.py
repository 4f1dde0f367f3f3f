"""Measurements: scenarios, repeated and interleaved, with the server's figures beside."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from monitoring import metrics_page
from monitoring.bench import scenario
from monitoring.bench.agreement import P99, Agreement, compare
from monitoring.bench.figures import Client, Server, client, percentile, server
from monitoring.bench.gauges import Gauges, reading
from monitoring.bench.generator import LoadGenerator
from monitoring.bench.scenario import Scenario, Target
from monitoring.bench.split import Split, split
from monitoring.metrics_page import PageError

PAGE_SECONDS = 10.0

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Run:
    """One measurement of a scenario."""

    client: Client
    server: Server | None
    gauges: Gauges


@dataclass
class Point:
    """A scenario on a server, with all its repeats.

    Attributes:
        setting: What the server was started with, in a few words.
        scenario: The load.
        runs: One for each repeat.
    """

    setting: str
    scenario: Scenario
    runs: list[Run] = field(default_factory=list)

    @property
    def first(self) -> Spread:
        """Median time to first token, over the repeats."""
        return spread([statistics.median(run.client.first) for run in self.runs])

    @property
    def first_p99(self) -> float:
        """99th percentile of times to first token, of all repeats together, in seconds."""
        return percentile([value for run in self.runs for value in run.client.first], P99)

    @property
    def gap(self) -> Spread:
        """Median time between tokens, over the repeats."""
        return spread([statistics.median(run.client.gaps or (0.0,)) for run in self.runs])

    @property
    def gap_p99(self) -> float:
        """99th percentile of times between tokens, of all repeats together, in seconds."""
        return percentile([value for run in self.runs for value in run.client.gaps], P99)

    @property
    def output_rate(self) -> Spread:
        """Generated tokens per second, over the repeats."""
        return spread([run.client.output_rate for run in self.runs])

    @property
    def hit_rate(self) -> float | None:
        """Tokens found of those looked up, all repeats together; None where nothing was."""
        counted = [run.server for run in self.runs if run.server]
        looked_up = sum(each.looked_up for each in counted)
        return sum(each.found for each in counted) / looked_up if looked_up else None

    @property
    def prompt_tokens(self) -> tuple[int, int]:
        """Length of the shortest and of the longest prompt, of all repeats together."""
        lengths = [length for run in self.runs for length in run.client.prompt_tokens]
        return min(lengths, default=0), max(lengths, default=0)

    @property
    def split(self) -> Split | None:
        """Where the mean time to first token goes; None where the server does not tell."""
        return split([(run.client, run.server) for run in self.runs])

    @property
    def agreements(self) -> list[Agreement]:
        """The figures of the first repeat by both clocks."""
        run = self.runs[0]
        return compare(run.client, run.server) if run.server else []


@dataclass(frozen=True)
class Spread:
    """Median, least and most of repeats."""

    median: float
    least: float
    most: float


def spread(values: Sequence[float]) -> Spread:
    """Return median, least and most."""
    return Spread(statistics.median(values), min(values), max(values))


def measure(
    generator: LoadGenerator,
    target: Target,
    loads: Sequence[Scenario],
    *,
    setting: str,
    repeats: int,
    seed: int,
    exporter_url: str | None,
    progress: Progress,
) -> list[Point]:
    """Return a point for each load.

    The warm-up comes first and counts for nothing. Then all loads are measured, and again: a drift
    of the machine falls on all of them alike. Every measurement has prompts of its own.
    """

    def run(load: Scenario, number: int) -> Client:
        arguments = scenario.arguments(target, load, number, generator.folder, "result.json")
        return client(generator.run(arguments, load.prompts))

    for index, load in enumerate(scenario.warm_up(list(loads))):
        progress(f"{setting}: warm-up, {load.concurrency} at once")
        run(load, seed - 1 - index)
    points = [Point(setting, load) for load in loads]
    for repeat in range(repeats):
        for index, point in enumerate(points):
            progress(f"{setting}: {point.scenario.name}, {repeat + 1} of {repeats}")
            number = seed + repeat * len(points) + index
            if point.scenario.shared:
                run(scenario.priming(point.scenario), number)
            before = _page(target.url)
            with reading(exporter_url) as gauges:
                measured = run(point.scenario, number)
            counted = server(before, _page(target.url))
            point.runs.append(Run(measured, counted, gauges))
    return points


def steps(loads: Sequence[Scenario], repeats: int) -> int:
    """Return how often `measure` tells its progress."""
    return len(scenario.warm_up(list(loads))) + repeats * len(loads)


def _page(url: str) -> str:
    """Return vLLM's page, or an empty one where the server has none: not all are vLLM."""
    try:
        return metrics_page.fetch(url, PAGE_SECONDS)
    except PageError:
        return ""
