"""Settings at both evaluation intervals, and promtool on rules built from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from playing import Promtool

from alerts.duration import Duration
from alerts.settings import Settings, load
from monitoring import folders
from monitoring.binaries import provide


@pytest.fixture(scope="session")
def generated(root: Path) -> Path:
    """The rule file that is committed."""
    return root / "alerts" / "generated" / "prometheus-rules.yml"


@pytest.fixture(scope="session")
def rules(generated: Path) -> dict[str, dict[str, Any]]:
    """The committed alerting rules by name."""
    document = yaml.safe_load(generated.read_text(encoding="utf-8"))
    return {
        rule["alert"]: rule
        for group in document["groups"]
        for rule in group["rules"]
        if "alert" in rule
    }


@pytest.fixture(scope="session")
def promtool_binary() -> Path:
    return provide(["promtool"], folders.tools())["promtool"]


@pytest.fixture(params=["15s", "30s"])
def settings(request: pytest.FixtureRequest) -> Settings:
    """The defaults, at two evaluation intervals."""
    defaults = load()
    intervals = replace(defaults.intervals, evaluation=Duration(request.param))
    return replace(defaults, intervals=intervals)


@pytest.fixture
def rehearsal(promtool_binary: Path, tmp_path: Path, settings: Settings) -> Promtool:
    return Promtool(promtool_binary, tmp_path, settings)


@pytest.fixture
def playing(promtool_binary: Path, tmp_path: Path) -> Callable[[Settings], Promtool]:
    """promtool for other settings than the defaults."""
    return lambda settings: Promtool(promtool_binary, tmp_path, settings)
