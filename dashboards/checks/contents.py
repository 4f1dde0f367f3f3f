"""What is in a board's JSON: its panels, and all its PromQL."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from alerts.settings import Settings
from dashboards.board import render
from dashboards.build import boards

Json = dict[str, Any]

_VARIABLES = {
    "$__rate_interval": "1m",
    "$__interval": "15s",
    "$__range": "1h",
    "$job": ".+",
    "$server": ".+",
    "$model": ".+",
    "$instance": ".+",
}


@dataclass(frozen=True)
class Expression:
    """One PromQL expression of a board.

    Attributes:
        board: Uid.
        place: Title of the panel, name of the annotation or of the variable.
        raw: As it stands in the JSON.
        legend: What names its series; empty where nothing does.
        instant: Only the last value is wanted.
    """

    board: str
    place: str
    raw: str
    legend: str
    instant: bool = False

    @property
    def text(self) -> str:
        """The expression with the board's variables put in."""
        return expanded(self.raw)

    def __str__(self) -> str:
        return f"{self.board}, {self.place}"


def built(settings: Settings) -> list[Json]:
    """Return every board as Grafana reads it."""
    return [json.loads(render(board)) for board in boards(settings)]


def panels(board: Json) -> list[Json]:
    """Return the panels of a board that are no headings."""
    return [panel for panel in board["panels"] if panel["type"] != "row"]


def queries(board: Json) -> Iterator[Expression]:
    """Yield the expressions of a board's panels."""
    for panel in panels(board):
        for target in panel.get("targets", ()):
            yield Expression(
                board["uid"],
                panel["title"],
                target["expr"],
                target.get("legendFormat", ""),
                target["instant"],
            )


def expressions(board: Json) -> Iterator[Expression]:
    """Yield the expressions of a board's panels, annotations and variables."""
    yield from queries(board)
    for note in board["annotations"]["list"]:
        if "expr" in note:
            legend = f"{note['titleFormat']} {note['textFormat']}"
            yield Expression(board["uid"], note["name"], note["expr"], legend)
    for variable in board["templating"]["list"]:
        match = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"])
        if match:
            yield Expression(board["uid"], f"${variable['name']}", match[1], f"{{{{{match[2]}}}}}")


def expanded(text: str) -> str:
    """Put values in for the variables of boards and for Grafana's own."""
    for name, value in _VARIABLES.items():
        text = text.replace(name, value)
    return text


def legend_labels(legend: str) -> set[str]:
    """Return the labels that a legend shows."""
    return set(re.findall(r"{{\s*(\w+)\s*}}", legend))
