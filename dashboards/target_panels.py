"""Panels on what Prometheus scrapes, and on what that costs it."""

from __future__ import annotations

from alerts.settings import Settings
from dashboards import metrics
from dashboards.elements import NOT_REPORTED, SOME_IS_BAD, Look, Query, Size
from dashboards.layer import Panel, stat, state_timeline, time_series
from dashboards.promql import PROGRAMS, by

TARGET = ("job", "instance")
TARGET_LEGEND = "{{job}} {{instance}}"
_HALF = Size(12, 9)
_THIRD = Size(8, 9)
_COUNT = Look("short", no_value=NOT_REPORTED)


def of_target(series: metrics.Metric, operation: str = "max") -> Query:
    """Return a query for a series that each program has once, by job and address."""
    return Query(by(TARGET, operation, PROGRAMS.select(series)), TARGET_LEGEND)


def down_now() -> Panel:
    """Count the programs that do not answer Prometheus."""
    return stat(
        1,
        "Down",
        "Programs whose page Prometheus cannot read. Below is which; Prometheus' page of targets "
        "says why. An exporter that is down means that its servers' figures stand still.",
        Size(3, 4),
        [Query(f"count({PROGRAMS.select(metrics.TARGET_UP)} == 0) or vector(0)", "targets")],
        Look("short", SOME_IS_BAD, decimals=0),
    )


def targets_up() -> Panel:
    """Show when which program answered."""
    return state_timeline(
        11,
        "Targets up",
        "When Prometheus could read which program's page. A gap is a time at which Prometheus "
        "itself did not run, or did not know the target.",
        Size(24, 8),
        [of_target(metrics.TARGET_UP)],
        Look("short", no_value=NOT_REPORTED, words={0: ("down", "red"), 1: ("up", "green")}),
    )


def scrape_durations(settings: Settings) -> Panel:
    """Show how long the reading of pages takes."""
    return time_series(
        12,
        "Duration of scrapes",
        f"How long Prometheus takes for a page, every {settings.intervals.scrape}. Near 10 s "
        "scrapes are given up and the figures have gaps: a loaded server answers late, or there "
        "are too many series.",
        _HALF,
        [of_target(metrics.SCRAPE_DURATION)],
        Look("s", no_value=NOT_REPORTED),
    )


def scraped_samples() -> Panel:
    """Show how large the pages are."""
    return time_series(
        13,
        "Samples per scrape",
        "How many series each page has. A climb without end is a label that takes ever new "
        "values; past its limit Prometheus drops the page.",
        _HALF,
        [of_target(metrics.SCRAPE_SAMPLES)],
        _COUNT,
    )


def prometheus_series() -> Panel:
    """Show what Prometheus holds."""
    return time_series(
        41,
        "Series in Prometheus",
        "Series that Prometheus holds in memory now. It needs some KiB for each; a climb without "
        "end is a label that takes ever new values.",
        _THIRD,
        [of_target(metrics.PROMETHEUS_SERIES)],
        _COUNT,
    )


def memory() -> Panel:
    """Show the memory of the watching programs."""
    return time_series(
        42,
        "Memory of the programs",
        "Main memory that each program holds, vLLM's API server included (not its engine). An "
        "unlimited climb ends in the kernel's killing the program.",
        _THIRD,
        [of_target(metrics.PROMETHEUS_MEMORY)],
        Look("bytes", no_value=NOT_REPORTED),
    )
