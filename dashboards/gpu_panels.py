"""Panels on what a GPU does, and for whom."""

from __future__ import annotations

from dashboards import scales
from dashboards.elements import NOT_REPORTED, Look, Query, Size
from dashboards.layer import Panel, time_series
from dashboards.promql import CHOSEN, on_server
from exporter.catalogue import (
    GPU_MEMORY_OTHER,
    GPU_MEMORY_PROCESS,
    GPU_POWER,
    GPU_TEMPERATURE,
    GPU_UTILIZATION,
    ExportedMetric,
)

_GPU_LEGEND = "{{server}} GPU {{gpu}}"
_QUARTER = Size(6, 9)


def of_gpu(metric: ExportedMetric, kind: str = "") -> Query:
    """Return a query for a metric of each GPU; ``kind`` stands before its name in the legend."""
    return Query(on_server(CHOSEN, metric), f"{kind}{_GPU_LEGEND}")


def by_owner() -> Panel:
    """Show whose memory it is."""
    return time_series(
        25,
        "GPU memory by owner",
        "What the processes of each server hold, and what others hold on its GPUs. Others grow: "
        "find them with nvidia-smi and end them, or lower --gpu-memory-utilization. Not reported "
        "where the driver does not tell whose it is, as in most containers.",
        _QUARTER,
        [
            Query(CHOSEN.select(GPU_MEMORY_PROCESS), _GPU_LEGEND),
            of_gpu(GPU_MEMORY_OTHER, "others, "),
        ],
        scales.BYTES,
        stacked=True,
        calcs=("lastNotNull", "max"),
    )


def power() -> Panel:
    """Show what the GPU draws."""
    return time_series(
        27,
        "GPU power",
        "What each GPU draws. At its limit it slows down; far below it under load, it waits for "
        "memory, for other GPUs or for requests. Not reported where the driver does not tell.",
        _QUARTER,
        [of_gpu(GPU_POWER)],
        Look("watt", no_value=NOT_REPORTED),
        calcs=("lastNotNull", "max"),
    )


def temperature() -> Panel:
    """Show how hot the GPU is."""
    return time_series(
        28,
        "GPU temperature",
        "How hot each GPU is. Above some 85 °C most slow down, and every request takes longer: "
        "look after the cooling. Not reported where the driver does not tell.",
        _QUARTER,
        [of_gpu(GPU_TEMPERATURE)],
        Look("celsius", no_value=NOT_REPORTED),
        calcs=("lastNotNull", "max"),
    )


def activity() -> Panel:
    """Show whether the GPU works at all."""
    return time_series(
        26,
        "GPU activity",
        "Share of the time in which the GPU computed anything, however little: 100 % is not full "
        "load, but 0 % with requests running means that the engine is stuck. Not reported where "
        "the driver does not tell, as with MIG.",
        _QUARTER,
        [of_gpu(GPU_UTILIZATION)],
        Look("percentunit", maximum=1, no_value=NOT_REPORTED),
        calcs=("lastNotNull", "min"),
    )
