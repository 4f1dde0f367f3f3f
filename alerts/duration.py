"""Durations as Prometheus writes them."""

from __future__ import annotations

import re
from dataclasses import dataclass

_UNITS: dict[str, float] = {
    "y": 365 * 86400,
    "w": 7 * 86400,
    "d": 86400,
    "h": 3600,
    "m": 60,
    "s": 1,
    "ms": 0.001,
}
# Each unit at most once, from the largest to the smallest: Prometheus takes no other order.
_PATTERN = re.compile("".join(rf"(?:(?P<{unit}>[0-9]+){unit})?" for unit in _UNITS))


@dataclass(frozen=True)
class Duration:
    """A span of time such as ``15s``, ``5m`` or ``1h30m``.

    Attributes:
        text: As written, for Prometheus, Alertmanager and Grafana, which all read this form.

    Raises:
        ValueError: If Prometheus would not read ``text``.
    """

    text: str

    def __post_init__(self) -> None:
        if not self.text or _PATTERN.fullmatch(self.text) is None:
            raise ValueError(f"{self.text!r} is not a duration; write it like 15s, 5m or 1h30m")

    @property
    def seconds(self) -> float:
        """The length in seconds."""
        match = _PATTERN.fullmatch(self.text)
        parts = match.groupdict() if match else {}
        return sum(int(number) * _UNITS[unit] for unit, number in parts.items() if number)

    def __str__(self) -> str:
        return self.text
