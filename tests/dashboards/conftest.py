import json
from typing import Any

import pytest

from alerts.settings import load
from dashboards import build
from dashboards.board import render


@pytest.fixture(scope="session")
def boards() -> dict[str, dict[str, Any]]:
    """Every board as Grafana reads it, by uid."""
    return {str(board.uid): json.loads(render(board)) for board in build.boards(load())}


@pytest.fixture(scope="session")
def panels(boards) -> list[dict[str, Any]]:
    """The panels with data, of all boards."""
    return [
        panel for board in boards.values() for panel in board["panels"] if panel["type"] != "row"
    ]


@pytest.fixture(scope="session")
def expressions(panels) -> list[tuple[str, str]]:
    """(expression, legend) of every query, with the boards' variables put in."""
    variables = {
        "$__rate_interval": "1m",
        "$job": ".+",
        "$server": ".+",
        "$model": ".+",
    }
    found = []
    for panel in panels:
        for target in panel["targets"]:
            text = target["expr"]
            for name, value in variables.items():
                text = text.replace(name, value)
            assert "$" not in text, f"unknown variable in {text}"
            found.append((text, target["legendFormat"]))
    return found
