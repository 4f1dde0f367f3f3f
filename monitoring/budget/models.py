"""Where an architecture comes from: a local ``config.json``, or the bundled table."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from exporter.parameters import shown
from monitoring.budget.architecture import Architecture, ArchitectureError, read
from monitoring.budget.fields import read_object

TABLE = Path(__file__).with_name("models.yml")


@lru_cache(maxsize=1)
def table() -> dict[str, dict[str, Any]]:
    """Return the bundled entries by key, as the file has them."""
    entries: dict[str, dict[str, Any]] = yaml.safe_load(TABLE.read_text(encoding="utf-8"))
    return entries


def find(model: str) -> Architecture:
    """Return the architecture of a bundled model, or of a folder or file given by path.

    Raises:
        ArchitectureError: There is no such model, or its ``config.json`` cannot be used.
    """
    entry = table().get(model.lower())
    if entry is not None:
        return read(_config(entry), str(entry["title"]))
    path = _file(model)
    if path is None:
        known = ", ".join(table())
        raise ArchitectureError(
            f"{shown(model)} is neither a folder with a config.json nor a bundled model ({known})"
        )
    config = read_object(path)
    try:
        return read(config, path.resolve().parent.name)
    except ArchitectureError as error:
        raise ArchitectureError(f"{path}: {error}") from None


def _file(model: str) -> Path | None:
    """Return the file that a path leads to, or None where there is nothing."""
    path = Path(model)
    try:
        if path.is_dir():
            path /= "config.json"
        return path if model and path.exists() else None
    except OSError as error:
        raise ArchitectureError(f"{shown(model)} cannot be read: {error.strerror}") from None


def _config(entry: Mapping[str, Any]) -> dict[str, Any]:
    text = dict(entry["config"])
    if pattern := text.pop("every", None):
        sliding, full = pattern
        kinds = ["sliding_attention"] * sliding + ["full_attention"] * full
        text["layer_types"] = kinds * (text["num_hidden_layers"] // len(kinds))
    return {"text_config": text, "vision_config": entry.get("vision")}
