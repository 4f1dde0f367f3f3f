from pathlib import Path

import pytest

from alerts.catalogue import alerts
from alerts.cli import main
from alerts.settings import load


def test_build_writes_where_it_is_told(tmp_path: Path, capsys) -> None:
    assert main(["build", "--output", str(tmp_path / "out")]) == 0
    names = ("prometheus-rules.yml", "grafana-alerting.yml", "prometheusrule.yaml")
    paths = [tmp_path / "out" / name for name in names]
    assert capsys.readouterr().out.split() == [str(path) for path in paths]
    for path in paths:
        assert "VLLMGPUMemoryHigh" in path.read_text()


def test_build_takes_settings(tmp_path: Path) -> None:
    mine = tmp_path / "my.yml"
    mine.write_text("memory: {usage: {high: 0.97}}\nalerts: {VLLMGPUMemoryHigh: {for: 10m}}")
    assert main(["build", "--settings", str(mine), "--output", str(tmp_path)]) == 0
    text = (tmp_path / "prometheus-rules.yml").read_text()
    assert 'expr: vllm:gpu_memory_usage{job="vllm-exporter"} > 0.97' in text
    assert "(above 97% for 10m)" in text


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["build", "--settings", "none.yml"], 2, "none.yml: cannot be read (No such file"),
        (["build", "--setings", "x"], 2, "No such option"),
        (["biuld"], 2, "No such command 'biuld'"),
        (["build", "--output", "/proc/none"], 1, "/proc/none: cannot be written"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(
    arguments: list[str], status: int, message: str, capsys
) -> None:
    assert main(arguments) == status
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    assert told.err.startswith("alerts: ")
    assert message in told.err


def test_list_shows_each_alert_with_its_rule(capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["list"]) == 0
    table = capsys.readouterr().out
    for text in (
        "VLLMGPUMemoryHigh",
        'vllm:gpu_memory_usage{job="vllm-exporter"} > 0.9',
        "critical",
        "1m",
    ):
        assert text in table


def test_list_keeps_names_whole_on_a_narrow_screen(capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["list"]) == 0
    table = capsys.readouterr().out
    assert [alert.name for alert in alerts(load()) if f"│ {alert.name} " not in table] == []


def test_brackets_of_a_setting_are_shown_as_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    mine = tmp_path / "mine.yml"
    mine.write_text("cache: {exempt_models: ['a[/x]']}\nselectors: {servers: 'job=~\"[a-z]+\"'}\n")
    assert main(["list", "--settings", str(mine)]) == 0
    assert 'job=~"[a-z]+"' in capsys.readouterr().out
