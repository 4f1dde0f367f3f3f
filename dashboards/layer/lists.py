"""Panels of rows: tables and the list of alerts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dashboards.elements import Link, Look, Query, Size
from dashboards.layer.panel import Panel, panel

_EMPTY = "-"
_EMPTY_CELL = {
    "type": "special",
    "options": {"match": "null", "result": {"text": _EMPTY, "color": "text", "index": 99}},
}


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        title: Its heading.
        source: The label that it shows, or ``A``, ``B``, … for the value of that query.
        look: How its values are shown; None: as text.
        links: Offered on its cells.
        width: In pixels; None: shared out.
    """

    title: str
    source: str
    look: Look | None = None
    links: tuple[Link, ...] = ()
    width: int | None = None


def table(
    panel_id: int,
    title: str,
    description: str,
    size: Size,
    queries: Sequence[Query],
    columns: Sequence[Column],
    no_value: str,
) -> Panel:
    """Return a table that joins the last values of queries by their labels.

    Args:
        panel_id: See `panel`.
        title: See `panel`.
        description: See `panel`.
        size: See `panel`.
        queries: Instant queries whose series have the labels of ``columns`` and no others.
        columns: From left to right; what is not among them is hidden.
        no_value: What to say when there is no row.
    """
    names = [_field(column, len(queries)) for column in columns]
    values = {f"Value #{chr(ord('A') + index)}" for index in range(len(queries))}
    hidden = {"Time", "Value", *values} - set(names)
    return panel(
        "table",
        panel_id,
        title,
        description,
        size,
        queries,
        Look("short", no_value=no_value, minimum=None),
        output="table",
        options={"cellHeight": "sm", "footer": {"show": False}, "showHeader": True},
        defaults={
            "color": {"mode": "thresholds"},
            "custom": {
                "align": "auto",
                "cellOptions": {"type": "auto"},
                "inspect": False,
                "minWidth": 90,
            },
        },
        transformations=[
            {"id": "merge", "options": {}},
            {
                "id": "organize",
                "options": {
                    "excludeByName": dict.fromkeys(sorted(hidden), True),
                    "indexByName": {name: index for index, name in enumerate(names)},
                    "renameByName": {
                        name: column.title for name, column in zip(names, columns, strict=True)
                    },
                },
            },
        ],
        overrides=[_override(column) for column in columns],
    )


def _field(column: Column, queries: int) -> str:
    """Return the name that Grafana gives the column's field before it is renamed."""
    if len(column.source) == 1 and column.source.isupper():
        return f"Value #{column.source}" if queries > 1 else "Value"
    return column.source


def _override(column: Column) -> dict[str, Any]:
    return {
        "matcher": {"id": "byName", "options": column.title},
        "properties": _properties(column),
    }


def _properties(column: Column) -> list[dict[str, Any]]:
    properties: list[dict[str, Any]] = []
    if column.look is None:
        # Else a label that looks like a number would be rounded and get a prefix.
        properties.append({"id": "unit", "value": "string"})
        properties.append({"id": "noValue", "value": _EMPTY})
    else:
        defaults = column.look.defaults()
        defaults["noValue"] = _EMPTY
        # Else an empty cell has the colour of the lowest values.
        defaults["mappings"] = [*defaults["mappings"], _EMPTY_CELL]
        properties += [{"id": key, "value": value} for key, value in defaults.items()]
        if column.look.words or any(step.value is not None for step in column.look.steps):
            properties.append({"id": "custom.cellOptions", "value": {"type": "color-text"}})
    if column.links:
        links = [link.to_json_data() for link in column.links]
        properties.append({"id": "links", "value": links})
    if column.width is not None:
        properties.append({"id": "custom.width", "value": column.width})
    return properties


def alert_list(
    panel_id: int, title: str, description: str, size: Size, prefix: str, no_value: str
) -> Panel:
    """Return the list of pending and firing alerts whose names begin with ``prefix``.

    Grafana reads the rules of Prometheus through a data source with ``manageAlerts``.
    """
    return panel(
        "alertlist",
        panel_id,
        title,
        description,
        size,
        [],
        Look("short", no_value=no_value),
        options={
            "alertInstanceLabelFilter": "",
            "alertName": prefix,
            "dashboardAlerts": False,
            "groupBy": [],
            "groupMode": "default",
            "maxItems": 20,
            "showInactiveAlerts": False,
            "showInstances": True,
            "sortOrder": 3,
            "stateFilter": {
                "error": True,
                "firing": True,
                "noData": False,
                "normal": False,
                "pending": True,
                "recovering": True,
            },
            "viewMode": "list",
        },
    )
