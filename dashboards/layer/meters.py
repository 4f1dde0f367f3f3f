"""Panels of last values: tiles, dials, bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dashboards.elements import Link, Look, Query, Size
from dashboards.layer.panel import Panel, PanelType, panel

_LAST = {"calcs": ["lastNotNull"], "fields": "", "values": False}
_BY_THRESHOLD = {"color": {"mode": "thresholds"}}


def stat(
    panel_id: int,
    title: str,
    description: str,
    size: Size,
    queries: Sequence[Query],
    look: Look,
    *,
    sparkline: bool = False,
    links: Sequence[Link] = (),
) -> Panel:
    """Return a tile with the last value of each series, coloured by thresholds.

    Args:
        panel_id: See `panel`.
        title: See `panel`.
        description: See `panel`.
        size: See `panel`.
        queries: One value a series.
        look: See `panel`.
        sparkline: Draw the course of the value behind it.
        links: Offered on the values.
    """
    return panel(
        "stat",
        panel_id,
        title,
        description,
        size,
        queries,
        look,
        options={
            "colorMode": "value",
            "graphMode": "area" if sparkline else "none",
            "justifyMode": "auto",
            "orientation": "auto",
            "reduceOptions": _LAST,
            "textMode": "auto",
            "wideLayout": True,
        },
        defaults=_BY_THRESHOLD | _links(links),
    )


gauge = PanelType(
    "gauge",
    options={
        "minVizHeight": 75,
        "minVizWidth": 75,
        "orientation": "auto",
        "reduceOptions": _LAST,
        "showThresholdLabels": False,
        "showThresholdMarkers": True,
        "sizing": "auto",
    },
    defaults=_BY_THRESHOLD,
)
"""Dials from ``look.minimum`` to ``look.maximum`` with the thresholds on the rim."""


bar_gauge = PanelType(
    "bargauge",
    options={
        "displayMode": "basic",
        "maxVizHeight": 40,
        "minVizHeight": 16,
        "minVizWidth": 8,
        "namePlacement": "top",
        "orientation": "horizontal",
        "reduceOptions": _LAST,
        "showUnfilled": True,
        "sizing": "auto",
        "valueMode": "color",
    },
    defaults=_BY_THRESHOLD,
)
"""A horizontal bar for each series."""


def _links(links: Sequence[Link]) -> dict[str, Any]:
    return {"links": [link.to_json_data() for link in links]} if links else {}
