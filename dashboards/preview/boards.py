"""The dashboards in a folder, read anew whenever the page asks: a rebuilt one needs no restart."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Board:
    """One dashboard: schema v1 JSON with what the list of boards shows of it."""

    uid: str
    title: str
    description: str
    tags: tuple[str, ...]
    model: dict[str, Any]

    def entry(self) -> dict[str, Any]:
        """Return what the list of boards holds."""
        return {
            "uid": self.uid,
            "title": self.title,
            "description": self.description,
            "tags": list(self.tags),
        }


def read(folder: Path) -> list[Board]:
    """Return the boards in ``folder``, sorted by title, those tagged ``overview`` first.

    JSON files that hold no dashboard with a ``uid`` are passed over: the folder may hold others.

    Raises:
        OSError: The folder cannot be read.
    """
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder} is not a folder")
    boards = [board for file in sorted(folder.glob("*.json")) if (board := _board(file))]
    return sorted(boards, key=lambda board: ("overview" not in board.uid, board.title.lower()))


def _board(file: Path) -> Board | None:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, OSError):
        return None
    model = content.get("dashboard", content) if isinstance(content, dict) else None
    if not isinstance(model, dict) or "panels" not in model or not model.get("uid"):
        return None
    return Board(
        uid=str(model["uid"]),
        title=str(model.get("title") or model["uid"]),
        description=str(model.get("description") or ""),
        tags=tuple(str(tag) for tag in model.get("tags") or ()),
        model=model,
    )
