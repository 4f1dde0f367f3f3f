"""What the three forms of the benchmark share."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from monitoring.bench.scenario import Scenario

SEEDS = 1_000_000_000


@dataclass(frozen=True)
class LoadOptions:
    """How a load is made and where its report goes.

    Attributes:
        python: An interpreter that has vLLM.
        output: Folder of the report.
        repeats: How often each load is measured.
        seed: Makes the prompts.
        as_json: Whether to print JSON instead of a table.
        plan: Returns the loads, for kinds of prefixes (shared: True, unique: False).
    """

    python: Path
    output: Path
    repeats: int
    seed: int
    as_json: bool
    plan: Callable[[list[bool]], list[Scenario]]


def new_seed() -> int:
    """Return a seed that was hardly used before: prompts must not be in the cache already."""
    return random.SystemRandom().randrange(SEEDS) + 1000
