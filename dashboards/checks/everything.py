"""All checks of the boards at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from alerts.settings import Settings
from dashboards.checks import availability, contents, drift, form, pages, references


def findings(settings: Settings, recorded: Sequence[Path], folder: Path) -> list[str]:
    """Return all that is wrong with the boards, one line each.

    Args:
        settings: Thresholds and alerts.
        recorded: Folders of recorded pages.
        folder: Of the built dashboards.

    Raises:
        PagesError: There are no recorded pages.
    """
    known = pages.read(*recorded)
    boards = contents.built(settings)
    found = form.findings(boards) + availability.findings(boards, known)
    return found + references.findings(boards, settings) + drift.findings(settings, folder)
