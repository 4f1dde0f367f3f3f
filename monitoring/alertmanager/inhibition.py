"""One cause, one page: which alert mutes which.

A label that both sides lack counts as equal, so each rule names only labels that both have. A
source must fire before its targets do; the tests hold their waiting times to that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Inhibition:
    """While one of the sources fires, the targets with equal labels are held back.

    Attributes:
        name: What it is for.
        sources: Names of alerts.
        targets: Names of alerts.
        equal: Labels whose values must be the same.
    """

    name: str
    sources: tuple[str, ...]
    targets: tuple[str, ...]
    equal: tuple[str, ...]

    def rule(self) -> dict[str, Any]:
        """Return the rule as Alertmanager reads it."""
        return {
            "name": self.name,
            "source_matchers": [_matcher(self.sources)],
            "target_matchers": [_matcher(self.targets)],
            "equal": list(self.equal),
        }


_OF_A_SERVER = (
    "VLLMPrefixCacheHitRateLow",
    "VLLMPrefixCacheIneffective",
    "VLLMPrefixCacheWastesMemory",
    "VLLMPrefixCacheDisabled",
    "VLLMKVCacheSaturated",
    "VLLMPreemptions",
    "VLLMRequestsQueueing",
    "VLLMTimeToFirstTokenHigh",
    "VLLMRequestErrors",
    "VLLMStalled",
    "VLLMUpstreamUnreachable",
    "VLLMHitRateNotReported",
)

_OF_AN_EXPORTER = (
    "VLLMGPUMemoryHigh",
    "VLLMGPUMemoryElevated",
    "VLLMGPUMemoryAboveLimit",
    "VLLMGPUNotReported",
    "VLLMPrefixCacheHitRateLow",
    "VLLMPrefixCacheIneffective",
    "VLLMPrefixCacheWastesMemory",
    "VLLMUpstreamUnreachable",
)

INHIBITIONS = (
    Inhibition(
        "server-down-mutes-what-follows-from-it",
        ("VLLMServerDown", "VLLMServerVanished"),
        _OF_A_SERVER,
        ("server",),
    ),
    Inhibition(
        "exporter-down-mutes-what-it-would-tell",
        ("VLLMExporterDown",),
        _OF_AN_EXPORTER,
        ("instance",),
    ),
    Inhibition(
        "stalled-mutes-what-follows-from-it",
        ("VLLMStalled",),
        ("VLLMRequestsQueueing", "VLLMTimeToFirstTokenHigh", "VLLMKVCacheSaturated"),
        ("server", "model_name"),
    ),
    Inhibition(
        "ineffective-mutes-low",
        ("VLLMPrefixCacheIneffective",),
        ("VLLMPrefixCacheHitRateLow",),
        ("server", "model_name"),
    ),
    Inhibition(
        "memory-high-mutes-elevated",
        ("VLLMGPUMemoryHigh",),
        ("VLLMGPUMemoryElevated",),
        ("instance", "uuid"),
    ),
)

SAME_ALERT = {
    "name": "critical-mutes-warning-of-the-same-alert",
    "source_matchers": ['severity="critical"'],
    "target_matchers": ['severity=~"warning|info"'],
    "equal": [
        "alertname",
        "job",
        "instance",
        "server",
        "model_name",
        "engine",
        "uuid",
        "integration",
    ],
}
"""For rules of one's own in two severities: the graver one speaks."""


def _matcher(names: tuple[str, ...]) -> str:
    if len(names) == 1:
        return f'alertname="{names[0]}"'
    return f'alertname=~"{"|".join(names)}"'
