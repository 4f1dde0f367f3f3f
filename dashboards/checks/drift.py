"""Are the committed files what the code gives?"""

from __future__ import annotations

from pathlib import Path

from alerts.settings import Settings
from dashboards.board import render
from dashboards.build import boards


def findings(settings: Settings, folder: Path) -> list[str]:
    """Return the files in ``folder`` that differ from the code, are missing or left over."""
    wanted = {f"{board.uid}.json": render(board) for board in boards(settings)}
    there = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.json")}
    found = [
        f"{folder / name}: not as the code gives it; run python -m dashboards build"
        for name in sorted(wanted)
        if there.get(name) != wanted[name]
    ]
    return found + [f"{folder / name}: no board's" for name in sorted(there.keys() - wanted.keys())]
