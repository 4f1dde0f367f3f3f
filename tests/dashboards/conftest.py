import copy
from pathlib import Path
from typing import Any

import pytest

from alerts.settings import load
from dashboards.checks import contents, pages

PAGES = Path(__file__).with_name("pages")


@pytest.fixture(scope="session")
def _built() -> list[dict[str, Any]]:
    return contents.built(load())


@pytest.fixture
def built(_built) -> list[dict[str, Any]]:
    """Every board as Grafana reads it; a copy, for tests that spoil it."""
    return copy.deepcopy(_built)


@pytest.fixture
def boards(built) -> dict[str, dict[str, Any]]:
    """The same by uid."""
    return {board["uid"]: board for board in built}


@pytest.fixture(scope="session")
def recorded(root) -> list[pages.RecordedPage]:
    """The recorded pages of vLLM, Prometheus and Alertmanager."""
    return pages.read(root / "tests" / "recordings", PAGES)
