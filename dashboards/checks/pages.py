"""Recorded pages of real programs, against which names and labels are checked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from dashboards.metrics import Page as Kind
from dashboards.metrics import Release

_PROGRAMS: dict[str, Kind] = {
    "vllm": "server",
    "prometheus": "prometheus",
    "alertmanager": "alertmanager",
}
_FOLDER = re.compile(rf"(?:(\w+)-)?({'|'.join(_PROGRAMS)})-([0-9.]+)")


class PagesError(Exception):
    """There are no recorded pages; the message is one line."""


@dataclass(frozen=True)
class RecordedPage:
    """One page of metrics as a program wrote it.

    Attributes:
        name: Folder and file, for messages.
        kind: Whose page it is.
        release: Of the program.
        labels: Label names of each series, by its name.
        engine_only: Only vLLM's own metrics are on it, not those of its web server.
    """

    name: str
    kind: Kind
    release: Release
    labels: dict[str, frozenset[str]]
    engine_only: bool = False


def read(*folders: Path) -> list[RecordedPage]:
    """Return the pages in ``folders``: ``HARDWARE-PROGRAM-RELEASE/NAME.txt``.

    Raises:
        PagesError: There is none.
    """
    pages = []
    for folder in folders:
        for path in sorted(folder.glob("*/*.txt")):
            match = _FOLDER.fullmatch(path.parent.name)
            if match:
                release = tuple(int(part) for part in match[3].split("."))
                labels = names_and_labels(path.read_text(encoding="utf-8"))
                name = f"{path.parent.name}/{path.name}"
                synthetic = match[1] == "synthetic"
                pages.append(RecordedPage(name, _PROGRAMS[match[2]], release, labels, synthetic))
    if not pages:
        where = " or ".join(map(str, folders))
        raise PagesError(
            f"there are no recorded pages in {where}: run it in a checkout of the kit, or name a "
            "folder with --pages"
        )
    return pages


def names_and_labels(text: str) -> dict[str, frozenset[str]]:
    """Return the label names of each series on a page, by the series' name."""
    labels: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels.setdefault(sample.name, set()).update(sample.labels)
    return {name: frozenset(names) for name, names in labels.items()}
