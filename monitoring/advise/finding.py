"""What a rule finds, and in which order findings are told."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

Urgency = Literal["critical", "warning", "info"]

_ORDER: dict[str, int] = {"critical": 0, "warning": 1, "info": 2}


@dataclass(frozen=True)
class Change:
    """One flag of vLLM and the value to give it; ``value`` is empty for a switch."""

    flag: str
    value: str = ""

    def __str__(self) -> str:
        """Return it as it is typed."""
        return f"{self.flag} {self.value}".rstrip()


@dataclass(frozen=True)
class Finding:
    """Something to change.

    Attributes:
        name: Of the rule.
        urgency: How bad it is.
        title: What is wrong, in a few words.
        evidence: The numbers that show it.
        cause: Why it is so.
        changes: Flags and values; empty where no flag helps.
        action: What to do, in words.
        cost: What the change costs.
        verification: How to see that it helped.
    """

    name: str
    urgency: Urgency
    title: str
    evidence: str
    cause: str
    action: str
    cost: str
    verification: str
    changes: tuple[Change, ...] = ()

    def as_data(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return asdict(self) | {"changes": [str(change) for change in self.changes]}


def ranked(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings, the most urgent first; within an urgency in the order of the rules."""
    return sorted(findings, key=lambda finding: _ORDER[finding.urgency])
