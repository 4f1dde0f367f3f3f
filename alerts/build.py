"""Writes what is generated from the catalogue."""

from __future__ import annotations

from pathlib import Path

from alerts import catalogue, grafana, kubernetes, prometheus
from alerts.settings import Settings

GENERATED = Path(__file__).with_name("generated")

_RENDERERS = {
    "prometheus-rules.yml": prometheus.render,
    "grafana-alerting.yml": grafana.render,
    "prometheusrule.yaml": kubernetes.render,
}


def rendered(settings: Settings) -> dict[str, str]:
    """Return the text of each generated file by its name."""
    groups = catalogue.groups(settings)
    return {name: render(groups, settings) for name, render in _RENDERERS.items()}


def write(settings: Settings, folder: Path = GENERATED) -> list[Path]:
    """Write all generated files into ``folder``, made if missing, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, text in rendered(settings).items():
        path = folder / name
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths
