"""All rules, applied."""

from __future__ import annotations

from collections.abc import Callable

from monitoring.advise import caching, load, memory
from monitoring.advise.finding import Finding, ranked
from monitoring.advise.limits import Limits
from monitoring.advise.observation import Observation

Rule = Callable[[Observation, Limits], Finding | None]

RULES: tuple[Rule, ...] = (
    memory.alert_by_configuration,
    memory.another_process,
    memory.high,
    load.preemptions,
    load.saturated,
    load.queueing,
    caching.disabled,
    caching.short_prefixes,
    memory.waste,
    caching.low_rate,
)


def advise(seen: Observation, limits: Limits) -> list[Finding]:
    """Return what is to be changed, the most urgent first."""
    return ranked(finding for rule in RULES if (finding := rule(seen, limits)) is not None)
