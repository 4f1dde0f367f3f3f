"""Where the kit keeps what it fetches and what it runs."""

from __future__ import annotations

from pathlib import Path


def root() -> Path:
    """Return the checkout's folder, or the working folder where the kit is installed as a wheel."""
    checkout = Path(__file__).resolve().parent.parent
    return checkout if (checkout / "pyproject.toml").is_file() else Path.cwd()


def tools() -> Path:
    """Return the folder of fetched binaries and of vLLM's own environment."""
    return root() / ".tools"


def run() -> Path:
    """Return the folder of the running chain's state and logs, and of the tiny model."""
    return root() / ".run"
