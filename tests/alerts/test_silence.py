"""No alert fires where none is due: each such case for longer than any alert waits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from playing import FAULT, SCRAPE, Promtool, Story

from alerts.settings import Settings
from alerts.situations import Situation, situations
from alerts.world import Series, World

_WATCHED = FAULT + 1260
_RATE = "vllm:prefix_cache_hit_rate"
_TOKENS = "vllm:prefix_cache_window_query_tokens"
_SAMPLES = _WATCHED // SCRAPE


def _frozen(world: World) -> tuple[Series, ...]:
    """Counters that stand still: no traffic."""
    return tuple(
        replace(series, value=0.0)
        for series in world.series
        if series.per_second and series.target == "server"
    )


def _without_traffic(world: World) -> Situation:
    return Situation(
        (
            *_frozen(world),
            world.of("vllm:num_requests_running", 0),
            world.of(_RATE, None),
            world.of(_TOKENS, None),
        )
    )


def _cases() -> dict[str, Story]:
    world = World()
    due = situations(world)
    idle = World(model="other", server="gpu1:8000")
    slept = (
        *_frozen(world),
        world.of("vllm:engine_sleep_state", 0, sleep_state="awake"),
        # Gauges keep their last values while the engine does not step.
        world.of("vllm:num_requests_running", 2),
        world.of(_RATE, None),
        world.of(_TOKENS, None),
    )
    return {
        "all is well": Story(Situation(), _WATCHED),
        "no traffic": Story(_without_traffic(world), _WATCHED),
        "too little traffic": Story(
            Situation((world.of(_RATE, 0.0), world.of(_TOKENS, 1999))), _WATCHED
        ),
        "one missed scrape of the server": Story(
            Situation(silent="server"), _WATCHED, heals_after=SCRAPE
        ),
        "one missed scrape of the exporter": Story(
            Situation(silent="exporter"), _WATCHED, heals_after=SCRAPE
        ),
        "one missed scrape of Alertmanager": Story(
            Situation(silent="alertmanager"), _WATCHED, heals_after=SCRAPE
        ),
        # Each of these is still counted for five minutes when it is over.
        "Alertmanager away for four minutes": Story(
            due["VLLMPrometheusNotNotifying"], _WATCHED, heals_after=240
        ),
        "messages refused for four minutes": Story(
            due["VLLMAlertmanagerNotDelivering"], _WATCHED, heals_after=240
        ),
        "rules that fail for four minutes": Story(
            due["VLLMPrometheusRuleFailures"], _WATCHED, heals_after=240
        ),
        "an exporter that is restarted": Story(
            replace(due["VLLMHitRateNotReported"], silent="exporter"), _WATCHED, heals_after=60
        ),
        "an engine put to sleep": Story(Situation(slept), _WATCHED),
        "the first minutes after a start": Story(
            Situation(
                (
                    world.of(_RATE, 0.0),
                    # The server started just now, and its cache is warm ten minutes later.
                    world.of("vllm_exporter_upstream_start_time_seconds", -FAULT),
                )
            ),
            _WATCHED,
            heals_after=600,
        ),
        "memory as configured": Story(
            Situation(
                (
                    world.of("vllm:gpu_memory_utilization_limit", 0.85),
                    world.of("vllm:gpu_memory_usage", 0.8575),
                )
            ),
            _WATCHED,
        ),
        "an idle model beside a busy one": Story(
            Situation(tuple(replace(s, value=0.0) for s in idle.series if s.per_second)), _WATCHED
        ),
    }


def _nothing_but_watchdog(seconds: int) -> dict[str, object]:
    fired = f'count_over_time(ALERTS{{alertstate="firing",alertname!="Watchdog"}}[{seconds}s])'
    return {"expr": fired, "eval_time": f"{seconds}s", "exp_samples": []}


@pytest.mark.parametrize("case", _cases())
def test_nothing_fires(case: str, rehearsal: Promtool) -> None:
    story = _cases()[case]
    rehearsal.test(
        [
            {
                "input_series": story.input_series(),
                "promql_expr_test": [_nothing_but_watchdog(story.seconds)],
            }
        ]
    )


def test_a_restart_of_the_server_with_its_counters_fires_nothing(rehearsal: Promtool) -> None:
    """All of vLLM's counters fall to nought at once; the exporter has no rate for a while."""
    story = Story(Situation(), _WATCHED)
    falls = []
    at = FAULT // SCRAPE
    for healthy in story.input_series():
        line = dict(healthy)
        name = line["series"].partition("{")[0]
        if any(s.name == name and s.per_second and s.target == "server" for s in World().series):
            values = [float(v) for v in line["values"].split()]
            values = values[:at] + [value - values[at] for value in values[at:]]
            line |= {"values": " ".join(f"{value:g}" for value in values)}
        if name in {_RATE, _TOKENS}:
            numbers = line["values"].split()
            line |= {"values": " ".join([*numbers[:at], "stale", "_", *numbers[at + 2 :]])}
        falls.append(line)
    rehearsal.test([{"input_series": falls, "promql_expr_test": [_nothing_but_watchdog(_WATCHED)]}])


