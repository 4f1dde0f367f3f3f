"""What panels are made of: queries, sizes, thresholds, links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
"""The data source of every query: what the variable says, so that no board knows a uid."""

Color = Literal["green", "yellow", "orange", "red", "blue", "text"]

NO_TRAFFIC = "No traffic"
"""Said where there is no series because nobody asks the server anything."""
NOT_REPORTED = "Not reported"
"""Said where there is no series because nothing measures it."""


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
class Size:
    """How many of the 24 columns and how many rows a panel takes."""

    width: int
    height: int


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

SOME_IS_BAD: tuple[Step, ...] = (Step("green"), Step("red", 1))
"""For counts of what should not be there."""

NONE_IS_BAD: tuple[Step, ...] = (Step("red"), Step("green", 1))
"""For counts, and for yes and no, where 0 is the bad news."""


@dataclass(frozen=True)
class Look:
    """How values are shown, whatever the panel.

    Attributes:
        unit: Grafana's id of the unit.
        steps: Thresholds.
        decimals: Digits after the point; None: as Grafana thinks fit.
        minimum: Lower end of axis or bar; None: by the data.
        maximum: Upper end, likewise.
        soft_maximum: Upper end that greater values may pass; None: by the data.
        no_value: What to say when there is no series.
        words: Word and colour instead of a value.
    """

    unit: str
    steps: tuple[Step, ...] = PLAIN
    decimals: int | None = None
    minimum: float | None = 0
    maximum: float | None = None
    soft_maximum: float | None = None
    no_value: str = NO_TRAFFIC
    words: Mapping[int, tuple[str, Color]] | None = None

    def defaults(self) -> dict[str, Any]:
        """Return the keys of Grafana's ``fieldConfig.defaults`` that every panel type knows."""
        optional = {"decimals": self.decimals, "min": self.minimum, "max": self.maximum}
        return {
            "unit": self.unit,
            "noValue": self.no_value,
            "mappings": mappings(self.words) if self.words else [],
            "thresholds": {
                "mode": "absolute",
                "steps": [step.to_json_data() for step in self.steps],
            },
        } | {key: value for key, value in optional.items() if value is not None}


YES_NO: Mapping[int, tuple[str, Color]] = {0: ("no", "red"), 1: ("yes", "green")}


def mappings(words: Mapping[int, tuple[str, Color]]) -> list[dict[str, Any]]:
    """Return Grafana's value mappings."""
    options = {
        str(value): {"index": index, "text": text, "color": color}
        for index, (value, (text, color)) in enumerate(words.items())
    }
    return [{"type": "value", "options": options}]


@dataclass(frozen=True)
class Link:
    """A link to another board, offered on a value of a panel."""

    title: str
    uid: str
    variables: str = ""

    def to_json_data(self) -> dict[str, Any]:
        """Return Grafana's data link; time range and data source go with it."""
        url = f"/d/{self.uid}?${{__url_time_range}}&${{datasource:queryparam}}{self.variables}"
        return {"title": self.title, "url": url, "targetBlank": False}
