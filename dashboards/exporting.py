"""The variant of a board for Grafana's import dialog, which asks for the data source."""

from __future__ import annotations

import json
from typing import Any

from dashboards.board import Board, render
from dashboards.elements import DATASOURCE

_INPUT = "DS_PROMETHEUS"
_OLDEST_GRAFANA = "10.4.0"


def portable(board: Board) -> str:
    """Return the board's JSON with ``__inputs``: the dialog puts the chosen data source in.

    Provisioning and the HTTP API put nothing in: they take what `render` returns.
    """
    content: dict[str, Any] = json.loads(render(board))
    chosen = f"${{{_INPUT}}}"
    for variable in content["templating"]["list"]:
        if variable["type"] == "datasource":
            variable["current"] = {"selected": True, "text": chosen, "value": chosen}
    if board.source_uid is not None:
        content = _replaced(content, board.source_uid, chosen)
    content["__inputs"] = [
        {
            "name": _INPUT,
            "label": "Prometheus",
            "description": "The Prometheus that scrapes vLLM and its exporter",
            "type": DATASOURCE["type"],
            "pluginId": DATASOURCE["type"],
            "pluginName": "Prometheus",
        }
    ]
    content["__requires"] = [
        {"type": "grafana", "id": "grafana", "name": "Grafana", "version": _OLDEST_GRAFANA},
        {"type": "datasource", "id": "prometheus", "name": "Prometheus", "version": "1.0.0"},
        *(
            {"type": "panel", "id": kind, "name": kind, "version": ""}
            for kind in sorted({panel["type"] for panel in content["panels"]} - {"row"})
        ),
    ]
    return json.dumps(content, indent=2, sort_keys=True) + "\n"


def _replaced(value: Any, uid: str, chosen: str) -> Any:
    if isinstance(value, dict):
        return {
            key: chosen if key == "uid" and one == uid else _replaced(one, uid, chosen)
            for key, one in value.items()
        }
    if isinstance(value, list):
        return [_replaced(one, uid, chosen) for one in value]
    return value
