"""The rule file, checked and evaluated by the real promtool."""

from pathlib import Path

import yaml

from alerts import build
from alerts.settings import load

PARTS = ("summary", "description", "cause", "action")


def test_promtool_finds_nothing_to_complain_of(generated: Path, promtool) -> None:
    done = promtool("check", "rules", "--lint=all", "--lint-fatal", generated)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "27 rules found" in done.stdout


def test_the_interval_of_groups_is_the_settings(tmp_path: Path) -> None:
    mine = tmp_path / "mine.yml"
    mine.write_text("intervals: {evaluation: 30s}")
    path, *_ = build.write(load(mine), tmp_path)
    assert {g["interval"] for g in yaml.safe_load(path.read_text())["groups"]} == {"30s"}


def test_every_value_is_text_where_prometheus_wants_text(rules) -> None:
    for rule in rules.values():
        assert all(isinstance(text, str) for text in rule["annotations"].values())
        # A value in a label would make a new alert at each evaluation.
        assert rule["labels"] == {"severity": rule["labels"]["severity"]}
        assert set(rule["annotations"]) == {
            *(f"{part}{language}" for part in PARTS for language in ("", "_zh")),
            "runbook_url",
            "dashboard_url",
        }
