"""The rule file, checked and evaluated by the real promtool."""

from pathlib import Path

import pytest
import yaml

from alerts import build
from alerts.settings import load

CASES = Path(__file__).parent / "rules"
GPU_MEMORY, HIT_RATE = CASES / "gpu_memory_high.yml", CASES / "prefix_cache_hit_rate_low.yml"


def test_the_committed_file_is_what_the_catalogue_gives(generated: Path, tmp_path: Path) -> None:
    (rebuilt,) = build.write(load(), tmp_path)
    assert rebuilt.read_text() == generated.read_text(), "run `make build` and commit"


def test_promtool_finds_nothing_to_complain_of(generated: Path, promtool) -> None:
    done = promtool("check", "rules", "--lint=all", "--lint-fatal", generated)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 rules found" in done.stdout


def test_the_interval_of_groups_is_the_settings(tmp_path: Path) -> None:
    mine = tmp_path / "mine.yml"
    mine.write_text("intervals: {evaluation: 30s}")
    (path,) = build.write(load(mine), tmp_path)
    assert {g["interval"] for g in yaml.safe_load(path.read_text())["groups"]} == {"30s"}


def test_every_value_is_text_where_prometheus_wants_text(rules) -> None:
    for rule in rules.values():
        assert all(isinstance(text, str) for text in rule["annotations"].values())
        # A value in a label would make a new alert at each evaluation.
        assert rule["labels"] == {"severity": rule["labels"]["severity"]}
        assert set(rule["annotations"]) == {
            "summary",
            "description",
            "runbook_url",
            "dashboard_url",
        }


def test_every_alert_has_a_case(rules) -> None:
    tested = {
        expected["alertname"]
        for file in CASES.glob("*.yml")
        for test in yaml.safe_load(file.read_text())["tests"]
        for expected in test.get("alert_rule_test", [])
        if expected["exp_alerts"]
    }
    assert tested == rules.keys()


@pytest.mark.parametrize("case", sorted(CASES.glob("*.yml")), ids=lambda path: path.stem)
def test_alerts_fire_and_keep_silent(case: Path, promtool) -> None:
    done = promtool("test", "rules", case)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("case", "settings"),
    [
        (HIT_RATE, "cache: {hit_rate: {low: 0.31}}"),
        (HIT_RATE, "cache: {hit_rate: {low: 0.51}}"),
        (HIT_RATE, "cache: {low_for: 285s}"),
        (HIT_RATE, "cache: {low_for: 315s}"),
        (HIT_RATE, "cache: {low_severity: critical}"),
        (HIT_RATE, "links: {runbooks: http://elsewhere}"),
        (GPU_MEMORY, "memory: {usage: {high: 0.89}}"),
        (GPU_MEMORY, "memory: {usage: {high: 0.92}}"),
        (GPU_MEMORY, "memory: {high_for: 45s}"),
        (GPU_MEMORY, "memory: {high_for: 75s}"),
        (GPU_MEMORY, "memory: {high_severity: warning}"),
        (GPU_MEMORY, "links: {grafana: http://elsewhere}"),
    ],
)
def test_the_cases_notice_any_other_rule(
    case: Path, settings: str, promtool, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.yml"
    mine.write_text(settings)
    (rules_file,) = build.write(load(mine), tmp_path)
    text = case.read_text().replace(
        "../../../alerts/generated/prometheus-rules.yml", str(rules_file)
    )
    other = tmp_path / "case.yml"
    other.write_text(text)
    done = promtool("test", "rules", other)
    assert done.returncode == 1
    assert "FAILED" in done.stdout + done.stderr
