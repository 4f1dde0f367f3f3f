"""The drill's stage and its manners, without a chain."""

from __future__ import annotations

from pathlib import Path

import pytest
import requests
import yaml
from prometheus_client.parser import text_string_to_metric_families

from alerts import catalogue
from alerts.settings import load
from alerts.situations import situations
from alerts.world import World
from monitoring.cli import main
from monitoring.drill import drill
from monitoring.drill.drill import Chain
from monitoring.drill.stage import Stage, serve, targets
from monitoring.prometheus_api import Rule
from monitoring.supervision.errors import ChainError

TARGETS = ("server", "exporter", "prometheus", "alertmanager")


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def _samples(page: str | None) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    assert page is not None
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
    }


@pytest.mark.parametrize("name", [a.name for a in catalogue.alerts(load())])
def test_counters_never_fall_and_pages_parse(name: str) -> None:
    clock, world = Clock(), World()
    stage = Stage(world, clock)
    clock.now += 30
    before = {target: _samples(stage.page(target)) for target in TARGETS}
    situation = situations(world)[name]
    stage.fail(situation)
    clock.now += 5
    counters = {s.name for s in world.series if s.per_second}
    for target in TARGETS:
        page = stage.page(target)
        if target in (situation.silent, situation.gone):
            assert page is None
            continue
        for key, value in _samples(page).items():
            if key[0] in counters:
                assert value >= before[target][key]


def test_a_start_is_told_as_a_time_long_ago() -> None:
    clock = Clock()
    page = _samples(Stage(World(), clock).page("exporter"))
    (start,) = [v for (n, _), v in page.items() if n.endswith("upstream_start_time_seconds")]
    assert start == clock.now - 86400


def test_a_silent_target_answers_503() -> None:
    world = World()
    stage = Stage(world)
    server = serve(stage, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        assert "vllm:num_requests_running" in requests.get(f"{url}/server", timeout=5).text
        stage.fail(situations(world)["VLLMServerDown"])
        assert requests.get(f"{url}/server", timeout=5).status_code == 503
    finally:
        server.shutdown()
        server.server_close()


def test_targets_are_marked_as_a_drill() -> None:
    entries = targets("drill-1", "127.0.0.1:1")
    assert len(entries) == len(TARGETS)
    for entry in entries:
        labels = entry["labels"]
        assert isinstance(labels, dict)
        assert labels["drill"] == "yes"
        assert labels["instance"] == "drill-1"
    assert len(targets("drill-1", "127.0.0.1:1", gone="server")) == len(TARGETS) - 1


class Silent:
    """A chain in which nothing ever comes."""

    def rule(self, name: str) -> Rule | None:
        return Rule(60.0, 0.0) if name.startswith("VLLM") else None

    def query(self, expression: str) -> list[object]:
        return []

    def group_wait(self) -> float:
        return 10.0


def _chain(folder: Path) -> Chain:
    silent = Silent()
    return Chain(silent, silent, folder, None, "127.0.0.1:0")  # type: ignore[arg-type]


def test_a_drill_that_fails_cleans_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "drills.yml"
    file.write_text("[]\n", encoding="utf-8")
    monkeypatch.setattr(drill, "_START_SECONDS", 0.0)
    with pytest.raises(ChainError, match="no scrape came within 0 s"):
        drill.run("VLLMServerDown", _chain(tmp_path), lambda _: None)
    assert yaml.safe_load(file.read_text(encoding="utf-8")) == []


def test_two_drills_at_once_are_refused(tmp_path: Path) -> None:
    (tmp_path / "drills.yml").write_text("- targets: [x:1]\n", encoding="utf-8")
    with pytest.raises(ChainError, match="a drill is under way"):
        drill.run("VLLMServerDown", _chain(tmp_path), lambda _: None)


@pytest.mark.parametrize(
    ("name", "message"),
    [("Watchdog", "always fires"), ("Other", "Prometheus has no rule Other")],
)
def test_what_cannot_be_drilled(name: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ChainError, match=message):
        drill.run(name, _chain(tmp_path), lambda _: None)


def test_a_folder_without_drills_is_told(tmp_path: Path) -> None:
    with pytest.raises(ChainError, match=r"drills.yml is missing: is --targets the folder"):
        drill.run("VLLMServerDown", _chain(tmp_path), lambda _: None)


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["drill"], 2, "name the alerts to drill, such as VLLMServerDown"),
        (["drill", "VLLMNone"], 2, "'VLLMNone' is not one of"),
        (["drill", "VLLMServerDown", "--listen=x"], 2, "'x' is no address"),
        (["drill", "VLLMServerDown", "--run-dir=/nonexistent"], 1, "no chain runs in"),
    ],
)
def test_wrong_usage_is_one_line(
    arguments: list[str], status: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == status
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1