def test_a_time_without_scrapes_fires_nothing(rehearsal: Promtool) -> None:
    """Prometheus is away for four minutes, and finds everything as it was."""
    story = Story(Situation(), _WATCHED)
    first, last = FAULT // SCRAPE, (FAULT + 240) // SCRAPE
    lines = []
    for line in story.input_series():
        values = line["values"].split()
        values[first:last] = ["_"] * (last - first)
        lines.append(line | {"values": " ".join(values)})
    rehearsal.test([{"input_series": lines, "promql_expr_test": [_nothing_but_watchdog(_WATCHED)]}])


@pytest.mark.parametrize("models", [("gemma",), ("gemma", "a+b|c")])
def test_exempt_models_do_not_fire(
    models: tuple[str, ...], settings: Settings, playing: Callable[[Settings], Promtool]
) -> None:
    exempt = replace(settings, cache=replace(settings.cache, exempt_models=models))
    world = World()
    for changed in (
        (world.of(_RATE, 0.0), *situations(world)["VLLMPrefixCacheWastesMemory"].changed[1:]),
        situations(world)["VLLMHitRateNotReported"].changed,
    ):
        story = Story(Situation(changed), _WATCHED)
        cached = 'ALERTS{alertstate="firing",alertname=~"VLLMPrefixCache.+|VLLMHitRate.+"}'
        check = {
            "expr": f"count_over_time({cached}[{_WATCHED}s])",
            "eval_time": f"{_WATCHED}s",
            "exp_samples": [],
        }
        playing(exempt).test([{"input_series": story.input_series(), "promql_expr_test": [check]}])


def test_one_lost_scrape_neither_ends_nor_repeats_a_firing_alert(rehearsal: Promtool) -> None:
    world = World()
    story = Story(situations(world)["VLLMGPUMemoryHigh"], FAULT + 600)
    lost = (FAULT + 300) // SCRAPE
    lines = []
    for line in story.input_series():
        values = line["values"].split()
        if 'job="vllm-exporter"' in line["series"]:
            values[lost] = "0" if line["series"].startswith("up{") else "stale"
        lines.append(line | {"values": " ".join(values)})
    firing = 'ALERTS{alertname="VLLMGPUMemoryHigh",alertstate="firing"}'
    checks = [
        {
            "expr": f"count({firing})",
            "eval_time": f"{second}s",
            "exp_samples": [{"labels": "{}", "value": 1}],
        }
        for second in range(FAULT + 270, FAULT + 420, 30)
    ]
    rehearsal.test([{"input_series": lines, "promql_expr_test": checks}], only="VLLMGPUMemoryHigh")


def test_a_memory_share_of_another_kind_says_nothing_of_the_limit(rehearsal: Promtool) -> None:
    """With --kv-cache-memory-bytes vLLM does not go by its share of the GPU."""
    world = World()
    changed = list(situations(world)["VLLMGPUMemoryAboveLimit"].changed)
    info = world.of("vllm:cache_config_info", None, enable_prefix_caching="True")
    labels = tuple(sorted((dict(info.labels) | {"kv_cache_memory_bytes": "1073741824"}).items()))
    changed += [info, replace(info, labels=labels, value=1.0)]
    story = Story(Situation(tuple(changed)), _WATCHED)
    above = 'ALERTS{alertname="VLLMGPUMemoryAboveLimit"}'
    check = {
        "expr": f"count_over_time({above}[{_WATCHED}s])",
        "eval_time": f"{_WATCHED}s",
        "exp_samples": [],
    }
    rehearsal.test([{"input_series": story.input_series(), "promql_expr_test": [check]}])
