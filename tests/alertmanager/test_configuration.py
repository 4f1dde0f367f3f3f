"""What Alertmanager, amtool and amlint make of the generated configuration."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from alerts import build as rules
from alerts import catalogue
from alerts.delivery import WATCHDOG
from alerts.settings import Settings, load
from monitoring.alertmanager import build
from monitoring.alertmanager.configuration import document, needs_relay
from monitoring.alertmanager.inhibition import INHIBITIONS
from monitoring.alertmanager.receivers import KINDS

Written = Callable[[Settings], Path]
Amtool = Callable[..., str]

_CONFIGURATION = Path(build.__file__).parent


def test_the_committed_files_are_those_of_the_default_settings() -> None:
    for name, text in build.rendered(load(), build.COMPOSE).items():
        assert (_CONFIGURATION / name).read_text(encoding="utf-8") == text, name


def test_amtool_accepts_the_defaults_and_every_receiver(
    amtool: Amtool, written: Written, everything: Settings
) -> None:
    amtool("check-config", written(load()))
    amtool("check-config", written(everything))


@pytest.mark.parametrize("name", [*KINDS, "heartbeat"])
def test_each_receiver_is_switched_on_by_one_line(
    name: str, tmp_path: Path, amtool: Amtool, written: Written
) -> None:
    severities = "none" if name == "heartbeat" else "critical"
    text = f"notification:\n  receivers:\n    {name}: [{severities}]\n"
    if name == "email":
        text += "  email: {to: a@example.org, from: b@example.org, smarthost: 'm.example.org:25'}\n"
    file = tmp_path / "my.yml"
    file.write_text(text, encoding="utf-8")
    path = written(load(file))
    amtool("check-config", path)
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    known = {receiver["name"]: receiver for receiver in content["receivers"]}
    if name == "heartbeat":
        assert known["heartbeat"]["webhook_configs"]
    else:
        entries = [e for k, v in known["critical"].items() if k != "name" for e in v]
        assert len(entries) == (1 if name == "kit" else 2)


def test_secrets_are_only_named_by_file(everything: Settings) -> None:
    text = build.rendered(everything, build.COMPOSE)["alertmanager.yml"]
    for kind in KINDS.values():
        for secret in kind.secrets:
            if not secret.startswith(("feishu-secret", "dingtalk-secret")):
                assert f"_file: {build.COMPOSE.secrets}/{secret}\n" in text, secret


@pytest.mark.parametrize("alert", catalogue.alerts(load()), ids=lambda alert: alert.name)
def test_every_alert_reaches_the_receiver_of_its_severity(
    alert: object, amtool: Amtool, written: Written, everything: Settings
) -> None:
    name, severity = alert.name, alert.terms.severity  # type: ignore[attr-defined]
    path = written(everything)
    labels = (f"alertname={name}", f"severity={severity}", "job=vllm", "server=gpu1:8000")
    reached = amtool("config", "routes", "test", f"--config.file={path}", *labels).split()
    assert reached == ["heartbeat" if name == WATCHDOG else severity]


def test_without_a_heartbeat_url_watchdog_disturbs_nobody(amtool: Amtool, written: Written) -> None:
    path = written(load())
    labels = (f"alertname={WATCHDOG}", "severity=none")
    reached = amtool("config", "routes", "test", f"--config.file={path}", *labels).split()
    assert reached == ["nobody"]
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert {"name": "nobody"} in content["receivers"]


def test_alerts_of_others_are_not_lost(amtool: Amtool, written: Written) -> None:
    path = written(load())
    reached = amtool("config", "routes", "test", f"--config.file={path}", "alertname=Foreign")
    assert reached.split() == ["warning"]


@pytest.mark.parametrize("inhibition", INHIBITIONS, ids=lambda inhibition: inhibition.name)
def test_a_mute_names_alerts_that_exist_and_labels_that_both_have(inhibition: object) -> None:
    """A label that both lack would count as equal, and mute everything."""
    by_name = {alert.name: alert for alert in catalogue.alerts(load())}
    sources, targets, equal = inhibition.sources, inhibition.targets, inhibition.equal  # type: ignore[attr-defined]
    assert not set(sources) & set(targets)
    for name in (*sources, *targets):
        assert set(equal) <= set(by_name[name].labels), name


def test_engines_of_a_server_are_told_in_one_message() -> None:
    route, labels = document(load(), build.COMPOSE)["route"], set()
    for alert in catalogue.alerts(load()):
        labels |= set(alert.labels)
    assert "engine" in labels
    assert not {"engine", "server", "instance"} & set(route["group_by"])
    assert all("group_by" not in inner for inner in route["routes"])


def test_a_server_that_is_down_is_told_before_what_follows_from_it() -> None:
    terms, wait = load().alerts, load().notification.group_wait.seconds
    down = terms["VLLMServerDown"].pending.seconds
    follows = INHIBITIONS[0].targets
    for name in follows:
        assert down + wait < terms[name].pending.seconds + wait, name


def test_info_is_held_back_at_night_and_at_weekends() -> None:
    content = document(load(), build.COMPOSE)
    info = next(r for r in content["route"]["routes"] if r["receiver"] == "info")
    assert info["mute_time_intervals"] == [content["time_intervals"][0]["name"]]
    intervals = content["time_intervals"][0]["time_intervals"]
    assert intervals[0]["times"] == [
        {"start_time": "20:00", "end_time": "24:00"},
        {"start_time": "00:00", "end_time": "08:00"},
    ]
    assert intervals[1]["weekdays"] == ["saturday", "sunday"]


@pytest.mark.parametrize("which", ["defaults", "everything"])
def test_amlint_finds_nothing(
    which: str, tmp_path: Path, written: Written, everything: Settings
) -> None:
    settings = load() if which == "defaults" else everything
    path = written(settings)
    rules.write(settings, tmp_path / "rules")
    # Watchdog goes to an empty receiver on purpose where there is no heartbeat service.
    ignored = ["--ignore", "empty-receiver"] if which == "defaults" else []
    command = [
        *(str(Path(sys.executable).with_name("amlint")), "check", "--strict"),
        *("--rules", str(tmp_path / "rules" / "prometheus-rules.yml")),
        *ignored,
        str(path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_relay_runs_where_a_receiver_needs_it(everything: Settings) -> None:
    assert needs_relay(everything)
    assert not needs_relay(load())
    one = replace(
        load().notification,
        receivers=load().notification.receivers | {"feishu_relay": ("critical",)},
    )
    assert needs_relay(replace(load(), notification=one))


def test_strict_matchers_recoveries_and_times(amtool: Amtool, written: Written) -> None:
    path = written(load())
    amtool("check-config", "--enable-feature=utf8-strict-mode", path)
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    timing = load().notification
    assert content["route"]["group_wait"] == str(timing.group_wait)
    assert content["route"]["group_interval"] == str(timing.group_interval)
    assert content["route"]["repeat_interval"] == str(timing.repeat_interval)
    for receiver in content["receivers"]:
        for webhook in receiver.get("webhook_configs", []):
            assert webhook["send_resolved"] is True


def test_one_series_never_mutes_another_of_the_same_alert() -> None:
    """Every label that tells two series of an alert apart must be equal."""
    rule = document(load(), build.COMPOSE)["inhibit_rules"][-1]
    assert rule["source_matchers"] == ['severity="critical"']
    labels = {label for alert in catalogue.alerts(load()) for label in alert.labels}
    assert {"alertname", "job", *labels} - {"gpu"} <= set(rule["equal"])
