"""Published budgets, replayed, with the computation from the architecture beside them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from monitoring.budget import cache, models
from monitoring.budget.formats import FORMATS
from monitoring.budget.memory import Plan, layout
from monitoring.budget.sizes import GB

TABLE = Path(__file__).with_name("published.yml")


@dataclass(frozen=True)
class Row:
    """One context length of a published budget, in GB of 10^9 bytes.

    Attributes:
        tokens: The context.
        published_cache: KV cache as published.
        published_total: Weights, system and cache as published.
        computed_least: KV cache that the architecture needs at the least.
        computed_reserved: What vLLM sets aside for one sequence, with its default batches.
        left: By size of card, what the published total leaves.
    """

    tokens: int
    published_cache: float
    published_total: float
    computed_least: float
    computed_reserved: float
    left: dict[int, float]


@dataclass(frozen=True)
class Replay:
    """A published budget beside the computation, in GB of 10^9 bytes."""

    title: str
    published_weights: float
    computed_weights: float
    system: float
    rows: tuple[Row, ...]


@lru_cache(maxsize=1)
def table() -> dict[str, dict[str, Any]]:
    """Return the published budgets by key, as the file has them."""
    entries: dict[str, dict[str, Any]] = yaml.safe_load(TABLE.read_text(encoding="utf-8"))
    return entries


def replay(key: str) -> Replay:
    """Return a published budget with its totals and what they leave on the cards it names."""
    entry = table()[key]
    model = models.find(entry["model"])
    weights, system = float(entry["weights"]), float(entry["system"])
    rows = []
    for tokens, size in entry["cache"].items():
        plan = Plan(FORMATS[entry["format"]], max_model_len=tokens)
        total = round(weights + system + size, 1)
        least = cache.needed(model.layers, tokens, plan.cache_number_bytes)
        reserved = layout(model, plan).sequence_bytes(tokens, plan.in_flight)
        left = {card: round(card - total, 1) for card in entry["cards"]}
        rows.append(Row(tokens, float(size), total, sum(least.values()) / GB, reserved / GB, left))
    computed = FORMATS[entry["format"]].size(model.parameters) / GB
    return Replay(entry["title"], weights, computed, system, tuple(rows))
