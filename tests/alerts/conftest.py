from pathlib import Path
from typing import Any

import pytest
import yaml


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
