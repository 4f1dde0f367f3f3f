"""Marks on the time axis of the boards: restarts and firing alerts."""

from __future__ import annotations

from typing import Any

from dashboards import figures
from dashboards.board import mark
from dashboards.promql import Scope
from exporter.catalogue import UPSTREAM_START_TIME


def of_servers(scope: Scope) -> list[dict[str, Any]]:
    """Return marks at restarts of servers and while alerts fire."""
    return [
        mark(
            "Server restarts",
            f"{scope.select(UPSTREAM_START_TIME)} * 1000",
            "blue",
            "{{server}} began anew",
            "Counters and caches of the server begin at this moment.",
            time_is_value=True,
        ),
        firing_alerts(scope),
    ]


def firing_alerts(scope: Scope) -> dict[str, Any]:
    """Return marks while alerts of the kit fire."""
    return mark(
        "Firing alerts",
        f"max_over_time({figures.alerts(scope)}[$__interval])",
        "red",
        "{{alertname}}",
        "{{server}} {{model_name}} {{gpu}}",
    )
