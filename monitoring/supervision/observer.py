"""Who is told how the programs fare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from monitoring.supervision.component import Component


class Observer(Protocol):
    """Whoever wants to know how the programs fare."""

    def starting(self, component: Component) -> None:
        """A program was started for the first time."""

    def waiting(self, component: Component, seconds: float, last_line: str) -> None:
        """It is not ready yet, after ``seconds``."""

    def ready(self, component: Component, seconds: float) -> None:
        """It became ready, ``seconds`` after its start."""

    def crashed(
        self, component: Component, reason: str, lines: Sequence[str], pause: float
    ) -> None:
        """It ended by itself and is started again in ``pause`` seconds."""

    def given_up(self, component: Component, reason: str, lines: Sequence[str]) -> None:
        """It ended by itself too often and is not started again."""

    def stopping(self, component: Component) -> None:
        """It is being stopped."""
