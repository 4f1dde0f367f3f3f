"""Panels on the exporter: what it reaches, and what its collectors do."""

from __future__ import annotations

from dashboards.elements import (
    NOT_REPORTED,
    YES_NO,
    Color,
    Look,
    Query,
    Size,
)
from dashboards.layer import Panel, state_timeline, time_series
from dashboards.promql import PROGRAMS, by
from exporter.catalogue import (
    COLLECTOR_DURATION,
    COLLECTOR_SUCCESS,
    GPU_UP,
    UPSTREAM_DURATION,
    UPSTREAM_STATE,
)

_STATES: tuple[tuple[str, Color], ...] = (
    ("ok", "green"),
    ("unreachable", "red"),
    ("timeout", "red"),
    ("unauthorized", "orange"),
    ("http_error", "orange"),
    ("not_vllm", "orange"),
    ("invalid", "yellow"),
)
_HALF = Size(12, 9)
_SECONDS = Look("s", no_value=NOT_REPORTED)
_YES_NO = Look("short", no_value=NOT_REPORTED, words=YES_NO)


def upstream_states() -> Panel:
    """Show what the exporter's fetches of vLLM's page came to."""
    # The exporter says 1 for one state and 0 for the others: the band shows which one it is.
    bands = " or ".join(
        f"{number} * {by(('server',), 'max', _in_state(state))}"
        for number, (state, _) in enumerate(_STATES)
    )
    return state_timeline(
        21,
        "Fetches of vLLM's page",
        "What the exporter's fetch of each server's page came to. Other than ok: the exporter's "
        "log says what to do; until then the server's figures are missing.",
        _HALF,
        [Query(bands, "{{server}}")],
        Look("short", no_value=NOT_REPORTED, words=dict(enumerate(_STATES))),
    )


def upstream_durations() -> Panel:
    """Show how long vLLM takes for its page."""
    return time_series(
        22,
        "Duration of fetches",
        "How long vLLM took for its page, failed fetches included. Seconds: its API server is "
        "busy, and users feel it too.",
        _HALF,
        [Query(by(("server",), "max", PROGRAMS.select(UPSTREAM_DURATION)), "{{server}}")],
        _SECONDS,
    )


def collectors() -> Panel:
    """Show which part of the exporter fails."""
    labels = ("instance", "collector")
    return state_timeline(
        23,
        "Collectors of the exporter",
        "Whether each part of the exporter got all that it asked for. gpu failed: no NVML here, "
        "or the driver was replaced; the exporter's log says which.",
        _HALF,
        [
            Query(
                by(labels, "min", PROGRAMS.select(COLLECTOR_SUCCESS)), "{{instance}} {{collector}}"
            )
        ],
        Look("short", no_value=NOT_REPORTED, words={0: ("failed", "red"), 1: ("ok", "green")}),
    )


def gpus_readable() -> Panel:
    """Show which GPU can no longer be read."""
    labels = ("instance", "gpu")
    return state_timeline(
        25,
        "GPUs readable",
        "Whether the exporter can read each GPU that it has seen. No: it is lost, needs a reset, "
        "or its driver is gone; dmesg (Xid) and the exporter's log say which.",
        Size(24, 6),
        [Query(by(labels, "min", PROGRAMS.select(GPU_UP)), "{{instance}} GPU {{gpu}}")],
        _YES_NO,
    )


def collector_durations() -> Panel:
    """Show which part of the exporter is slow."""
    labels = ("instance", "collector")
    return time_series(
        24,
        "Duration of collectors",
        "How long each part of the exporter took in a scrape. NVML takes microseconds; more means "
        "that the driver hangs.",
        _HALF,
        [
            Query(
                by(labels, "max", PROGRAMS.select(COLLECTOR_DURATION)),
                "{{instance}} {{collector}}",
            )
        ],
        _SECONDS,
    )


def _in_state(state: str) -> str:
    matcher = f'state="{state}"'
    return f"{PROGRAMS.select(UPSTREAM_STATE, matcher)} == 1"
