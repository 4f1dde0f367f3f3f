"""Writes what is generated from the catalogue."""

from __future__ import annotations

from pathlib import Path

from alerts import catalogue, prometheus
from alerts.settings import Settings

GENERATED = Path(__file__).with_name("generated")


def write(settings: Settings, folder: Path = GENERATED) -> list[Path]:
    """Write all generated files into ``folder``, made if missing, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    rules = folder / "prometheus-rules.yml"
    rules.write_text(prometheus.render(catalogue.groups(settings), settings), encoding="utf-8")
    return [rules]
