"""The base of all panels, their targets, and their places on the board."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import attr
from grafanalib import core

from dashboards.elements import DATASOURCE, Look, Place, Query, Size

COLUMNS = 24


class Target(core.Target):  # type: ignore[misc]
    """A query at full resolution, without what older Grafanas wanted."""

    def to_json_data(self) -> dict[str, Any]:
        """Return what Grafana reads."""
        return {
            "datasource": DATASOURCE,
            "editorMode": "code",
            "expr": self.expr,
            "format": self.format,
            "instant": self.instant,
            "legendFormat": self.legendFormat,
            "range": not self.instant,
            "refId": self.refId,
        }


@attr.s
class Panel(core.Panel):  # type: ignore[misc]
    """A panel whose options and field configuration are given in today's form.

    Attributes:
        kind: Grafana's id of the panel type.
        size: Columns and rows; the place follows from the panels before it.
        options: Of the panel type.
        defaults: Of the field configuration.
        overrides: Of single fields.
    """

    kind: str = attr.ib(kw_only=True)
    size: Size = attr.ib(kw_only=True)
    options: dict[str, Any] = attr.ib(factory=dict, kw_only=True)
    defaults: dict[str, Any] = attr.ib(factory=dict, kw_only=True)
    overrides: list[dict[str, Any]] = attr.ib(factory=list, kw_only=True)

    def to_json_data(self) -> dict[str, Any]:
        """Return what Grafana reads."""
        panel = {
            "datasource": self.dataSource,
            "description": self.description,
            "fieldConfig": {"defaults": self.defaults, "overrides": self.overrides},
            "gridPos": self.gridPos,
            "id": self.id,
            "options": self.options,
            "targets": self.targets,
            "title": self.title,
            "transformations": self.transformations,
            "type": self.kind,
        }
        return {key: value for key, value in panel.items() if value != []}


class Row(core.RowPanel):  # type: ignore[misc]
    """A heading across the board, not collapsed."""

    def to_json_data(self) -> dict[str, Any]:
        """Return what Grafana reads."""
        return {
            "collapsed": False,
            "gridPos": self.gridPos,
            "id": self.id,
            "panels": [],
            "title": self.title,
            "type": "row",
        }


@dataclass(frozen=True)
class Section:
    """Panels under a heading; without a title there is no heading.

    Attributes:
        row_id: Id of the heading's own panel.
        title: Text of the heading.
        panels: In reading order.
    """

    row_id: int
    title: str
    panels: Sequence[Panel]


def targets(queries: Sequence[Query], output: str = "time_series") -> list[Target]:
    """Return the targets of queries, named A, B, C and so on."""
    return [
        Target(
            expr=query.expr,
            format=output,
            legendFormat=query.legend,
            instant=query.instant,
            refId=chr(ord("A") + index),
        )
        for index, query in enumerate(queries)
    ]


def panel(
    kind: str,
    panel_id: int,
    title: str,
    description: str,
    size: Size,
    queries: Sequence[Query],
    look: Look,
    *,
    output: str = "time_series",
    **rest: Any,
) -> Panel:
    """Return a panel of any type; the functions for each type add its options.

    Args:
        kind: Grafana's id of the panel type.
        panel_id: Stable id; alerts refer to it.
        title: What is shown.
        description: What the number means, and what to do when it is bad.
        size: Columns and rows.
        queries: One or more series each.
        look: Unit, thresholds and the like.
        output: Grafana's ``format`` of the queries: ``time_series``, ``table`` or ``heatmap``.
        **rest: Other attributes of `Panel`.
    """
    defaults = look.defaults() | rest.pop("defaults", {})
    # The base class is untyped, so its attributes are unknown here.
    return Panel(  # type: ignore[call-arg]
        kind=kind,
        id=panel_id,
        title=title,
        description=description,
        size=size,
        dataSource=DATASOURCE,
        targets=targets(queries, output),
        defaults=defaults,
        **rest,
    )


@dataclass(frozen=True)
class PanelType:
    """A panel type whose panels differ in nothing but what `panel` is told.

    Attributes:
        kind: Grafana's id of it.
        options: Of every panel.
        defaults: Of every panel's field configuration.
    """

    kind: str
    options: Mapping[str, Any]
    defaults: Mapping[str, Any]

    def __call__(
        self,
        panel_id: int,
        title: str,
        description: str,
        size: Size,
        queries: Sequence[Query],
        look: Look,
    ) -> Panel:
        """Return a panel of the type; see `panel`."""
        return panel(
            self.kind,
            panel_id,
            title,
            description,
            size,
            queries,
            look,
            options=dict(self.options),
            defaults=dict(self.defaults),
        )


def arrange(sections: Iterable[Section]) -> list[core.Panel]:
    """Give every panel its place: left to right, wrapped at 24 columns, under its heading.

    Raises:
        ValueError: If a panel is wider than the board.
    """
    placed: list[core.Panel] = []
    y = 0
    for section in sections:
        if section.title:
            place = Place(0, y, COLUMNS, 1)
            placed.append(Row(id=section.row_id, title=section.title, gridPos=place))
            y += 1
        x = line = 0
        for one in section.panels:
            if one.size.width > COLUMNS:
                raise ValueError(f"{one.title} is wider than {COLUMNS} columns")
            if x + one.size.width > COLUMNS:
                x, y, line = 0, y + line, 0
            one.gridPos = Place(x, y, one.size.width, one.size.height)
            placed.append(one)
            x += one.size.width
            line = max(line, one.size.height)
        y += line
    return placed
