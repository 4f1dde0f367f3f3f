"""Writes the boards' JSON."""

from __future__ import annotations

from pathlib import Path

from alerts.settings import Settings
from dashboards import cache_and_memory
from dashboards.board import Board, render

GENERATED = Path(__file__).with_name("generated")


def boards(settings: Settings) -> tuple[Board, ...]:
    """Return every board."""
    return (cache_and_memory.build(settings),)


def write(settings: Settings, folder: Path = GENERATED) -> list[Path]:
    """Write each board as UID.json into ``folder``, made if missing, and return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for board in boards(settings):
        path = folder / f"{board.uid}.json"
        path.write_text(render(board), encoding="utf-8")
        written.append(path)
    return written
