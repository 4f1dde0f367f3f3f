"""Panels as Grafana 10.4 to 13 read them, over what grafanalib 0.7.1 emits.

grafanalib is of the time of Grafana 8: it writes first threshold steps as the text "null", takes
no fractions for axes, halves the resolution of queries and adds keys that Grafana has dropped.
The classes here put that right, and what a panel needs is required: id, title, description, unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grafanalib import core

from dashboards.elements import DATASOURCE, PLAIN, Place, Query, Step

_OBSOLETE = frozenset(
    {
        "cacheTimeout",
        "editable",
        "error",
        "height",
        "hideTimeOverride",
        "maxPerRow",
        "minSpan",
        "repeatDirection",
        "span",
        "timeShift",
    }
)


class _Target(core.Target):  # type: ignore[misc]
    def to_json_data(self) -> dict[str, Any]:
        return {
            "datasource": DATASOURCE,
            "editorMode": "code",
            "expr": self.expr,
            "format": "time_series",
            "instant": self.instant,
            "legendFormat": self.legendFormat,
            "range": not self.instant,
            "refId": self.refId,
        }


def _targets(queries: Sequence[Query]) -> list[_Target]:
    return [
        _Target(
            expr=query.expr, legendFormat=query.legend, instant=query.instant, refId=chr(65 + index)
        )
        for index, query in enumerate(queries)
    ]


def _current(panel: dict[str, Any]) -> dict[str, Any]:
    """Return a panel without the keys that Grafana no longer knows or that say nothing."""
    return {
        key: value
        for key, value in panel.items()
        if key not in _OBSOLETE and value is not None and value != []
    }


class _TimeSeries(core.TimeSeries):  # type: ignore[misc]
    def to_json_data(self) -> dict[str, Any]:
        panel = _current(super().to_json_data())
        defaults = panel["fieldConfig"]["defaults"]
        custom = defaults["custom"]
        custom["stacking"] = custom["stacking"] or {"group": "A", "mode": "none"}
        custom["scaleDistribution"] = {"type": "linear"}
        for options in (defaults, custom):
            for key in [key for key, value in options.items() if value is None]:
                del options[key]
        return panel


class _Stat(core.Stat):  # type: ignore[misc]
    def to_json_data(self) -> dict[str, Any]:
        panel = _current(super().to_json_data())
        defaults = panel["fieldConfig"]["defaults"]
        defaults["color"] = {"mode": "thresholds"}
        if defaults["decimals"] is None:
            del defaults["decimals"]
        return panel


class _Row(core.RowPanel):  # type: ignore[misc]
    def to_json_data(self) -> dict[str, Any]:
        panel = _current(super().to_json_data())
        keys = ("collapsed", "gridPos", "id", "title", "type")
        return {key: panel[key] for key in keys} | {"panels": []}


def time_series(
    panel_id: int,
    title: str,
    description: str,
    place: Place,
    queries: Sequence[Query],
    *,
    unit: str,
    steps: Sequence[Step] = PLAIN,
    maximum: float | None = None,
    stacked: bool = False,
    dashed: str | None = None,
    no_value: str = "No data",
) -> core.Panel:
    """Return a panel of lines over time, from zero up, with a line at each threshold.

    Args:
        panel_id: Stable id; alerts refer to it.
        title: What is shown.
        description: What the number means, and what to do when it is bad.
        place: Position.
        queries: One line a series.
        unit: Grafana's id of the unit.
        steps: Thresholds; lines are drawn at those with a value.
        maximum: Upper end of the axis, in the unit; None: by the data.
        stacked: Add the series up.
        dashed: Regular expression of the series' names that are drawn as dashed blue lines.
        no_value: What to say when there is no series.
    """
    defaults: dict[str, Any] = {"min": 0, "noValue": no_value}
    if maximum is not None:
        defaults["max"] = maximum
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
    return _TimeSeries(
        id=panel_id,
        title=title,
        description=description,
        gridPos=place,
        dataSource=DATASOURCE,
        targets=_targets(queries),
        unit=unit,
        thresholds=list(steps),
        thresholdsStyleMode="line" if any(step.value is not None for step in steps) else "off",
        fillOpacity=30 if stacked else 5,
        stacking={"group": "A", "mode": "normal"} if stacked else {},
        lineWidth=2,
        showPoints="never",
        tooltipMode="multi",
        tooltipSort="desc",
        legendCalcs=["lastNotNull", "min", "max"],
        legendDisplayMode="table",
        maxDataPoints=None,
        overrides=overrides,
        extraJson={
            "fieldConfig": {"defaults": defaults},
            "options": {"legend": {"showLegend": True}},
        },
    )


def stat(
    panel_id: int,
    title: str,
    description: str,
    place: Place,
    queries: Sequence[Query],
    *,
    unit: str,
    steps: Sequence[Step] = PLAIN,
    decimals: int | None = None,
    mappings: Sequence[dict[str, Any]] = (),
    no_value: str = "No data",
) -> core.Panel:
    """Return a tile with the last value of each series, coloured by thresholds.

    Args:
        panel_id: Stable id; alerts refer to it.
        title: What is shown.
        description: What the number means, and what to do when it is bad.
        place: Position.
        queries: One value a series.
        unit: Grafana's id of the unit.
        steps: Thresholds.
        decimals: Digits after the point; None: as Grafana thinks fit.
        mappings: Texts instead of values, in Grafana's form.
        no_value: What to say when there is no series.
    """
    return _Stat(
        id=panel_id,
        title=title,
        description=description,
        gridPos=place,
        dataSource=DATASOURCE,
        targets=_targets(queries),
        format=unit,
        thresholds=list(steps),
        reduceCalc="lastNotNull",
        noValue=no_value,
        decimals=decimals,
        mappings=list(mappings),
        graphMode="none",
        maxDataPoints=None,
    )


def row(panel_id: int, title: str, y: int) -> core.Panel:
    """Return a heading across the board; the panels after it belong to it."""
    return _Row(id=panel_id, title=title, gridPos=Place(0, y, 24, 1), collapsed=False)
