"""Scraping all subjects in turn, so that whatever else the machine does hits all alike."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.benchmarks.exporter.process import Process, import_seconds
from tests.benchmarks.exporter.subjects import Subject

WARM_UP_SCRAPES = 100
STARTS = 3
BATCH = 20
"""Scrapes of one subject before the next one's turn, where it has the most of all."""


@dataclass(frozen=True)
class Result:
    """What one subject costs; times in seconds, memory in bytes.

    Attributes:
        name: The subject's.
        servers: How many servers it asked at each scrape.
        delayed: Whether those waited before they answered.
        scrapes: Number of scrapes measured, after the warm-up.
        p50: Median of a scrape, beyond the median of fetching the stand-in's page directly.
        p99: 99th percentile of a scrape, beyond that same median.
        total_p50: Median of a whole scrape.
        cpu: CPU time of a scrape, of all threads.
        rss_ready: Memory when it first answered.
        rss_warm: Memory after the warm-up.
        rss_end: Memory after all scrapes.
        start: From the start of the process until it answered; the best of some starts.
        imported: What importing its module adds to a bare interpreter.
    """

    name: str
    servers: int
    delayed: bool
    scrapes: int
    p50: float
    p99: float
    total_p50: float
    cpu: float
    rss_ready: int
    rss_warm: int
    rss_end: int
    start: float
    imported: float


@dataclass
class _Run:
    subject: Subject
    process: Process
    direct: Process
    scrapes: int
    start: float
    imported: float
    rss_warm: int = 0
    cpu: float = 0.0
    times: list[float] = field(default_factory=list)
    direct_times: list[float] = field(default_factory=list)

    def batch(self, count: int) -> None:
        began = self.process.cpu_seconds()
        for _ in range(count):
            self.times.append(self.process.get())
        self.cpu += self.process.cpu_seconds() - began
        # Often enough for a median beside those of the scrapes, in the same minutes.
        self.direct_times.append(self.direct.get("/direct/metrics"))
        self.direct_times.append(self.direct.get("/direct/metrics"))

    def result(self) -> Result:
        direct = statistics.median(self.direct_times) if self.subject.servers else 0.0
        ordered = sorted(self.times)
        return Result(
            name=self.subject.name,
            servers=self.subject.servers,
            delayed=self.subject.delayed,
            scrapes=len(ordered),
            p50=statistics.median(ordered) - direct,
            p99=ordered[int(len(ordered) * 0.99)] - direct,
            total_p50=statistics.median(ordered),
            cpu=self.cpu / len(ordered),
            rss_ready=self.process.rss_at_start,
            rss_warm=self.rss_warm,
            rss_end=self.process.rss(),
            start=self.start,
            imported=self.imported,
        )


def measure(
    subjects: Sequence[Subject],
    standin: Process,
    delayed_standin: Process,
    scrapes: int,
    dear_scrapes: int,
    progress: Callable[[str], None],
) -> list[Result]:
    """Start all subjects, scrape them in turn, and stop them.

    Args:
        subjects: What to measure.
        standin: The stand-in that answers at once.
        delayed_standin: The one that waits.
        scrapes: Scrapes of each cheap subject.
        dear_scrapes: Scrapes of each other.
        progress: Told in a few words what is done.
    """
    runs: list[_Run] = []
    try:
        for subject in subjects:
            progress(f"starting {subject.name}")
            starts = [_started(subject) for _ in range(STARTS)]
            runs.append(
                _Run(
                    subject,
                    Process(subject.command, subject.ready_path),
                    delayed_standin if subject.delayed else standin,
                    scrapes if subject.cheap else dear_scrapes,
                    start=min(starts),
                    imported=import_seconds(subject.module),
                )
            )
        for run in runs:
            for _ in range(WARM_UP_SCRAPES):
                run.process.get()
            run.rss_warm = run.process.rss()
        rounds = max(1, max(run.scrapes for run in runs) // BATCH)
        for number in range(1, rounds + 1):
            for run in runs:
                # Spread evenly, so that all are measured over the same minutes.
                if count := run.scrapes * number // rounds - len(run.times):
                    run.batch(count)
            progress(", ".join(f"{len(run.times)}" for run in runs) + " scrapes")
        return [run.result() for run in runs]
    finally:
        for run in runs:
            run.process.stop()


def _started(subject: Subject) -> float:
    process = Process(subject.command, subject.ready_path)
    process.stop()
    return process.start_seconds
