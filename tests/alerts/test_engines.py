"""An engine that hangs is told, whatever the others of its server do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from playing import ADDRESS, FAULT, SCRAPE, Promtool, Story, expected

from alerts import catalogue
from alerts.settings import Settings
from alerts.situations import Situation, situations
from alerts.world import Series, World

_NAME = "VLLMStalled"
_MODEL = ADDRESS["server"] | {"model_name": "gemma"}
_AWAKE = "vllm:engine_sleep_state"
# The condition is true when a minute has no token, and must hold for three.
_DUE = FAULT + 30 + 180
_WATCHED = FAULT + 1260


def _relabelled(series: Series, engine: str | None) -> Series:
    """Return a series of the one engine as that of another; None: of a vLLM without the label."""
    labels = dict(series.labels)
    if "engine" not in labels:
        return series
    del labels["engine"]
    added = {} if engine is None else {"engine": engine}
    return replace(series, labels=tuple(sorted((labels | added).items())))


def _of(engine: str, values: Mapping[str, float]) -> tuple[Series, ...]:
    """Return an engine's series, those that are named with other values."""
    changed = []
    for series in World().series:
        awake_only = series.name != _AWAKE or dict(series.labels)["sleep_state"] == "awake"
        if series.name in values and awake_only:
            changed.append(_relabelled(replace(series, value=values[series.name]), engine))
    return tuple(changed)


_HUNG = {"vllm:prompt_tokens_total": 0.0, "vllm:generation_tokens_total": 0.0}
_IDLE = _HUNG | {"vllm:num_requests_running": 0.0, "vllm:num_requests_waiting": 0.0}
_ASLEEP = _HUNG | {_AWAKE: 0.0}  # the gauges keep their last values


def _two_engines() -> tuple[Series, ...]:
    of_engine = [s for s in World().series if s.target == "server" and "engine" in dict(s.labels)]
    return (*World().series, *(_relabelled(series, "1") for series in of_engine))


def _due(settings: Settings, *engines: str) -> list[dict[str, object]]:
    alert = next(alert for alert in catalogue.alerts(settings) if alert.name == _NAME)
    shown = {"value": "2"}
    return [expected(alert, settings, _MODEL | {"engine": one}, shown) for one in engines]


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        ({}, _HUNG, ("1",)),
        (_HUNG, {}, ("0",)),
        (_IDLE, _HUNG, ("1",)),
        (_ASLEEP, _HUNG, ("1",)),
        (_HUNG, _HUNG, ("0", "1")),
        ({}, _IDLE, ()),
        ({}, _ASLEEP, ()),
        (_IDLE, _ASLEEP, ()),
    ],
    ids=[
        "second hangs beside a busy one",
        "first hangs beside a busy one",
        "hangs beside an idle one",
        "hangs beside one that sleeps",
        "both hang",
        "idle beside a busy one",
        "sleeps beside a busy one",
        "sleeps beside an idle one",
    ],
)
def test_engine_is_judged_alone(
    first: Mapping[str, float],
    second: Mapping[str, float],
    told: tuple[str, ...],
    settings: Settings,
    rehearsal: Promtool,
) -> None:
    situation = Situation((*_of("0", first), *_of("1", second)))
    story = Story(situation, _WATCHED, base=_two_engines())
    checks = [
        rehearsal.fires(_NAME, FAULT + 180, []),
        rehearsal.fires(_NAME, _DUE, _due(settings, *told)),
        rehearsal.fires(_NAME, _WATCHED, _due(settings, *told)),
    ]
    rehearsal.test([{"input_series": story.input_series(), "alert_rule_test": checks}], only=_NAME)


def test_vllm_without_the_label_is_judged_as_one_engine(
    settings: Settings, rehearsal: Promtool
) -> None:
    """Named 0, as the one engine of newer versions; the series itself has no such label."""
    alert = next(alert for alert in catalogue.alerts(settings) if alert.name == _NAME)
    base = tuple(_relabelled(series, None) for series in World().series)
    changed = tuple(_relabelled(s, None) for s in situations(World())[_NAME].changed)
    due = expected(alert, settings, _MODEL, {"value": "2", "engine": "0"})
    assert "engine 0: 2 requests" in due["exp_annotations"]["description"]
    for situation, told in ((Situation(changed), [due]), (Situation(), [])):
        story = Story(situation, _WATCHED, base=base)
        checks = [rehearsal.fires(_NAME, _DUE, told)]
        rehearsal.test(
            [{"input_series": story.input_series(), "alert_rule_test": checks}], only=_NAME
        )


def test_restart_of_two_engines_fires_nothing(rehearsal: Promtool) -> None:
    """Away for four minutes, then at work at once, with counters that begin at nought."""
    story = Story(Situation(silent="server"), _WATCHED, base=_two_engines(), heals_after=240)
    counters = {s.name for s in World().series if s.per_second and s.target == "server"}
    lines = []
    for line in story.input_series():
        values = line["values"].split()
        if line["series"].partition("{")[0] in counters:
            back = (FAULT + 240) // SCRAPE
            before = float(values[back])
            values[back:] = [f"{float(value) - before:g}" for value in values[back:]]
        lines.append(line | {"values": " ".join(values)})
    checks = [rehearsal.fires(_NAME, second, []) for second in range(FAULT, _WATCHED, 60)]
    rehearsal.test([{"input_series": lines, "alert_rule_test": checks}], only=_NAME)
