"""What panels are made of: queries, places on the grid, thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
"""The data source of every query: what the variable says, so that no board knows a uid."""

Color = Literal["green", "yellow", "orange", "red", "blue", "text"]


@dataclass(frozen=True)
class Query:
    """One PromQL query of a panel and the name of its series in the legend.

    Attributes:
        expr: PromQL; may hold the board's variables.
        legend: Legend with labels in double braces; each must survive the query.
        instant: Only the last value is wanted.
    """

    expr: str
    legend: str
    instant: bool = False


@dataclass(frozen=True)
class Place:
    """Where a panel stands on the 24 columns."""

    x: int
    y: int
    width: int
    height: int

    def to_json_data(self) -> dict[str, int]:
        """Return Grafana's ``gridPos``."""
        return {"h": self.height, "w": self.width, "x": self.x, "y": self.y}


@dataclass(frozen=True)
class Step:
    """A threshold: from ``value`` on, this colour. The first has no value: it is the base."""

    color: Color
    value: float | None = None

    def to_json_data(self) -> dict[str, Any]:
        """Return Grafana's threshold step."""
        return {"color": self.color, "value": self.value}


PLAIN: tuple[Step, ...] = (Step("text"),)
"""For panels whose value is neither good nor bad."""
