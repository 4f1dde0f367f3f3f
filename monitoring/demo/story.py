"""The story: good traffic, bad traffic, good traffic; memory up, memory down.

Each step ends with what it waits for, or fails at its deadline with a line that says what did
not come.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeVar

from exporter import catalogue
from monitoring.demo import outcome, pages
from monitoring.demo.outcome import Delivery, Outcome
from monitoring.demo.pages import Comparison, PageError
from monitoring.demo.prompts import Kind
from monitoring.demo.traffic import Traffic, TrafficError, served_model
from monitoring.display import Display
from monitoring.notification import Notification
from monitoring.prometheus_api import Prometheus, PrometheusError
from monitoring.running import RunningChain
from monitoring.simulated_gpu import NORMAL_USAGE, SimulatedGPU
from monitoring.supervision.errors import ChainError, Interrupted
from monitoring.supervision.interrupt import Interrupt

HIT_RATE_LOW = "VLLMPrefixCacheHitRateLow"
MEMORY_HIGH = "VLLMGPUMemoryHigh"

FULL_USAGE = 0.96
"""The simulated GPU's usage at the height of the story."""

TOLERANCE = 0.02
"""Largest difference between the exporter's hit rate and that of vLLM's own counters."""

_LOOK_SECONDS = 0.3
_GAUGES_SECONDS = 1.0
_USAGE_STEP = 0.01
_SLACK_SECONDS = 60.0
_GOOD_SECONDS = 90.0
_RECOVERY_SECONDS = 400.0


T = TypeVar("T")


class StoryError(ChainError):
    """A step of the story did not come to its end."""


