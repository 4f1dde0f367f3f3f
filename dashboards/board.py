"""Whole boards: the dashboard as Grafana 10.4 to 13 read it, and its text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import attr
from grafanalib import core
from grafanalib._gen import DashboardEncoder

from dashboards import variables
from dashboards.elements import DATASOURCE
from dashboards.layer.panel import Section, arrange

TAG = "vllm-monitoring-kit"
"""Common to all boards: their links to each other go by it."""

ALERTS = "VLLM"
"""What the names of the kit's alerts begin with."""

_SCHEMA_VERSION = 39
"""Grafana 10.4's; newer ones migrate from it, older ones than 13 might refuse later schemas."""

_KEYS = (
    "annotations",
    "description",
    "editable",
    "graphTooltip",
    "links",
    "panels",
    "refresh",
    "schemaVersion",
    "tags",
    "templating",
    "time",
    "timepicker",
    "timezone",
    "title",
    "uid",
)
_SHARED_CROSSHAIR = 1
_MARK_STEP = "15s"
"""Pause between the moments at which a mark's query is asked, unless the time range is long."""


@attr.s
class Board(core.Dashboard):  # type: ignore[misc]
    """A dashboard without the keys that Grafana has dropped since grafanalib was written.

    Attributes:
        source_uid: Uid of the data source, for boards without the variable; None: the variable.
    """

    source_uid: str | None = attr.ib(default=None, kw_only=True)

    def to_json_data(self) -> dict[str, Any]:
        """Return what Grafana reads."""
        everything = super().to_json_data()
        return {key: everything[key] for key in _KEYS}


def board(
    uid: str,
    title: str,
    description: str,
    sections: Sequence[Section],
    *,
    templating: core.Templating | None = None,
    annotations: Sequence[dict[str, Any]] = (),
) -> Board:
    """Return a board with the kit's variables, links and time settings.

    Args:
        uid: Stable; alerts and links refer to it.
        title: Unique within the folder.
        description: What the board answers.
        sections: Panels in reading order.
        templating: Variables; those of servers unless given.
        annotations: Marks on the time axis beside firing alerts.
    """
    link = core.DashboardLink(
        title="vLLM boards", tags=[TAG], asDropdown=True, includeVars=True, keepTime=True
    )
    # The base class is untyped, so its attributes are unknown here.
    return Board(  # type: ignore[call-arg]
        uid=uid,
        title=title,
        description=description,
        panels=arrange(sections),
        templating=templating or variables.of_servers(),
        annotations=core.Annotations(list=[_OWN_NOTES, *annotations]),
        tags=["vllm", TAG],
        links=[link],
        schemaVersion=_SCHEMA_VERSION,
        # Built from code: what is changed in the browser would be lost.
        editable=False,
        graphTooltip=_SHARED_CROSSHAIR,
        time=core.Time("now-1h", "now"),
        refresh="30s",
        timezone="browser",
    )


def public_board(
    uid: str, title: str, description: str, sections: Sequence[Section], source_uid: str
) -> Board:
    """Return a board without variables, links and marks: Grafana's public boards allow none.

    Args:
        uid: See `board`.
        title: See `board`.
        description: See `board`.
        sections: See `board`.
        source_uid: Uid of the data source of its queries.
    """
    content = board(uid, title, description, sections, templating=variables.none())
    content.links = []
    content.source_uid = source_uid
    return content


_OWN_NOTES = {
    "builtIn": 1,
    "datasource": {"type": "grafana", "uid": "-- Grafana --"},
    "enable": True,
    "hide": True,
    "iconColor": "rgba(0, 211, 255, 1)",
    "name": "Annotations & Alerts",
    "type": "dashboard",
}


def mark(
    name: str, expr: str, color: str, title: str, text: str, *, time_is_value: bool = False
) -> dict[str, Any]:
    """Return an annotation from a query.

    Args:
        name: Of its switch on the board.
        expr: PromQL; a mark for each series and stretch of time that it has. It is asked once a
            step: what may be shorter has to look back over ``$__interval``, which is the step.
        color: Of the marks.
        title: Of each mark; labels in double braces.
        text: Likewise, below the title.
        time_is_value: The value is the moment to mark, in milliseconds since 1970.
    """
    return {
        "datasource": DATASOURCE,
        "enable": True,
        # Older Grafanas read these two, newer ones what is under "target".
        "expr": expr,
        "step": _MARK_STEP,
        "target": {"expr": expr, "interval": _MARK_STEP, "refId": "Anno"},
        "hide": False,
        "iconColor": color,
        "name": name,
        "tagKeys": "severity",
        "textFormat": text,
        "titleFormat": title,
        "useValueForTime": time_is_value,
    }


def render(content: Board) -> str:
    """Return the board's JSON, the same each time."""
    text = json.dumps(content, cls=DashboardEncoder, indent=2, sort_keys=True) + "\n"
    if content.source_uid is not None:
        text = text.replace(DATASOURCE["uid"], content.source_uid)
    return text
