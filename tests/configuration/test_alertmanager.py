"""alertmanager.yml, by the real amtool."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from alerts import catalogue
from alerts.settings import load

STRICT = "--enable-feature=utf8-strict-mode"


@pytest.fixture(scope="module")
def file(root: Path) -> Path:
    return root / "monitoring/alertmanager/alertmanager.yml"


@pytest.fixture(scope="module")
def configuration(file: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(file.read_text())
    return loaded


def test_amtool_accepts_it_with_strict_matchers(file: Path, amtool) -> None:
    done = amtool("check-config", STRICT, file)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SUCCESS" in done.stdout


def test_times_are_the_settings(configuration) -> None:
    timing = load().notification
    route = configuration["route"]
    assert route["group_wait"] == str(timing.group_wait)
    assert route["group_interval"] == str(timing.group_interval)
    assert route["repeat_interval"] == str(timing.repeat_interval)


def test_rules_are_evaluated_before_the_first_message(configuration) -> None:
    """What mutes an alert must be there before the alert is told of."""
    settings = load()
    assert settings.notification.group_wait.seconds <= settings.intervals.evaluation.seconds


@pytest.mark.parametrize("alert", catalogue.alerts(load()), ids=lambda alert: alert.name)
def test_each_alert_reaches_the_receiver(alert, file: Path, amtool) -> None:
    done = amtool(
        "config",
        "routes",
        "test",
        STRICT,
        f"--config.file={file}",
        "--verify.receivers=kit",
        f"alertname={alert.name}",
        f"severity={alert.severity}",
        "job=vllm-exporter",
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_receiver_gets_recoveries_too(configuration) -> None:
    (receiver,) = configuration["receivers"]
    (webhook,) = receiver["webhook_configs"]
    assert webhook["send_resolved"] is True
    assert webhook["url"].endswith("/notifications")


def test_critical_mutes_the_warning_of_the_same_alert_only(configuration) -> None:
    (rule,) = configuration["inhibit_rules"]
    assert rule["source_matchers"] == ['severity="critical"']
    assert rule["target_matchers"] == ['severity="warning"']
    # Every label that tells two series of an alert apart, or one GPU would mute another.
    labels = {label for alert in catalogue.alerts(load()) for label in alert.labels}
    assert {"alertname", "job", *labels} - {"gpu"} <= set(rule["equal"])
