"""Lays the chain's configuration out in the run folder, from the kit's own files and settings."""

from __future__ import annotations

import os
import secrets
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

import alerts
import dashboards.build
from alerts import build as alert_rules
from alerts.settings import Settings, load
from alerts.settings_file import Url
from exporter import catalogue
from monitoring import folders
from monitoring.alertmanager import build as alertmanager
from monitoring.alertmanager.receivers import Surroundings
from monitoring.options import HOST, Ports
from monitoring.prometheus import targets

_SOURCES = Path(__file__).resolve().parent
_RUNBOOKS = Path(alerts.__file__).resolve().with_name("runbooks")
CONSOLE = "console.html"
_MAX_SCRAPE_TIMEOUT_SECONDS = 10.0


@dataclass(frozen=True)
class Layout:
    """Where things lie in the run folder.

    Attributes:
        root: The run folder.
        data: Folder of what Prometheus, Alertmanager, Grafana and the receiver keep.
    """

    root: Path
    data: Path

    @property
    def logs(self) -> Path:
        """Folder of the programs' logs."""
        return self.root / "logs"

    @property
    def prometheus(self) -> Path:
        """Folder of Prometheus' configuration."""
        return self.root / "prometheus"

    @property
    def alertmanager(self) -> Path:
        """Alertmanager's configuration."""
        return self.root / "alertmanager" / "alertmanager.yml"

    @property
    def grafana(self) -> Path:
        """Folder of Grafana's provisioning and password."""
        return self.root / "grafana"

    @property
    def dashboards(self) -> Path:
        """Folder of the dashboards that Grafana or the preview shows."""
        return self.root / "dashboards"

    @property
    def notifications(self) -> Path:
        """File in which the receiver keeps the notifications."""
        return self.data / "notifications.jsonl"

    @property
    def simulated_gpus(self) -> Path:
        """File that says what the simulated GPUs are."""
        return self.root / "simulated-gpus.json"


def native_settings(settings: Settings, ports: Ports) -> Settings:
    """Return the settings with links that lead to the native chain's ports.

    Links that the user has set are kept.
    """
    default = load().links
    prometheus = f"http://{HOST}:{ports.prometheus}"
    native = {
        "grafana": f"http://{HOST}:{ports.grafana}",
        "prometheus": prometheus,
        "alertmanager": f"http://{HOST}:{ports.alertmanager}",
        "runbooks": f"{prometheus}/user/runbooks",
    }
    changed = {
        name: Url(url)
        for name, url in native.items()
        if getattr(settings.links, name) == getattr(default, name)
    }
    return replace(settings, links=replace(settings.links, **changed))


def write(layout: Layout, settings: Settings, ports: Ports, server_url: str) -> None:
    """Write all configuration; what an earlier run left is replaced.

    Raises:
        OSError: The run folder cannot be written.
    """
    layout.data.mkdir(parents=True, exist_ok=True)
    _write_yaml(layout.prometheus / "prometheus.yml", prometheus(settings))
    alert_rules.write(settings, layout.prometheus / "rules")
    targets.write(
        targets.Targets(
            vllm_url=server_url,
            exporter=f"{HOST}:{ports.exporter}",
            prometheus=f"{HOST}:{ports.prometheus}",
            alertmanager=f"{HOST}:{ports.alertmanager}",
        ),
        layout.prometheus / "targets",
    )
    assets = layout.prometheus / "assets"
    if _RUNBOOKS.is_dir():
        shutil.copytree(_RUNBOOKS, assets / "runbooks", dirs_exist_ok=True)
    assets.mkdir(parents=True, exist_ok=True)
    consoles = layout.prometheus / "consoles"
    consoles.mkdir(exist_ok=True)
    (consoles / CONSOLE).write_text(console(settings), encoding="utf-8")
    alertmanager.write(settings, surroundings(ports), layout.alertmanager.parent)


def write_dashboards(layout: Layout, settings: Settings) -> None:
    """Write the dashboards."""
    dashboards.build.write(settings, layout.dashboards)


def write_grafana(layout: Layout, settings: Settings, ports: Ports) -> Path:
    """Write Grafana's provisioning; return the file with its admin password."""
    provisioning = layout.grafana / "provisioning"
    for name, content in grafana(settings, ports, layout.dashboards).items():
        _write_yaml(provisioning / name, content)
    password = layout.grafana / "admin-password"
    if not password.exists():
        descriptor = os.open(password, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(secrets.token_urlsafe(18))
    return password


def prometheus(settings: Settings) -> dict[str, Any]:
    """Return the kit's ``prometheus.yml`` with the settings' intervals."""
    content = _read_yaml(_SOURCES / "prometheus" / "prometheus.yml")
    scrape = settings.intervals.scrape
    content["global"]["scrape_interval"] = str(scrape)
    content["global"]["evaluation_interval"] = str(settings.intervals.evaluation)
    # Prometheus takes no timeout that is longer than the interval.
    if scrape.seconds < _MAX_SCRAPE_TIMEOUT_SECONDS:
        content["global"]["scrape_timeout"] = str(scrape)
    return content


def console(settings: Settings) -> str:
    """Return the page that Prometheus serves below ``/consoles/``."""
    text = (_SOURCES / CONSOLE).read_text(encoding="utf-8")
    values = {
        "REFRESH": f"{max(2.0, settings.intervals.scrape.seconds):.0f}",
        "WINDOW": str(settings.cache.window),
        "LOW": f"{settings.cache.hit_rate.low * 100:g}",
        "HIGH": f"{settings.memory.usage.high * 100:g}",
        "HIT_RATE": catalogue.PREFIX_CACHE_HIT_RATE.name,
        "USAGE": catalogue.GPU_MEMORY_USAGE.name,
        "INFO": catalogue.GPU_INFO.name,
    }
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return text


def surroundings(ports: Ports) -> Surroundings:
    """Return the addresses that Alertmanager's configuration needs of the native chain."""
    return Surroundings(
        secrets=str(folders.root() / "secrets" / "notification"),
        kit=f"http://{HOST}:{ports.receiver}/notifications",
        relay=f"http://{HOST}:{ports.relay}",
    )


def grafana(settings: Settings, ports: Ports, boards: Path) -> dict[str, dict[str, Any]]:
    """Return Grafana's provisioning files with the native URLs and folder, by their names."""
    sources = _SOURCES / "grafana" / "provisioning"
    data_sources = _read_yaml(sources / "datasources" / "prometheus.yml")
    urls = {"prometheus": ports.prometheus, "alertmanager": ports.alertmanager}
    for source in data_sources["datasources"]:
        source["url"] = f"http://{HOST}:{urls[source['type']]}"
        if source["type"] == "prometheus":
            source["jsonData"]["timeInterval"] = str(settings.intervals.scrape)
    providers = _read_yaml(sources / "dashboards" / "kit.yml")
    for provider in providers["providers"]:
        provider["options"]["path"] = str(boards)
    return {"datasources/prometheus.yml": data_sources, "dashboards/kit.yml": providers}


def _read_yaml(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return content


def _write_yaml(path: Path, content: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
    path.write_text(f"# Written at each start of the chain; do not edit.\n{text}", "utf-8")
