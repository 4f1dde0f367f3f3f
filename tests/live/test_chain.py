"""The demo's chain, once, with real vLLM, Prometheus and Alertmanager; vLLM is killed in it."""

import re
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
import requests
from rich.console import Console

from alerts.settings import load
from exporter import catalogue
from monitoring import folders, programs, state, status
from monitoring.configuration import Layout
from monitoring.demo.command import SETTINGS
from monitoring.demo.outcome import Outcome
from monitoring.demo.pages import Comparison
from monitoring.demo.story import HIT_RATE_LOW, MEMORY_HIGH, Story
from monitoring.display import Display
from monitoring.notification import Notification
from monitoring.options import ChainOptions, Ports
from monitoring.prometheus_api import Prometheus
from monitoring.running import running
from monitoring.supervision import ports
from monitoring.supervision.component import Component
from monitoring.supervision.errors import ComponentError
from monitoring.supervision.interrupt import Interrupt
from monitoring.supervision.process import members
from monitoring.vllm.server import TINY_MODEL_NAME

pytestmark = [pytest.mark.live, pytest.mark.timeout(1200)]

_OVER_THE_RUN = "[1h]"
_BOUNDED = (catalogue.PREFIX_CACHE_HIT_RATE, catalogue.GPU_MEMORY_USAGE)


@dataclass
class Run:
    """What is left of the run after its end."""

    outcomes: dict[str, Outcome]
    notifications: list[Notification]
    comparison: Comparison
    report: status.Report
    pages: dict[str, str]
    extremes: dict[str, list[float]]
    restarts: dict[str, int]
    components: list[Component]
    sessions: list[int]
    ports: Ports
    folder: Path


@pytest.fixture(scope="module")
def run(free_ports, tmp_path_factory) -> Run:
    folder = tmp_path_factory.mktemp("run")
    options = ChainOptions(
        settings_file=SETTINGS, simulated_gpu=True, ports=free_ports, run_folder=folder
    )
    found = programs.find(options, folders.tools())
    display, interrupt = Display(Console(width=160)), Interrupt()
    layout = Layout(folder, folder / "demo")
    try:
        with running(
            "demo", options, load(SETTINGS), found, layout, display, interrupt
        ) as running_chain:
            supervised = running_chain.supervisor.supervised
            sessions = [one.child.pid for one in supervised]
            story = Story(running_chain, display, interrupt)
            outcomes = story.play(crash=True)
            sessions += [one.child.pid for one in supervised]
            prometheus = Prometheus(running_chain.url("prometheus"))
            result = Run(
                outcomes={one.alert: one for one in outcomes},
                notifications=story.notifications,
                comparison=story.comparison,
                report=status.report(state.read(folder), prometheus),
                pages={url: requests.get(url, timeout=10).text for url, _ in running_chain.pages()},
                extremes=_extremes(prometheus),
                restarts={one.component.name: one.restarts for one in supervised},
                components=[one.component for one in supervised],
                sessions=sessions,
                ports=free_ports,
                folder=folder,
            )
    except ComponentError as error:
        display.failure(error)  # with the last lines of the program's log
        raise
    return result


def _extremes(prometheus: Prometheus) -> dict[str, list[float]]:
    """Return the least and greatest value of some series over the whole run."""
    series = [metric.name for metric in _BOUNDED]
    series += [catalogue.UPSTREAM_UP.name, 'up{job="vllm-exporter"}']
    return {
        one: [
            sample.value
            for function in ("min_over_time", "max_over_time")
            for sample in prometheus.query(f"{function}({one}{_OVER_THE_RUN})")
        ]
        for one in series
    }


def test_the_hit_rate_is_that_of_vllms_own_counters(run):
    assert run.comparison.queries > 10_000
    assert run.comparison.computed > 0.7
    assert run.comparison.difference <= 0.02


def test_the_alert_on_the_hit_rate_says_server_model_rate_and_what_to_check(run):
    notice = run.outcomes[HIT_RATE_LOW].firing.notice
    server = f"127.0.0.1:{run.ports.vllm}"
    assert notice.labels["severity"] == "warning"
    assert notice.labels["server"] == server
    assert notice.labels["model_name"] == TINY_MODEL_NAME
    text = notice.annotations["description"]
    assert f"Server {server}, model {TINY_MODEL_NAME}: " in text
    told = float(re.search(r": ([0-9.]+)% of the prompt tokens", text)[1])
    assert told < 50
    for advice in ("share prefixes", "--block-size", "evicted"):
        assert advice in text
    assert notice.annotations["dashboard_url"].startswith(f"http://127.0.0.1:{run.ports.grafana}/")
    assert notice.annotations["runbook_url"].startswith(f"http://127.0.0.1:{run.ports.prometheus}/")


