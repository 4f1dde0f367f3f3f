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
_MOST_SECONDS = (2**63 - 1) / 1e9  # Prometheus counts nanoseconds in 64 bits
_MOST_DIGITS = 15
_DIGITS = re.compile("[0-9]+")
_SHOWN_CHARACTERS = 40

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
            shown = self.text[:_SHOWN_CHARACTERS]
            raise ValueError(f"{shown!r} is not a duration; write it like 15s, 5m or 1h30m")
        if max(map(len, _DIGITS.findall(self.text))) > _MOST_DIGITS or self.seconds > _MOST_SECONDS:
            raise ValueError("is longer than the 292 years that Prometheus can count")

    @property
    def seconds(self) -> float:
        """The length in seconds."""
        match = _PATTERN.fullmatch(self.text)
        parts = match.groupdict() if match else {}
        return sum(int(number) * _UNITS[unit] for unit, number in parts.items() if number)

    def __str__(self) -> str:
        return self.text
