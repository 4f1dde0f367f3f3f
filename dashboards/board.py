"""Whole boards: the dashboard as Grafana 10.4 to 13 read it, and its text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from grafanalib import core
from grafanalib._gen import DashboardEncoder

from dashboards import variables

TAG = "vllm-monitoring-kit"
"""Common to all boards: their links to each other go by it."""

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


class Board(core.Dashboard):  # type: ignore[misc]
    """A dashboard without the keys that Grafana has dropped since grafanalib was written."""

    def to_json_data(self) -> dict[str, Any]:
        """Return what Grafana reads."""
        everything = super().to_json_data()
        return {key: everything[key] for key in _KEYS}


def board(uid: str, title: str, description: str, panels: Sequence[core.Panel]) -> Board:
    """Return a board with the kit's variables, links and time settings.

    Args:
        uid: Stable; alerts and links refer to it.
        title: Unique within the folder.
        description: What the board answers.
        panels: With ids and places of their own.
    """
    return Board(
        uid=uid,
        title=title,
        description=description,
        panels=list(panels),
        templating=variables.templating(),
        tags=["vllm", TAG],
        links=[
            core.DashboardLink(
                title="vLLM boards",
                tags=[TAG],
                asDropdown=True,
                includeVars=True,
                keepTime=True,
            )
        ],
        schemaVersion=_SCHEMA_VERSION,
        # Built from code: what is changed in the browser would be lost.
        editable=False,
        graphTooltip=_SHARED_CROSSHAIR,
        time=core.Time("now-1h", "now"),
        refresh="30s",
        timezone="browser",
    )


def render(content: Board) -> str:
    """Return the board's JSON, the same each time."""
    return json.dumps(content, cls=DashboardEncoder, indent=2, sort_keys=True) + "\n"
