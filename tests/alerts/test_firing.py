"""Each alert fires when it is due and not one evaluation before, with all that it says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pytest
from playing import ADDRESS, FAULT, SCRAPE, Promtool, Story, expected

from alerts import catalogue
from alerts.model import Alert
from alerts.settings import Settings, load
from alerts.situations import Situation, situations
from alerts.world import World

_SERVER = ADDRESS["server"]
_MODEL = _SERVER | {"model_name": "gemma"}
_EXPORTER = ADDRESS["exporter"]
_RATED = _EXPORTER | {"server": "gpu1:8000", "model_name": "gemma"}
_GPU = _EXPORTER | {"gpu": "0", "uuid": "GPU-1"}
_PROMETHEUS = ADDRESS["prometheus"]
_ALERTMANAGER = ADDRESS["alertmanager"]
_ON_GPU = {"server": "gpu1:8000", "limit": "80%"}


@dataclass(frozen=True)
class Due:
    """What an alert is to say in its situation.

    Attributes:
        labels: Of its series.
        shown: Value and lookups as a reader sees them.
        after: Seconds from the fault until the condition is true, at 15 s between scrapes: rates
            need that long to cross the threshold.
        said: Findings that hold.
    """

    labels: Mapping[str, str]
    shown: Mapping[str, str] = field(default_factory=dict)
    after: int = 0
    said: tuple[str, ...] = ()


DUE = {
    "VLLMPrefixCacheHitRateLow": Due(_RATED, {"value": "40%", "tokens": "300000"}),
    "VLLMPrefixCacheIneffective": Due(
        _RATED, {"value": "20%", "prompt_tokens": "1000"}, said=("unshared",)
    ),
    "VLLMPrefixCacheWastesMemory": Due(_RATED, {"value": "40%"}),
    "VLLMPrefixCacheDisabled": Due(_SERVER, {"value": "1"}),
    "VLLMGPUMemoryHigh": Due(
        _GPU, {**_ON_GPU, "value": "95%", "free": "4GiB", "ceiling": "88.44%"}
    ),
    "VLLMGPUMemoryElevated": Due(_GPU, {**_ON_GPU, "value": "87.5%", "free": "10GiB"}),
    "VLLMGPUMemoryAboveLimit": Due(_GPU, {**_ON_GPU, "value": "7.5%", "free": "10GiB"}),
    "VLLMKVCacheSaturated": Due(_MODEL, {"value": "97%", "waiting": "7"}),
    "VLLMPreemptions": Due(_MODEL, {"value": "1.00"}, after=30),
    "VLLMServerDown": Due(_SERVER, {"value": "0"}),
    "VLLMServerVanished": Due(_SERVER, {"value": "60"}),
    "VLLMStalled": Due(_MODEL | {"engine": "0"}, {"value": "2"}, after=30),
    "VLLMRequestErrors": Due(_SERVER, {"value": "50%"}, after=15),
    "VLLMRequestsQueueing": Due(_MODEL, {"value": "25", "usage": "30%"}),
    "VLLMTimeToFirstTokenHigh": Due(_MODEL, {"value": "9.75s", "waiting": "0"}),
    "Watchdog": Due({}),
    "VLLMExporterDown": Due(_EXPORTER, {"value": "0"}),
    "VLLMUpstreamUnreachable": Due(_EXPORTER | {"server": "gpu1:8000"}, {"state": "unreachable"}),
    "VLLMGPUNotReported": Due(_GPU),
    "VLLMHitRateNotReported": Due(_MODEL, {"value": "300000"}),
    "VLLMPrometheusReloadFailed": Due(_PROMETHEUS),
    "VLLMPrometheusRuleFailures": Due(_PROMETHEUS, {"value": "60"}),
    "VLLMPrometheusNotNotifying": Due(_PROMETHEUS, {"value": "100%"}),
    "VLLMAlertmanagerDown": Due(_ALERTMANAGER),
    "VLLMAlertmanagerReloadFailed": Due(_ALERTMANAGER),
    "VLLMAlertmanagerNotDelivering": Due(
        _ALERTMANAGER | {"integration": "webhook"}, {"value": "100%"}
    ),
}


def _alert(name: str, settings: Settings) -> Alert:
    return next(alert for alert in catalogue.alerts(settings) if alert.name == name)


@pytest.mark.parametrize("name", [alert.name for alert in catalogue.alerts(load())])
def test_fires_when_due_and_not_one_evaluation_before(
    name: str, settings: Settings, rehearsal: Promtool
) -> None:
    alert, due = _alert(name, settings), DUE[name]
    evaluation = int(settings.intervals.evaluation.seconds)
    pending = alert.terms.pending.seconds
    true_from = FAULT + math.ceil(due.after / evaluation) * evaluation
    fires = int(true_from + pending) if pending else 0
    situation = situations(World())[name]
    tests = [
        rehearsal.fires(name, fires, [expected(alert, settings, due.labels, due.shown, due.said)])
    ]
    if pending:
        tests.insert(0, rehearsal.fires(name, fires - evaluation, []))
    story = Story(situation, seconds=fires + 2 * SCRAPE)
    rehearsal.test([{"input_series": story.input_series(), "alert_rule_test": tests}], only=name)


def test_every_alert_is_proved() -> None:
    assert set(DUE) == {alert.name for alert in catalogue.alerts(load())}
    assert set(situations(World())) == set(DUE)


def test_first_named_alerts_have_the_promised_terms() -> None:
    rate, memory = (
        _alert(name, load()) for name in ("VLLMPrefixCacheHitRateLow", "VLLMGPUMemoryHigh")
    )
    assert rate.condition.startswith('vllm:prefix_cache_hit_rate{job="vllm-exporter"} < 0.5\n')
    assert (str(rate.terms.pending), rate.terms.severity) == ("5m", "warning")
    assert memory.condition == 'vllm:gpu_memory_usage{job="vllm-exporter"} > 0.9'
    assert (str(memory.terms.pending), memory.terms.severity) == ("1m", "critical")


def test_a_limit_that_makes_the_memory_alert_permanent_is_told(
    settings: Settings, rehearsal: Promtool
) -> None:
    """Told with the largest share that would end it: the threshold less 1.25 GiB of 80."""
    name, world = "VLLMGPUMemoryHigh", World()
    healthy = tuple(
        world.of("vllm:gpu_memory_utilization_limit", 0.9)
        if series.name == "vllm:gpu_memory_utilization_limit"
        else series
        for series in world.series
    )
    shown = {"value": "95%", "free": "4GiB", "limit": "90%", "server": "gpu1:8000"}
    alert = _alert(name, settings)
    story = Story(situations(world)[name], seconds=FAULT + 90, base=healthy)
    due = expected(alert, settings, _GPU, shown | {"ceiling": "88.44%"}, ("permanent",))
    assert "THIS ALERT IS PERMANENT" in due["exp_annotations"]["cause"]
    assert "此告警会一直存在" in due["exp_annotations"]["cause_zh"]
    checks = [rehearsal.fires(name, FAULT + 60, [due])]
    rehearsal.test([{"input_series": story.input_series(), "alert_rule_test": checks}], only=name)


@pytest.mark.parametrize(
    ("said", "changes"),
    [
        (("short",), {"vllm:request_prompt_tokens_sum": 100.0}),
        (("evicted",), {"vllm:num_preemptions_total": 1.0}),
        (("evicted",), {"vllm:kv_cache_usage_perc": 0.99}),
        (
            ("short", "evicted"),
            {"vllm:request_prompt_tokens_sum": 100.0, "vllm:kv_cache_usage_perc": 0.99},
        ),
    ],
)
def test_an_ineffective_cache_is_explained_by_the_data(
    said: tuple[str, ...], changes: Mapping[str, float], settings: Settings, rehearsal: Promtool
) -> None:
    name, world = "VLLMPrefixCacheIneffective", World()
    healthy = tuple(
        replace(series, value=changes[series.name]) if series.name in changes else series
        for series in world.series
    )
    alert = _alert(name, settings)
    mean = "100" if "short" in said else "1000"
    shown = {"value": "20%", "prompt_tokens": mean}
    story = Story(situations(world)[name], seconds=FAULT + 930, base=healthy)
    due = expected(alert, settings, _RATED, shown, said)
    checks = [rehearsal.fires(name, FAULT + 900, [due])]
    rehearsal.test([{"input_series": story.input_series(), "alert_rule_test": checks}], only=name)


def test_errors_of_the_engine_are_told_where_no_web_server_counts(
    settings: Settings, rehearsal: Promtool
) -> None:
    name, world = "VLLMRequestErrors", World()
    uncounted = tuple(series for series in world.series if series.name != "http_requests_total")
    failing = Situation((world.of("vllm:request_success_total", 1, finished_reason="error"),))
    story = Story(failing, seconds=FAULT + 660, base=uncounted)
    due = expected(_alert(name, settings), settings, _SERVER, {"value": "50%"})
    checks = [rehearsal.fires(name, FAULT + 630, [due])]
    rehearsal.test([{"input_series": story.input_series(), "alert_rule_test": checks}], only=name)


_SECOND_ENGINE = 'job="vllm",instance="gpu1:8000",server="gpu1:8000",model_name="gemma",engine="1"'
_SECOND_GPU = 'job="vllm-exporter",instance="gpu1:18000",gpu="1",uuid="GPU-2"'
_SECOND_SERVER = {"job": "vllm", "instance": "gpu2:8000", "server": "gpu2:8000"}


@pytest.mark.parametrize(
    ("name", "beside", "labels", "shown"),
    [
        (
            "VLLMKVCacheSaturated",
            {
                f"vllm:kv_cache_usage_perc{{{_SECOND_ENGINE}}}": "0.97",
                f"vllm:num_requests_waiting{{{_SECOND_ENGINE}}}": "7",
            },
            _MODEL,
            {"value": "97%", "waiting": "7"},
        ),
        (
            "VLLMRequestsQueueing",
            {f"vllm:num_requests_waiting{{{_SECOND_ENGINE}}}": "25"},
            _MODEL,
            {"value": "25", "usage": "30%"},
        ),
        (
            "VLLMGPUMemoryHigh",
            {
                f"vllm:gpu_memory_usage{{{_SECOND_GPU}}}": "0.95",
                f"vllm:gpu_memory_free_bytes{{{_SECOND_GPU}}}": f"{4 * 2**30}",
                f"vllm:gpu_memory_total_bytes{{{_SECOND_GPU}}}": f"{80 * 2**30}",
            },
            _EXPORTER | {"gpu": "1", "uuid": "GPU-2"},
            {**_ON_GPU, "value": "95%", "free": "4GiB", "ceiling": "88.44%"},
        ),
        (
            "VLLMServerDown",
            {'up{job="vllm",instance="gpu2:8000",server="gpu2:8000"}': "0"},
            _SECOND_SERVER,
            {"value": "0"},
        ),
    ],
)
def test_one_of_two_is_told_alone(
    name: str,
    beside: Mapping[str, str],
    labels: Mapping[str, str],
    shown: Mapping[str, str],
    settings: Settings,
    rehearsal: Promtool,
) -> None:
    """An engine, a GPU or a server in trouble beside one that is well."""
    extra = {series: f"{value}x90" for series, value in beside.items()}
    story = Story(Situation(), seconds=1260, extra=extra)
    due = expected(_alert(name, settings), settings, labels, shown)
    checks = [rehearsal.fires(name, 1230, [due])]
    rehearsal.test([{"input_series": story.input_series(), "alert_rule_test": checks}], only=name)