class Story:
    """Plays the story on a running chain.

    Attributes:
        notifications: All that were delivered while it played.
        comparison: The check of the exporter's hit rate, once it was made.
    """

    def __init__(self, chain: RunningChain, display: Display, interrupt: Interrupt) -> None:
        """Take the chain, where to show what happens, and the wish to stop."""
        self.notifications: list[Notification] = []
        self.comparison: Comparison | None = None
        self._chain = chain
        self._display = display
        self._interrupt = interrupt
        self._prometheus = Prometheus(chain.url("prometheus"))
        self._vllm = chain.url("vllm")
        try:
            self._model = served_model(self._vllm)
        except TrafficError as error:
            raise StoryError(str(error)) from None
        self._gpu = SimulatedGPU(chain.layout.simulated_gpus)
        self._usage = NORMAL_USAGE
        self._gauges = ""
        self._gauges_at = float("-inf")

    def play(self, *, crash: bool = False) -> list[Outcome]:
        """Play all of it; with ``crash``, vLLM is killed and comes back in the middle.

        Raises:
            StoryError: A step did not come to its end in time.
            Interrupted: The user wants to stop.
        """
        with self.traffic("shared"):
            self.good_traffic()
            self.compare()
        with self.traffic("unique"):
            cause_at, firing = self.hit_rate_falls()
        with self.traffic("shared"):
            cache = self.hit_rate_recovers(cause_at, firing)
            if crash:
                self.vllm_dies()
            memory = self.memory_fills()
        return [cache, memory]

    def traffic(self, kind: Kind, rate: float = 4.0) -> Traffic:
        """Return traffic of one kind; it begins with its ``with`` block."""
        return Traffic(self._vllm, self._model, kind, rate=rate)

    def good_traffic(self) -> None:
        """Wait for a good hit rate."""
        good = self._chain.settings.cache.hit_rate.good
        self._title(f"Prompts that share a long beginning, until the hit rate is above {good:g}")
        begin = time.monotonic()
        self._await(
            f"a hit rate above {good:g}",
            lambda: (self.hit_rate() or 0.0) > good or None,
            _GOOD_SECONDS,
        )
        rate = self.hit_rate() or 0.0
        self._done(f"hit rate {rate:.3f} after {time.monotonic() - begin:.0f} s")

    def compare(self) -> Comparison:
        """Compare the exporter's hit rate with two pages of vLLM a window apart.

        Raises:
            StoryError: They differ by more than 0.02.
        """
        seconds = self._chain.settings.cache.window.seconds
        self._title(f"The exporter's hit rate against vLLM's own counters, over {seconds:g} s")
        try:
            first = pages.counters(self._vllm)
            self.pause(seconds)
            last = pages.counters(self._vllm)
            exported = pages.exported_hit_rate(self._chain.url("exporter"))
        except PageError as error:
            raise StoryError(str(error)) from None
        queries, hits = last.queries - first.queries, last.hits - first.hits
        if exported is None or queries <= 0:
            raise StoryError(
                "no hit rate to compare: the exporter reports none, or no traffic came"
            )
        self.comparison = Comparison(seconds, queries, hits, exported)
        text = (
            f"exporter {exported:.4f}, vLLM {hits:.0f} found / {queries:.0f} looked up = "
            f"{self.comparison.computed:.4f}"
        )
        if not self.comparison.difference <= TOLERANCE:  # also where one is not a number
            raise StoryError(f"the hit rates differ by more than {TOLERANCE:g}: {text}")
        self._done(text)
        return self.comparison

    def hit_rate_falls(self) -> tuple[datetime, Delivery]:
        """Wait for the alert on the hit rate; unique traffic must be on its way."""
        settings = self._chain.settings
        low = settings.cache.hit_rate.low
        self._title(f"Prompts that share nothing, until {HIT_RATE_LOW} (below {low:g}) is told")
        cause_at = datetime.now(UTC)
        deadline = settings.cache.window.seconds + settings.alerts[HIT_RATE_LOW].pending.seconds
        return cause_at, self._delivery(HIT_RATE_LOW, "firing", cause_at, deadline)

    def hit_rate_recovers(self, cause_at: datetime, firing: Delivery) -> Outcome:
        """Wait for the alert's end; shared traffic must be on its way."""
        self._title(f"Prompts that share a long beginning again, until {HIT_RATE_LOW} is resolved")
        relief_at = datetime.now(UTC)
        deadline = self._chain.settings.cache.window.seconds
        resolved = self._delivery(HIT_RATE_LOW, "resolved", relief_at, deadline)
        return Outcome(HIT_RATE_LOW, cause_at, relief_at, firing, resolved)

    def memory_fills(self) -> Outcome:
        """Fill the simulated GPU until its alert fires, empty it until the alert is resolved."""
        settings = self._chain.settings
        high = settings.memory.usage.high
        self._title(f"The simulated GPU fills up, until {MEMORY_HIGH} (above {high:g}) is told")
        cause_at = datetime.now(UTC)
        pending = settings.alerts[MEMORY_HIGH].pending.seconds
        firing = self._delivery(MEMORY_HIGH, "firing", cause_at, pending, self._fill)
        self._title(f"It empties again, until {MEMORY_HIGH} is resolved")
        relief_at = datetime.now(UTC)
        self._set_usage(NORMAL_USAGE)
        resolved = self._delivery(MEMORY_HIGH, "resolved", relief_at, 0)
        return Outcome(MEMORY_HIGH, cause_at, relief_at, firing, resolved)

    def vllm_dies(self) -> None:
        """Kill the bundled server and wait until the exporter has seen it fall and come back."""
        self._title("vLLM is killed with SIGKILL; the exporter says so, and reports again later")
        vllm = self._chain.find("vllm")
        if vllm is None or vllm.child is None:
            raise StoryError("vLLM is not the chain's own, or does not run: nothing to kill")
        os.kill(vllm.child.pid, signal.SIGKILL)
        self._await("vllm_exporter_upstream_up 0", lambda: self._upstream(0), _SLACK_SECONDS)
        exporter = self._chain.find("exporter")
        said = exporter.last_lines(1) if exporter else []
        self._done("the exporter stays up and says: " + "".join(said))
        begin = time.monotonic()
        self._await("vllm_exporter_upstream_up 1", lambda: self._upstream(1), _RECOVERY_SECONDS)
        good = self._chain.settings.cache.hit_rate.good
        self._await(
            "a hit rate after the restart",
            lambda: (self.hit_rate() or 0.0) > good or None,
            _GOOD_SECONDS,
        )
        self._done(f"vLLM is back and the hit rate too, after {time.monotonic() - begin:.0f} s")

    def pause(self, seconds: float) -> None:
        """Let the chain run for a time.

        Raises:
            StoryError: A program was given up.
            Interrupted: The user wants to stop.
        """
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._look(min(left, _LOOK_SECONDS))

    def hit_rate(self) -> float | None:
        """Return the hit rate that Prometheus has of this server; None where it has none."""
        return self._value(catalogue.PREFIX_CACHE_HIT_RATE.name)

    def _upstream(self, value: int) -> bool | None:
        return self._value(catalogue.UPSTREAM_UP.name) == value or None

    def _value(self, name: str) -> float | None:
        try:
            samples = self._prometheus.query(name)
        except PrometheusError:
            return None
        return samples[0].value if samples else None

    def _delivery(
        self,
        alert: str,
        status: str,
        after: datetime,
        seconds: float,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> Delivery:
        """Wait until an alert's status was told; ``seconds`` is how long it takes to come about."""
        timing = self._chain.settings.notification
        delay = timing.group_wait.seconds + 2 * timing.group_interval.seconds

        def delivered() -> Delivery | None:
            meanwhile()
            return outcome.find(self.notifications, alert, status, after)

        what = f"the notification that {alert} is {status}"
        found = self._await(what, delivered, seconds + delay + _SLACK_SECONDS)
        took = (found.received_at - after).total_seconds()
        self._done(f"{alert} {status}: told after {took:.1f} s")
        return found

    def _await(self, what: str, condition: Callable[[], T | None], seconds: float) -> T:
        deadline = time.monotonic() + seconds
        while True:
            if (found := condition()) is not None:
                return found
            if time.monotonic() > deadline:
                raise StoryError(
                    f"no {what.removeprefix('a ').removeprefix('the ')} within {seconds:.0f} s "
                    f"({self._gauges}); logs: {self._chain.layout.logs}"
                )
            self._look(_LOOK_SECONDS)

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
        usage = self._value(catalogue.GPU_MEMORY_USAGE.name)
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
            f"alerts: {', '.join(active) or 'none'}"
        )

    def _fill(self) -> None:
        if self._usage < FULL_USAGE:
            self._set_usage(min(FULL_USAGE, self._usage + _USAGE_STEP))

    def _set_usage(self, usage: float) -> None:
        self._usage = usage
        self._gpu.set_usage(usage)

    def _title(self, text: str) -> None:
        self._display.still()
        self._display.say(f"\n{text}", style="bold")

    def _done(self, text: str) -> None:
        self._display.still()
        self._display.done(text)
