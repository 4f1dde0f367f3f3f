import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Services = dict[str, dict[str, Any]]


@pytest.fixture(scope="session")
def configuration(root: Path, docker_compose) -> Callable[..., dict[str, Any]]:
    """Returns what `docker compose config` makes of the file with .env.example and a profile."""
    inherited = {"PATH": os.environ["PATH"], "HOME": "/home/operator"}

    def resolve(profile: str | None = None, **environment: str) -> dict[str, Any]:
        flags = ["--profile", profile] if profile else []
        done = docker_compose(
            *("--project-directory", root, "--env-file", root / ".env.example"),
            *flags,
            *("config", "--format", "json"),
            env=inherited | environment,
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        resolved: dict[str, Any] = json.loads(done.stdout)
        return resolved

    return resolve


@pytest.fixture(scope="session")
def services(configuration) -> Services:
    """All services of all profiles."""
    found: Services = {}
    for profile in ("gpu", "gguf", "cpu", "external", "external-gpu", "relay"):
        found |= configuration(profile)["services"]
    return found
