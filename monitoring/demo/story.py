"""The story: good traffic, bad traffic, good traffic; memory up, memory down.

Each step ends with what it waits for, or fails at its deadline with a line that says what did
not come.
"""

from __future__ import annotations

import os
import signal
import time
from datetime import UTC, datetime

from exporter import catalogue
from monitoring.demo import pages
from monitoring.demo.outcome import Delivery, Outcome
from monitoring.demo.pages import Comparison, PageError
from monitoring.demo.prompts import Kind
from monitoring.demo.stage import SLACK_SECONDS, Stage, StoryError
from monitoring.demo.traffic import Traffic, TrafficError, served_model
from monitoring.display import Display
from monitoring.notification import Notification
from monitoring.running import RunningChain
from monitoring.simulated_gpu import NORMAL_USAGE, SimulatedGPU
from monitoring.supervision.interrupt import Interrupt

HIT_RATE_LOW = "VLLMPrefixCacheHitRateLow"
MEMORY_HIGH = "VLLMGPUMemoryHigh"

FULL_USAGE = 0.96
"""The simulated GPU's usage at the height of the story."""

TOLERANCE = 0.02
"""Largest difference between the exporter's hit rate and that of vLLM's own counters."""

_USAGE_STEP = 0.01
_GOOD_SECONDS = 90.0
_RECOVERY_SECONDS = 660.0


class Story:
    """Plays the story on a running chain.

    Attributes:
        comparison: The check of the exporter's hit rate, once it was made.
    """

    def __init__(self, chain: RunningChain, display: Display, interrupt: Interrupt) -> None:
        """Take the chain, where to show what happens, and the wish to stop."""
        self.comparison: Comparison | None = None
        self._chain = chain
        self._stage = Stage(chain, display, interrupt)
        self._vllm = chain.url("vllm")
        try:
            self._model = served_model(self._vllm)
        except TrafficError as error:
            raise StoryError(str(error)) from None
        self._gpu = SimulatedGPU(chain.layout.simulated_gpus)
        self._usage = NORMAL_USAGE

    @property
    def notifications(self) -> list[Notification]:
        """All notifications that were delivered so far."""
        return self._stage.notifications

    def pause(self, seconds: float) -> None:
        """Let the chain run for a time; see `monitoring.demo.stage.Stage.pause`."""
        self._stage.pause(seconds)

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
        traffic = Traffic(self._vllm, self._model, kind, rate=rate)
        self._stage.remark = lambda: (
            f"; {traffic.failed} requests failed, the last with {traffic.failure}"
            if traffic.failed
            else ""
        )
        return traffic

    def good_traffic(self) -> None:
        """Wait for a good hit rate."""
        good = self._chain.settings.cache.hit_rate.good
        self._stage.title(
            f"Prompts that share a long beginning, until the hit rate is above {good:g}"
        )
        begin = time.monotonic()
        rate = self._good_hit_rate("")
        self._stage.done(f"hit rate {rate:.3f} after {time.monotonic() - begin:.0f} s")

    def compare(self) -> Comparison:
        """Compare the exporter's hit rate with two pages of vLLM a window apart.

        Raises:
            StoryError: They differ by more than 0.02.
        """
        seconds = self._chain.settings.cache.window.seconds
        self._stage.title(
            f"The exporter's hit rate against vLLM's own counters, over {seconds:g} s"
        )
        try:
            first = pages.counters(self._vllm)
            self._stage.pause(seconds)
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
        self._stage.done(text)
        return self.comparison

    def hit_rate_falls(self) -> tuple[datetime, Delivery]:
        """Wait for the alert on the hit rate; unique traffic must be on its way."""
        settings = self._chain.settings
        low = settings.cache.hit_rate.low
        self._stage.title(
            f"Prompts that share nothing, until {HIT_RATE_LOW} (below {low:g}) is told"
        )
        cause_at = datetime.now(UTC)
        deadline = settings.cache.window.seconds + settings.cache.low_for.seconds
        return cause_at, self._stage.delivery(HIT_RATE_LOW, "firing", cause_at, deadline)

    def hit_rate_recovers(self, cause_at: datetime, firing: Delivery) -> Outcome:
        """Wait for the alert's end; shared traffic must be on its way."""
        self._stage.title(
            f"Prompts that share a long beginning again, until {HIT_RATE_LOW} is resolved"
        )
        relief_at = datetime.now(UTC)
        deadline = self._chain.settings.cache.window.seconds
        resolved = self._stage.delivery(HIT_RATE_LOW, "resolved", relief_at, deadline)
        return Outcome(HIT_RATE_LOW, cause_at, relief_at, firing, resolved)

    def memory_fills(self) -> Outcome:
        """Fill the simulated GPU until its alert fires, empty it until the alert is resolved."""
        settings = self._chain.settings
        high = settings.memory.usage.high
        self._stage.title(
            f"The simulated GPU fills up, until {MEMORY_HIGH} (above {high:g}) is told"
        )
        cause_at = datetime.now(UTC)
        pending = settings.memory.high_for.seconds
        firing = self._stage.delivery(MEMORY_HIGH, "firing", cause_at, pending, self._fill)
        self._stage.title(f"It empties again, until {MEMORY_HIGH} is resolved")
        relief_at = datetime.now(UTC)
        self._set_usage(NORMAL_USAGE)
        resolved = self._stage.delivery(MEMORY_HIGH, "resolved", relief_at, 0)
        return Outcome(MEMORY_HIGH, cause_at, relief_at, firing, resolved)

    def vllm_dies(self) -> None:
        """Kill the bundled server and wait until the exporter has seen it fall and come back."""
        self._stage.title(
            "vLLM is killed with SIGKILL; the exporter says so, and reports again later"
        )
        vllm = self._chain.find("vllm")
        if vllm is None or vllm.child is None:
            raise StoryError("vLLM is not the chain's own, or does not run: nothing to kill")
        os.kill(vllm.child.pid, signal.SIGKILL)
        self._stage.until("vllm_exporter_upstream_up 0", lambda: self._upstream(0), SLACK_SECONDS)
        exporter = self._chain.find("exporter")
        said = exporter.last_lines(1) if exporter else []
        self._stage.done("the exporter stays up and says: " + "".join(said))
        begin = time.monotonic()
        self._stage.until(
            "vllm_exporter_upstream_up 1", lambda: self._upstream(1), _RECOVERY_SECONDS
        )
        self._good_hit_rate(" after the restart")
        self._stage.done(
            f"vLLM is back and the hit rate too, after {time.monotonic() - begin:.0f} s"
        )

    def _upstream(self, value: int) -> bool | None:
        return self._stage.value(catalogue.UPSTREAM_UP.name) == value or None

    def _good_hit_rate(self, what: str) -> float:
        """Wait for a hit rate that counts as good, and return it."""
        good = self._chain.settings.cache.hit_rate.good

        def good_rate() -> float | None:
            rate = self._stage.hit_rate()
            return rate if rate is not None and rate > good else None

        return self._stage.until(f"hit rate above {good:g}{what}", good_rate, _GOOD_SECONDS)

    def _fill(self) -> None:
        if self._usage < FULL_USAGE:
            self._set_usage(min(FULL_USAGE, self._usage + _USAGE_STEP))

    def _set_usage(self, usage: float) -> None:
        self._usage = usage
        self._gpu.set_usage(usage)
