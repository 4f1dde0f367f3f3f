"""Writes the boards' JSON."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from alerts.settings import Settings
from dashboards import cache_and_memory, latency, monitoring_itself, overview, wallboard
from dashboards.board import Board, render

GENERATED = Path(__file__).with_name("generated")


def boards(settings: Settings) -> tuple[Board, ...]:
    """Return every board."""
    modules = (overview, cache_and_memory, latency, monitoring_itself, wallboard)
    return tuple(module.build(settings) for module in modules)


def write(
    settings: Settings, folder: Path = GENERATED, text: Callable[[Board], str] = render
) -> list[Path]:
    """Write each board as UID.json into ``folder``, made if missing, and return the paths.

    Args:
        settings: Thresholds.
        folder: Where to.
        text: Gives the JSON of a board.

    Raises:
        OSError: The folder or a file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for board in boards(settings):
        path = folder / f"{board.uid}.json"
        path.write_text(text(board), encoding="utf-8")
        written.append(path)
    return written