def test_the_alert_on_memory_says_gpu_usage_free_bytes_limit_and_what_to_do(run):
    notice = run.outcomes[MEMORY_HIGH].firing.notice
    assert notice.labels["severity"] == "critical"
    assert notice.labels["gpu"] == "0"
    assert notice.labels["uuid"] == "GPU-simulated-0"
    text = notice.annotations["description"]
    assert f"GPU 0 (GPU-simulated-0) of server 127.0.0.1:{run.ports.vllm}" in text
    told = float(re.search(r": ([0-9.]+)% of its memory", text)[1])
    assert 90 < told <= 96
    assert re.search(r"free: [0-9.]+(M|G)iB", text)
    assert "(--gpu-memory-utilization): 85%" in text
    for advice in ("--max-num-seqs", "nvidia-smi"):
        assert advice in text


@pytest.mark.parametrize("alert", [HIT_RATE_LOW, MEMORY_HIGH])
def test_both_alerts_fired_and_were_resolved_and_were_told_of_once_each(run, alert):
    outcome = run.outcomes[alert]
    assert outcome.firing.notice.ends_at is None
    assert outcome.resolved.notice.ends_at is not None
    assert outcome.cause_at < outcome.firing.notice.starts_at < outcome.firing.received_at
    assert outcome.firing.received_at < outcome.resolved.received_at
    assert outcome.resolved.notice.labels == outcome.firing.notice.labels
    told = [
        notice.status
        for notification in run.notifications
        for notice in notification.alerts
        if notice.name == alert
    ]
    assert told == ["firing", "resolved"]


def test_no_value_was_ever_outside_0_to_1(run):
    for metric in _BOUNDED:
        least, greatest = run.extremes[metric.name]
        assert 0 <= least < greatest <= 1


def test_the_exporter_outlived_vllm_and_said_so(run):
    assert run.extremes['up{job="vllm-exporter"}'] == [1, 1]
    assert run.extremes[catalogue.UPSTREAM_UP.name] == [0, 1]
    assert run.restarts.pop("vllm") == 1
    assert set(run.restarts.values()) == {0}
    said = (run.folder / "logs" / "exporter.log").read_text()
    assert "start vLLM there" in said


def test_status_showed_the_whole_chain_well(run):
    report = run.report
    assert report.is_well, report
    names = {one.name for one in report.programs}
    assert {"vllm", "exporter", "receiver", "alertmanager", "prometheus"} <= names
    assert {target.job for target in report.targets} == {
        "vllm",
        "vllm-exporter",
        "prometheus",
        "alertmanager",
    }
    (hit_rate,) = report.hit_rates
    assert hit_rate.subject == f"127.0.0.1:{run.ports.vllm}, {TINY_MODEL_NAME}"
    assert hit_rate.value > 0.7
    (memory,) = report.gpu_memory
    assert "simulated" in memory.subject
    assert {alert.name for alert in report.alerts} >= {HIT_RATE_LOW, MEMORY_HIGH}


def test_the_page_that_prometheus_serves_shows_both_gauges(run):
    page = run.pages[f"http://127.0.0.1:{run.ports.prometheus}/consoles/console.html"]
    rates = [float(rate) for rate in re.findall(r'class="number">([0-9.]+) %', page)]
    assert len(rates) == 2
    assert 70 < rates[0] <= 100
    assert rates[1] == 85
    assert "Simulated 24 GiB [simulated]" in page
    assert page.count("<td>up</td>") == 4
    assert f"http://127.0.0.1:{run.ports.exporter}/metrics" in run.pages


def test_nothing_is_left_behind(run):
    assert len(run.sessions) > len(run.components)
    for session in run.sessions:
        assert members(session) == set()
    assert psutil.Process().children(recursive=True) == []
    assert state.read(run.folder) is None
    for component in run.components:
        ports.check(component)
