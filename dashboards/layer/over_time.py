"""Panels with time from left to right: lines, heatmaps, states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dashboards.elements import Look, Query, Size
from dashboards.layer.panel import Panel, PanelType, panel

_HIDE_NOTHING = {"legend": False, "tooltip": False, "viz": False}


def time_series(
    panel_id: int,
    title: str,
    description: str,
    size: Size,
    queries: Sequence[Query],
    look: Look,
    *,
    stacked: bool = False,
    dashed: str | None = None,
    calcs: Sequence[str] = ("lastNotNull", "min", "max"),
) -> Panel:
    """Return a panel of lines over time with a line at each threshold.

    Args:
        panel_id: See `panel`.
        title: See `panel`.
        description: See `panel`.
        size: See `panel`.
        queries: One line a series.
        look: See `panel`; lines are drawn at thresholds with a value.
        stacked: Add the series up.
        dashed: Regular expression of the series' names that are drawn as dashed blue lines.
        calcs: Columns of the legend.
    """
    overrides = []
    if dashed is not None:
        overrides.append(
            {
                "matcher": {"id": "byRegexp", "options": f"/{dashed}/"},
                "properties": [
                    {"id": "custom.lineStyle", "value": {"dash": [10, 10], "fill": "dash"}},
                    {"id": "custom.fillOpacity", "value": 0},
                    {"id": "color", "value": {"fixedColor": "blue", "mode": "fixed"}},
                ],
            }
        )
    return panel(
        "timeseries",
        panel_id,
        title,
        description,
        size,
        queries,
        look,
        options={
            "legend": {
                "calcs": list(calcs),
                "displayMode": "table",
                "placement": "bottom",
                "showLegend": True,
            },
            "tooltip": {"mode": "multi", "sort": "desc"},
        },
        defaults={"color": {"mode": "palette-classic"}, "custom": _lines(look, stacked)},
        overrides=overrides,
    )


def _lines(look: Look, stacked: bool) -> dict[str, Any]:
    drawn = any(step.value is not None for step in look.steps)
    custom: dict[str, Any] = {
        "drawStyle": "line",
        "fillOpacity": 30 if stacked else 5,
        "hideFrom": _HIDE_NOTHING,
        "lineInterpolation": "linear",
        "lineWidth": 2,
        "scaleDistribution": {"type": "linear"},
        "showPoints": "never",
        "spanNulls": False,
        "stacking": {"group": "A", "mode": "normal" if stacked else "none"},
        "thresholdsStyle": {"mode": "line" if drawn else "off"},
    }
    if look.soft_maximum is not None:
        # Else Grafana's axis goes to 100 where all values are 0.
        custom["axisSoftMax"] = look.soft_maximum
    return custom


def heatmap(
    panel_id: int,
    title: str,
    description: str,
    size: Size,
    query: Query,
    look: Look,
) -> Panel:
    """Return a heatmap of a histogram's buckets.

    Args:
        panel_id: See `panel`.
        title: See `panel`.
        description: See `panel`.
        size: See `panel`.
        query: Increase of the cumulative buckets by ``le``; the legend is ``{{le}}``.
        look: Unit of the buckets' bounds.
    """
    return panel(
        "heatmap",
        panel_id,
        title,
        description,
        size,
        [query],
        look,
        output="heatmap",
        options={
            "calculate": False,
            "cellGap": 1,
            "cellValues": {"unit": "short"},
            "color": {
                "exponent": 0.5,
                "fill": "dark-orange",
                "mode": "scheme",
                "reverse": False,
                "scale": "exponential",
                "scheme": "Oranges",
                "steps": 64,
            },
            # Cells without requests stay empty instead of dark.
            "filterValues": {"le": 1e-9},
            "legend": {"show": True},
            "rowsFrame": {"layout": "auto"},
            "tooltip": {"mode": "single", "yHistogram": False, "showColorScale": True},
            "yAxis": {"axisPlacement": "left", "reverse": False, "unit": look.unit},
        },
        defaults={"custom": {"hideFrom": _HIDE_NOTHING, "scaleDistribution": {"type": "linear"}}},
    )


state_timeline = PanelType(
    "state-timeline",
    options={
        "alignValue": "left",
        "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
        "mergeValues": True,
        "rowHeight": 0.9,
        "showValue": "auto",
        "tooltip": {"mode": "single", "sort": "none"},
    },
    defaults={
        "color": {"mode": "thresholds"},
        "custom": {"fillOpacity": 70, "hideFrom": _HIDE_NOTHING, "lineWidth": 0},
    },
)
"""Bands that change their colour with the state of each series; ``look`` has the words."""
