"""What the story plays on: the running chain, looked after while something is waited for."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from exporter import catalogue
from monitoring.demo import outcome
from monitoring.demo.outcome import Delivery
from monitoring.display import Display
from monitoring.notification import Notification
from monitoring.prometheus_api import Prometheus, PrometheusError
from monitoring.running import RunningChain
from monitoring.supervision.errors import ChainError, Interrupted
from monitoring.supervision.interrupt import Interrupt

SLACK_SECONDS = 60.0
"""Added to every deadline: machines are slow at times."""

_LOOK_SECONDS = 0.3
_GAUGES_SECONDS = 1.0

T = TypeVar("T")


class StoryError(ChainError):
    """A step of the story did not come to its end."""


class Stage:
    """Looks after a chain, shows how it stands, and waits for what the story needs.

    Attributes:
        notifications: All that were delivered so far.
        remark: Returns what else there is to say of how things stand; may be nothing.
    """

    def __init__(self, chain: RunningChain, display: Display, interrupt: Interrupt) -> None:
        """Take the chain, where to show what happens, and the wish to stop."""
        self.notifications: list[Notification] = []
        self.remark: Callable[[], str] = lambda: ""
        self._chain = chain
        self._display = display
        self._interrupt = interrupt
        self._prometheus = Prometheus(chain.url("prometheus"))
        self._gauges = ""
        self._gauges_at = float("-inf")
        self._step = 0

    def title(self, text: str) -> None:
        """Show the beginning of a step."""
        self._display.still()
        self._step += 1
        self._display.say(f"\n{self._step}. {text}", style="bold")

    def done(self, text: str) -> None:
        """Show the end of a step."""
        self._display.still()
        self._display.done(text)

    def value(self, name: str) -> float | None:
        """Return Prometheus' newest value of a series; None where it has none."""
        try:
            samples = self._prometheus.query(name)
        except PrometheusError:
            return None
        return samples[0].value if samples else None

    def hit_rate(self) -> float | None:
        """Return the hit rate that Prometheus has of this server; None where it has none."""
        return self.value(catalogue.PREFIX_CACHE_HIT_RATE.name)

    def pause(self, seconds: float) -> None:
        """Let the chain run for a time.

        Raises:
            StoryError: A program was given up.
            Interrupted: The user wants to stop.
        """
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._look(min(left, _LOOK_SECONDS))

    def until(self, what: str, condition: Callable[[], T | None], seconds: float) -> T:
        """Wait until a condition has a result, and return it.

        Args:
            what: What is waited for, for the line that says that it did not come.
            condition: Returns None until it has come about.
            seconds: Longest wait.

        Raises:
            StoryError: It did not come about, or a program was given up.
            Interrupted: The user wants to stop.
        """
        deadline = time.monotonic() + seconds
        while True:
            if (found := condition()) is not None:
                return found
            if time.monotonic() > deadline:
                raise StoryError(
                    f"no {what} within {seconds:.0f} s ({self._gauges}); logs: "
                    f"{self._chain.layout.logs}"
                )
            self._look(_LOOK_SECONDS)

    def delivery(
        self,
        alert: str,
        status: str,
        after: datetime,
        seconds: float,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> Delivery:
        """Wait until an alert's status was told.

        Args:
            alert: The alert's name.
            status: ``firing`` or ``resolved``.
            after: Earlier tellings do not count.
            seconds: How long the status takes to come about, before anything is sent.
            meanwhile: Called a few times a second.

        Raises:
            StoryError: It was not told in time.
            Interrupted: The user wants to stop.
        """
        timing = self._chain.settings.notification
        delay = timing.group_wait.seconds + 2 * timing.group_interval.seconds

        def delivered() -> Delivery | None:
            meanwhile()
            return outcome.find(self.notifications, alert, status, after)

        what = f"notification that {alert} is {status}"
        found = self.until(what, delivered, seconds + delay + SLACK_SECONDS)
        took = (found.received_at - after).total_seconds()
        self.done(f"{alert} {status}: told after {took:.1f} s")
        return found

    def _look(self, seconds: float) -> None:
        """Let a moment pass, looking after the chain."""
        if self._interrupt.stop.wait(seconds):
            raise Interrupted
        self.notifications += self._chain.look_after()
        if failed := self._chain.supervisor.failed:
            raise StoryError(f"{', '.join(failed)} was given up")
        if time.monotonic() - self._gauges_at > _GAUGES_SECONDS:
            self._gauges_at = time.monotonic()
            self._gauges = self._describe()
        self._display.moving(self._gauges)

    def _describe(self) -> str:
        """Say how both gauges and both alerts stand."""
        rate = self.hit_rate()
        usage = self.value(catalogue.GPU_MEMORY_USAGE.name)
        try:
            active = [
                f"{one.name} {one.state}"
                for one in self._prometheus.alerts()
                if one.state != "inactive"
            ]
        except PrometheusError:
            active = []
        return (
            f"hit rate {'not reported' if rate is None else f'{rate:.3f}'}, GPU memory "
            f"{'not reported' if usage is None else f'{usage:.3f}'}, "
            f"alerts: {', '.join(active) or 'none'}{self.remark()}"
        )
