"""What the longer expressions give, computed by the real promtool."""

import re
from pathlib import Path

import pytest
import yaml

from dashboards import figures, marks, metrics
from dashboards.checks.contents import expanded
from dashboards.promql import CHOSEN, on_server, quantile, renamed
from exporter.catalogue import GPU_MEMORY_USAGE
from exporter.upstream import State

_USAGE = 'vllm:gpu_memory_usage{job="e", instance="%s", gpu="%s", uuid="u%s"}'
_UP = 'vllm_exporter_upstream_up{job="e", instance="%s", server="%s"}'
_INFO = 'vllm:server_gpu_info{job="e", instance="%s", server="%s", gpu="%s", uuid="u%s"}'


@pytest.fixture
def result(promtool, tmp_path: Path):
    """Returns the samples of an expression at 10m over constant or moving series."""

    def of(expression: str, series: dict[str, str | float]) -> dict[str, float]:
        text = expanded(expression)
        inputs = [
            {"series": name, "values": value if isinstance(value, str) else f"{value}x60"}
            for name, value in series.items()
        ]
        test = {
            "interval": "15s",
            "input_series": inputs,
            # An expectation that never holds makes promtool print what there is.
            "promql_expr_test": [
                {"expr": text, "eval_time": "10m", "exp_samples": [{"labels": "no", "value": 1}]}
            ],
        }
        path = tmp_path / "test.yml"
        path.write_text(yaml.safe_dump({"rule_files": [], "tests": [test]}))
        done = promtool("test", "rules", path)
        assert "got:" in done.stdout + done.stderr, done.stdout + done.stderr
        return _parsed(done.stdout + done.stderr)

    return of


def _parsed(output: str) -> dict[str, float]:
    """Return what promtool got, by labels."""
    got = output.partition("got:")[2].strip().splitlines()[0]
    found = re.findall(r"(\{[^}]*\}) (\S+?)(?:,|$)", got)
    return {series.replace('"', ""): round(float(value), 6) for series, value in found}


def test_the_gpus_of_an_exporter_with_one_server_are_that_servers(result) -> None:
    series = {_USAGE % ("i", 0, 0): 0.8, _USAGE % ("i", 1, 1): 0.7, _UP % ("i", "a"): 0}
    assert result(on_server(CHOSEN, GPU_MEMORY_USAGE), series) == {
        "{gpu=0, instance=i, job=e, server=a, uuid=u0}": 0.8,
        "{gpu=1, instance=i, job=e, server=a, uuid=u1}": 0.7,
    }


def test_the_gpus_of_an_exporter_with_several_servers_are_those_it_was_told(result) -> None:
    series = {
        _USAGE % ("i", 0, 0): 0.8,
        _USAGE % ("i", 1, 1): 0.7,
        _UP % ("i", "a"): 1,
        _UP % ("i", "b"): 1,
        # Both use GPU 0.
        _INFO % ("i", "a", 0, 0): 1,
        _INFO % ("i", "b", 0, 0): 1,
        _INFO % ("i", "b", 1, 1): 1,
    }
    assert result(on_server(CHOSEN, GPU_MEMORY_USAGE), series) == {
        "{gpu=0, instance=i, job=e, server=a, uuid=u0}": 0.8,
        "{gpu=0, instance=i, job=e, server=b, uuid=u0}": 0.8,
        "{gpu=1, instance=i, job=e, server=b, uuid=u1}": 0.7,
    }


def test_gpus_of_nobody_known_are_said_to_have_no_server(result) -> None:
    series = {
        _USAGE % ("i", 0, 0): 0.8,
        _USAGE % ("j", 0, 2): 0.6,
        _UP % ("i", "a"): 1,
        _UP % ("i", "b"): 1,
        _UP % ("j", "c"): 1,
    }
    assert result(on_server(CHOSEN, GPU_MEMORY_USAGE), series) == {
        f"{{__name__={GPU_MEMORY_USAGE.name}, gpu=0, instance=i, job=e, "
        "server=no server, uuid=u0}": 0.8,
        "{gpu=0, instance=j, job=e, server=c, uuid=u2}": 0.6,
    }


def test_the_fullest_gpu_counts(result) -> None:
    series = {_USAGE % ("i", 0, 0): 0.8, _USAGE % ("i", 1, 1): 0.7, _UP % ("i", "a"): 1}
    assert result(figures.gpu_memory(CHOSEN), series) == {"{server=a}": 0.8}


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        ({"kv_cache_usage_perc": 0.25}, 0.25),
        ({"gpu_cache_usage_perc": 0.75}, 0.75),
        # 0.9.2 to 0.10 write both.
        ({"kv_cache_usage_perc": 0.25, "gpu_cache_usage_perc": 0.25}, 0.25),
    ],
)
def test_a_renamed_metric_is_one_figure(result, series, expected: float) -> None:
    labels = 'job="v", server="a", model_name="m"'
    named = {f"vllm:{name}{{{labels}}}": value for name, value in series.items()}
    assert result(figures.kv_cache(CHOSEN), named) == {"{model_name=m, server=a}": expected}


