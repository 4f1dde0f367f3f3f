"""Both alerts on a recording: input for promtool, with when each must fire and resolve.

    python3 -m tests.gpu.series RECORDING --output DIR [--low-for 1m]

writes the rules and ``test.yml``; ``promtool test rules DIR/test.yml`` then runs them. The memory
alert waits as long as by default. The one on the hit rate waits less: the recording is shorter
than what it asks for by default. Neither is kept firing, so that the end of each is seen too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import yaml

from alerts import build
from alerts.settings import Settings, SettingsError
from alerts.settings import load as load_settings
from exporter.catalogue import (
    GPU_MEMORY_USAGE,
    PREFIX_CACHE_HIT_RATE,
    PREFIX_CACHE_WINDOW_QUERY_TOKENS,
)
from tests.gpu.recording import Recording, load

STEP_SECONDS = 5
"""Between two samples of the input."""

STALE_SECONDS = 4.0
"""Oldest scrape that still stands for a moment of the input."""

LABELS = 'instance="127.0.0.1:18000",job="vllm-exporter"'

Value = float | None


@dataclass(frozen=True)
class Alert:
    """An alert on a recorded series.

    Attributes:
        name: Its name.
        metric: The family that it watches.
        above: Whether it fires above the threshold, or below.
        threshold: The threshold.
        pending: Seconds for which that must hold.
    """

    name: str
    metric: str
    above: bool
    threshold: float
    pending: float

    def holds(self, value: Value) -> bool:
        """Tell whether a value is one to be alerted of."""
        if value is None:
            return False
        return value > self.threshold if self.above else value < self.threshold


def alerts(settings: Settings) -> list[Alert]:
    """Return both alerts as the settings have them."""
    cache, memory = settings.cache, settings.memory
    return [
        Alert(
            "VLLMGPUMemoryHigh",
            GPU_MEMORY_USAGE.name,
            True,
            memory.usage.high,
            settings.alerts["VLLMGPUMemoryHigh"].pending.seconds,
        ),
        Alert(
            "VLLMPrefixCacheHitRateLow",
            PREFIX_CACHE_HIT_RATE.name,
            False,
            cache.hit_rate.low,
            settings.alerts["VLLMPrefixCacheHitRateLow"].pending.seconds,
        ),
    ]


def samples(recording: Recording, metric: str) -> list[Value]:
    """Return the values of a family every `STEP_SECONDS`; None where it had none."""
    start, end = recording.scrapes[0].time, recording.scrapes[-1].time
    values: list[Value] = []
    for step in range(int((end - start) // STEP_SECONDS) + 1):
        now = start + step * STEP_SECONDS
        last = max((each for each in recording.scrapes if each.time <= now), key=lambda s: s.time)
        values.append(last.value(metric) if now - last.time <= STALE_SECONDS else None)
    return values


def firing(alert: Alert, values: Sequence[Value], evaluation: int) -> list[tuple[int, bool]]:
    """Return whether it fires, at each evaluation, by seconds since the start."""
    since: int | None = None
    states = []
    for now in range(0, STEP_SECONDS * len(values), evaluation):
        if alert.holds(values[now // STEP_SECONDS]):
            since = now if since is None else since
        else:
            since = None
        states.append((now, since is not None and now - since >= alert.pending))
    return states


def spans(states: Sequence[tuple[int, bool]]) -> list[tuple[int, int | None]]:
    """Return from when to when it fires, in seconds; None where it never resolves."""
    found: list[tuple[int, int | None]] = []
    fires = False
    for now, state in states:
        if state and not fires:
            found.append((now, None))
        elif fires and not state:
            found[-1] = (found[-1][0], now)
        fires = state
    return found


def document(recording: Recording, settings: Settings, rules: Sequence[Path]) -> dict[str, Any]:
    """Return promtool's test: the series, and the state of both alerts at each evaluation."""
    evaluation = int(settings.intervals.evaluation.seconds)
    # Without it the rule on the hit rate takes the traffic for too little to mean anything.
    tokens = PREFIX_CACHE_WINDOW_QUERY_TOKENS.name
    series = [
        {"series": _series(recording, tokens), "values": _notation(samples(recording, tokens))}
    ]
    expected = []
    for alert in alerts(settings):
        values = samples(recording, alert.metric)
        series.append({"series": _series(recording, alert.metric), "values": _notation(values)})
        for now, state in firing(alert, values, evaluation):
            query = f'count(ALERTS{{alertname="{alert.name}",alertstate="firing"}}) or vector(0)'
            result = [{"labels": "{}", "value": int(state)}]
            expected.append({"expr": query, "eval_time": f"{now}s", "exp_samples": result})
    test = {
        "interval": f"{STEP_SECONDS}s",
        "input_series": series,
        "promql_expr_test": expected,
    }
    return {
        "rule_files": [str(path.resolve()) for path in rules],
        "evaluation_interval": f"{evaluation}s",
        "tests": [test],
    }


def write(recording: Recording, output: Path, low_for: str) -> Path:
    """Write settings, rules and the test into a folder; returns the test."""
    output.mkdir(parents=True, exist_ok=True)
    changed = output / "settings.yml"
    shorter = {
        "cache": {"minimum_tokens": 1},
        "alerts": {
            "VLLMPrefixCacheHitRateLow": {"for": low_for, "keep_firing_for": "0s"},
            "VLLMGPUMemoryHigh": {"keep_firing_for": "0s"},
        },
    }
    changed.write_text(yaml.safe_dump(shorter), encoding="utf-8")
    settings = load_settings(changed)
    written = build.write(settings, output / "rules")
    rules = [path for path in written if path.name == "prometheus-rules.yml"]
    path = output / "test.yml"
    text = yaml.safe_dump(document(recording, settings, rules), sort_keys=False, width=10_000)
    path.write_text(text, encoding="utf-8")
    return path


def told(recording: Recording, settings: Settings) -> list[str]:
    """Return when each alert fires, for people."""
    lines = []
    for alert in alerts(settings):
        values = samples(recording, alert.metric)
        states = firing(alert, values, int(settings.intervals.evaluation.seconds))
        for start, end in spans(states):
            resolved = "does not resolve" if end is None else f"resolves at {end} s"
            lines.append(f"{alert.name}: fires at {start} s, {resolved}")
        if not spans(states):
            lines.append(f"{alert.name}: does not fire")
    return lines


def _series(recording: Recording, metric: str) -> str:
    """Return the recorded series with the labels that Prometheus adds."""
    names = (series for scrape in recording.scrapes for series in scrape.page or {})
    found = next(series for series in names if series.startswith(f"{metric}{{"))
    return f"{found.removesuffix('}')},{LABELS}}}"


def _notation(values: Sequence[Value]) -> str:
    """Return values as promtool writes them; Prometheus marks the first that is missing."""
    words = []
    for before, value in zip([None, *values], values, strict=False):
        if value is None:
            words.append("_" if before is None else "stale")
        else:
            words.append(repr(value))
    return " ".join(words)


@click.command()
@click.argument("path", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--output", type=click.Path(path_type=Path, file_okay=False), required=True)
@click.option("--low-for", default="1m", show_default=True)
def main(path: Path, output: Path, low_for: str) -> None:
    """Write promtool's test of a recording, and tell when which alert fires."""
    recording = load(path)
    try:
        test = write(recording, output, low_for)
    except SettingsError as error:
        raise click.BadParameter(str(error)) from None
    for line in told(recording, load_settings(output / "settings.yml")):
        print(line)
    print(test)


if __name__ == "__main__":
    main()
