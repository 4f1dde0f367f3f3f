"""The status of a chain, with a stand-in for Prometheus' HTTP interface."""

import io
import json
import os
from dataclasses import replace

import pytest
from rich.console import Console

from monitoring import state, status
from monitoring.cli import main
from monitoring.prometheus_api import AlertState, Prometheus, PrometheusError
from monitoring.report import Report, program_status, report
from monitoring.state import ChainState, ComponentState

GPU = {"gpu": "0", "uuid": "GPU-1"}
SAMPLES = {
    "vllm:prefix_cache_hit_rate": [({"server": "s:1", "model_name": "m"}, 0.5)],
    "vllm:gpu_memory_usage": [(GPU, 0.25)],
    "vllm:gpu_info": [({**GPU, "name": "H200", "backend": "nvml"}, 1)],
}
PENDING = {
    "state": "pending",
    "labels": {"alertname": "Low", "severity": "warning", "server": "s:1"},
    "activeAt": "2026-01-02T03:04:05.6Z",
}
RULES = [
    {"name": "Low", "labels": {"severity": "warning"}, "state": "pending", "alerts": [PENDING]},
    {"name": "High", "labels": {"severity": "critical"}, "state": "inactive", "alerts": []},
]
UP = {"labels": {"job": "vllm", "instance": "s:1"}, "health": "up", "lastError": ""}
COMPONENT = ComponentState("one", "running", os.getpid(), 80, "http://x", "http://x/r", "a.log", 0)


@pytest.fixture
def prometheus(standin_server):
    """Return a maker of stand-ins: samples by metric, and targets."""

    def make(samples=SAMPLES, targets=(UP,)) -> str:
        def query(values):
            series = samples.get(values["query"], [])
            result = [{"metric": labels, "value": [0, str(value)]} for labels, value in series]
            return 200, {"status": "success", "data": {"result": result}}

        return standin_server(
            {
                "/api/v1/query": query,
                "/api/v1/targets": lambda _: (
                    200,
                    {"status": "success", "data": {"activeTargets": list(targets)}},
                ),
                "/api/v1/rules": lambda _: (
                    200,
                    {"status": "success", "data": {"groups": [{"rules": RULES}]}},
                ),
                "/ready": lambda _: (200, ""),
            }
        )

    return make


def chain(url: str, *components: ComponentState) -> ChainState:
    return ChainState(os.getpid(), 0.0, "up", "http://s:1", "s:1", url, components)


def shown(report: Report, width: int = 120) -> str:
    out = io.StringIO()
    Console(file=out, width=width).print(status.render(report))
    return out.getvalue()


def test_all_is_well(prometheus):
    url = prometheus()
    told = report(chain(url, COMPONENT), Prometheus(url), lambda _: True)
    assert told.is_well
    text = shown(told)
    for cell in ("ready", "s:1, m", "0.500", "GPU 0, H200 [nvml]", "0.250", "pending"):
        assert cell in text
    assert "2026-01-02 03:04:05 UTC" in text


def test_alerts_that_are_up_come_first_with_their_whole_names_and_the_rest_are_counted():
    alerts = (
        AlertState("VLLMRequestsQueueing", "warning", "pending", {}, ""),
        AlertState("VLLMPreemptions", "warning", "inactive", {}, ""),
        AlertState("VLLMStalled", "critical", "inactive", {}, ""),
        AlertState(
            "VLLMAlertmanagerNotDelivering",
            "critical",
            "firing",
            {"instance": "127.0.0.1:19093", "job": "alertmanager"},
            "2026-01-02T03:04:05.6Z",
        ),
    )
    text = shown(Report("up", "s:1", (), (), (), (), alerts, ""), width=80)
    assert text.index("VLLMAlertmanagerNotDelivering") < text.index("VLLMRequestsQueueing")
    assert "VLLMPreemptions" not in text
    assert "2 more are inactive" in text


def test_what_is_not_reported_is_not_zero(prometheus):
    url = prometheus(samples={})
    told = report(chain(url, COMPONENT), Prometheus(url), lambda _: True)
    assert [one.value for one in (*told.hit_rates, *told.gpu_memory)] == [None, None]
    text = shown(told)
    assert text.count("not reported") == 2
    assert "0.000" not in text


@pytest.mark.parametrize(
    ("change", "ready", "expected"),
    [
        ({}, True, "ready"),
        ({}, False, "not answering"),
        ({"pid": 2**22 + 1}, True, "gone"),
        ({"pid": None, "phase": "failed"}, True, "failed"),
        ({"pid": None, "phase": "restarting"}, True, "restarting"),
    ],
)
def test_the_state_of_a_program(change, ready, expected):
    program = program_status(replace(COMPONENT, **change), lambda _: ready)
    assert program.state == expected
    assert program.is_well is (expected == "ready")


def test_a_target_that_is_down_is_not_well(prometheus):
    down = {**UP, "health": "down", "lastError": "connection refused"}
    url = prometheus(targets=(down,))
    told = report(chain(url, COMPONENT), Prometheus(url), lambda _: True)
    assert not told.is_well
    assert "connection refused" in shown(told)


def test_a_prometheus_that_knows_no_targets_yet_is_not_well(prometheus):
    url = prometheus(targets=())
    told = report(chain(url, COMPONENT), Prometheus(url), lambda _: True)
    assert not told.is_well


def test_without_prometheus_the_programs_are_shown_all_the_same(free_port):
    url = f"http://127.0.0.1:{free_port()}"
    told = report(chain(url, COMPONENT), Prometheus(url), lambda _: False)
    assert not told.is_well
    text = shown(told)
    assert f"no Prometheus there: nothing answers at {url}" in text
    assert "one: see a.log" in text
    assert "not reported" not in text  # nobody was asked


def test_the_command_prints_json_and_its_status_tells_how_it_stands(prometheus, tmp_path, capsys):
    url = prometheus()
    component = replace(COMPONENT, ready_url=f"{url}/ready")
    with state.locked(tmp_path):
        state.write(tmp_path, chain(url, component))
        assert main(["status", "--json", "--run-dir", str(tmp_path)]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert answer["well"] is True
        assert answer["hit_rates"] == [{"subject": "s:1, m", "value": 0.5}]
        state.write(tmp_path, chain(url, replace(component, pid=None)))
        assert main(["status", "--run-dir", str(tmp_path)]) == 1
        assert "gone" in capsys.readouterr().out


@pytest.mark.parametrize(
    "answer", [(200, "<html>"), (400, {"status": "error", "error": "parse error"})]
)
def test_an_answer_that_is_none_is_an_error(standin_server, answer):
    url = standin_server({"/api/v1/query": lambda _: answer})
    with pytest.raises(PrometheusError):
        Prometheus(url).query("up")
