"""Alertmanager's configuration with everything switched on, and amtool to judge it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from alerts.settings import Settings, load
from monitoring import folders
from monitoring.alertmanager import build
from monitoring.alertmanager.receivers import KINDS, Surroundings
from monitoring.binaries import provide


@pytest.fixture(scope="session")
def amtool() -> Callable[..., str]:
    binary = provide(["amtool"], folders.tools())["amtool"]

    def run(*arguments: str | Path) -> str:
        done = subprocess.run([binary, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.fixture
def everything() -> Settings:
    """Every receiver and the heartbeat switched on."""
    defaults = load()
    notification = replace(
        defaults.notification,
        receivers=dict.fromkeys(KINDS, ("critical", "warning", "info")) | {"heartbeat": ("none",)},
        email=replace(
            defaults.notification.email,
            to="ops@example.org",
            sender="vllm@example.org",
            smarthost="mail.example.org:587",
            username="vllm",
        ),
    )
    return replace(defaults, notification=notification)


@pytest.fixture
def written(tmp_path: Path) -> Callable[[Settings], Path]:
    """Writes configuration, templates and made-up secrets; returns the configuration's path."""

    def write(settings: Settings) -> Path:
        secrets = tmp_path / "secrets"
        secrets.mkdir(exist_ok=True)
        for kind in KINDS.values():
            for name in kind.secrets:
                secret = "42" if name.endswith("chat") else f"https://robot.invalid/{name}"
                (secrets / name).write_text(secret, encoding="utf-8")
        surroundings = Surroundings(
            str(secrets), "http://127.0.0.1:19095/notifications", "http://127.0.0.1:19096"
        )
        return build.write(settings, surroundings, tmp_path / "alertmanager")[0]

    return write