def test_both_names_of_a_counter_are_not_added_up(result) -> None:
    labels = 'job="v", server="a", model_name="m", engine="%d"'
    series = {
        f"vllm:{name}_total{{{labels % engine}}}": "0+15x60"
        for name in ("prefix_cache_hits", "gpu_prefix_cache_hits")
        for engine in (0, 1)
    }
    bridged = renamed(
        metrics.PREFIX_CACHE_HITS, lambda one: f"sum by (server) (rate({one.name}[1m]))"
    )
    assert result(bridged, series) == {"{server=a}": 2}


def test_a_quantile_of_nothing_is_left_out(result) -> None:
    labels = 'job="v", server="%s", model_name="m"'
    name = metrics.TIME_TO_FIRST_TOKEN.name
    series = {
        f'{name}{{{labels % "busy"}, le="1"}}': "0+15x60",
        f'{name}{{{labels % "busy"}, le="+Inf"}}': "0+15x60",
        f'{name}{{{labels % "idle"}, le="1"}}': 7,
        f'{name}{{{labels % "idle"}, le="+Inf"}}': 7,
    }
    expected = {"{model_name=m, server=busy}": 0.5}
    assert result(quantile(CHOSEN, 0.5, metrics.TIME_TO_FIRST_TOKEN), series) == expected


def test_the_greater_share_of_errors_counts(result) -> None:
    http = 'http_requests_total{job="v", server="a", status="%s"}'
    engine = 'vllm:request_success_total{job="v", server="a", model_name="m", finished_reason="%s"}'
    series = {
        http % "2xx": "0+30x60",
        engine % "stop": "0+15x60",
        engine % "error": "0+15x60",
    }
    assert result(figures.error_share(CHOSEN), series) == {"{server=a}": 0.5}
    series[http % "5xx"] = "0+270x60"
    assert result(figures.error_share(CHOSEN), series) == {"{server=a}": 0.9}
    assert result(figures.error_share(CHOSEN), {http % "2xx": 9}) == {}


def test_an_exporter_that_is_silent_leaves_the_word_to_prometheus(result) -> None:
    scraped = 'up{job="vllm", server="%s"}'
    series = {_UP % ("i", "a"): 0, scraped % "a": 1, scraped % "b": 1, 'up{job="other"}': 0}
    assert result(figures.reachable(CHOSEN), series) == {"{server=a}": 0, "{server=b}": 1}
    assert result(figures.servers(CHOSEN, 0), series) == {"{}": 1}
    assert result(figures.servers(CHOSEN, 1), {}) == {"{}": 0}


def test_a_server_that_is_down_keeps_its_row(result) -> None:
    running = 'vllm:num_requests_running{job="v", server="a", model_name="%s"}'
    series = {
        _UP % ("i", "a"): 1,
        _UP % ("i", "b"): 0,
        running % "m": 0,
        running % "n": 3,
    }
    assert result(figures.per_model(CHOSEN, figures.reachable(CHOSEN)), series) == {
        "{model_name=m, server=a}": 1,
        "{model_name=n, server=a}": 1,
        "{server=b}": 0,
    }


@pytest.mark.parametrize(
    ("rate", "memory", "state"),
    [(0.9, 0.8, 0), (0.4, 0.8, 1), (0.9, 0.95, 2), (0.4, 0.95, 3), (None, 0.95, 2), (0.4, None, 1)],
)
def test_the_band_of_trouble_shows_which_of_the_two_is_bad(
    result, boards, rate: float | None, memory: float | None, state: int
) -> None:
    panel = next(one for one in boards["vllm-cache-memory"]["panels"] if one["id"] == 31)
    series: dict[str, float] = {_UP % ("i", "a"): 1}
    if rate is not None:
        series['vllm:prefix_cache_hit_rate{job="e", server="a", model_name="m"}'] = rate
    if memory is not None:
        series[_USAGE % ("i", 0, 0)] = memory
    assert result(panel["targets"][0]["expr"], series) == {"{server=a}": state}


def test_the_band_of_fetches_shows_the_state(result, boards) -> None:
    panel = next(one for one in boards["vllm-monitoring"]["panels"] if one["id"] == 21)
    (mapping,) = panel["fieldConfig"]["defaults"]["mappings"]
    words = [one["text"] for one in mapping["options"].values()]
    assert words == list(State)
    series = 'vllm_exporter_upstream_state{job="e", instance="i", server="a", state="%s"}'
    for number, word in enumerate(words):
        states = {series % one: float(one == word) for one in words}
        assert result(panel["targets"][0]["expr"], states) == {"{server=a}": number}


def test_an_alert_that_fires_between_two_moments_of_a_mark_is_marked(result) -> None:
    mark = marks.firing_alerts(CHOSEN)
    assert mark["target"] == {"expr": mark["expr"], "interval": mark["step"], "refId": "Anno"}
    # A long time range asks once a minute: at 9m and at 10m; from 9m15s to 9m30s it fires.
    asked = mark["expr"].replace("$__interval", "60s")
    alert = 'ALERTS{alertname="VLLMServerDown",alertstate="firing",job="v",server="a"}'
    short = {alert: "_x37 1x1 stale _x9"}
    assert list(result(asked, short).values()) == [1]
