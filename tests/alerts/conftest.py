"""Settings at both evaluation intervals, and promtool on rules built from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from playing import Promtool

from alerts.duration import Duration
from alerts.settings import Settings, load
from monitoring import folders
from monitoring.binaries import provide


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
def promtool(promtool_binary: Path, tmp_path: Path, settings: Settings) -> Promtool:
    return Promtool(promtool_binary, tmp_path, settings)


@pytest.fixture
def playing(promtool_binary: Path, tmp_path: Path) -> Callable[[Settings], Promtool]:
    """promtool for other settings than the defaults."""
    return lambda settings: Promtool(promtool_binary, tmp_path, settings)
