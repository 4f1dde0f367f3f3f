"""What Grafana is given at start."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from alerts.settings import load


@pytest.fixture(scope="module")
def sources(root: Path) -> dict[str, dict[str, Any]]:
    path = root / "monitoring/grafana/provisioning/datasources/prometheus.yml"
    return {source["type"]: source for source in yaml.safe_load(path.read_text())["datasources"]}


def test_scrape_interval_is_the_settings(sources) -> None:
    # $__rate_interval is computed from it.
    assert sources["prometheus"]["jsonData"]["timeInterval"] == str(load().intervals.scrape)


def test_sources_have_stable_uids_and_cannot_be_changed_in_the_browser(sources) -> None:
    assert sources["prometheus"]["uid"] == "vllm-prometheus"
    assert sources["alertmanager"]["uid"] == "vllm-alertmanager"
    assert all(source["editable"] is False for source in sources.values())
    assert [s["type"] for s in sources.values() if s.get("isDefault")] == ["prometheus"]


def test_alertmanager_is_told_of_no_alerts_of_grafana(sources) -> None:
    data = sources["alertmanager"]["jsonData"]
    assert data == {"implementation": "prometheus", "handleGrafanaManagedAlerts": False}


def test_dashboards_are_read_from_files_only(root: Path) -> None:
    path = root / "monitoring/grafana/provisioning/dashboards/kit.yml"
    (provider,) = yaml.safe_load(path.read_text())["providers"]
    assert provider["type"] == "file"
    assert provider["disableDeletion"] is True
    assert provider["allowUiUpdates"] is False
    # `folder` and `foldersFromFilesStructure` exclude each other.
    assert provider["options"].keys() == {"path"}
