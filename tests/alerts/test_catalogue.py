"""What every alert of the catalogue must be."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from alerts import catalogue
from alerts.model import Alert
from alerts.settings import load
from dashboards import build

SETTINGS = load()
ALERTS = catalogue.alerts(SETTINGS)
every_alert = pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert.name)


def test_the_two_alerts_are_as_promised() -> None:
    found = {(a.name, a.condition, str(a.pending), a.severity) for a in ALERTS}
    assert found == {
        ("VLLMPrefixCacheHitRateLow", "vllm:prefix_cache_hit_rate < 0.5", "5m", "warning"),
        ("VLLMGPUMemoryHigh", "vllm:gpu_memory_usage > 0.9", "1m", "critical"),
    }


def test_names_are_unique() -> None:
    names = [alert.name for alert in ALERTS]
    assert len(set(names)) == len(names)


@every_alert
def test_name_and_summary_follow_the_convention(alert: Alert) -> None:
    assert re.fullmatch(r"VLLM[A-Z][A-Za-z]+", alert.name)
    assert re.fullmatch(r"[A-Z].*\.", alert.summary)
    # Several series of an alert share one headline.
    assert "{" not in alert.summary


@every_alert
def test_queries_name_existing_metrics(alert: Alert, selectors, metric_labels) -> None:
    for selector in selectors(alert.condition):
        assert selector.name in metric_labels
    for lookup in alert.lookups.values():
        assert set(lookup.match) <= metric_labels[lookup.metric]
        if lookup.show == "server":
            assert "server" in metric_labels[lookup.metric]


@every_alert
def test_texts_name_only_labels_that_the_result_has(alert: Alert, result_labels) -> None:
    labels = result_labels(alert.condition)
    assert set(alert.labels) <= labels
    for lookup in alert.lookups.values():
        assert set(lookup.match) <= labels


def test_recordings_name_existing_metrics(selectors, metric_labels) -> None:
    for group in catalogue.groups(SETTINGS):
        for rule in group.recordings:
            assert {s.name for s in selectors(rule.query)} <= metric_labels.keys()
            assert re.fullmatch(r"[a-z_]+:[a-z_]+:[a-z0-9_]+", rule.record)


@every_alert
def test_its_panel_exists_and_shows_its_value_and_its_threshold(alert: Alert) -> None:
    boards = {board.uid: board.to_json_data() for board in build.boards(SETTINGS)}
    board = boards[alert.panel.dashboard_uid]
    panel = {p.id: p for p in board["panels"]}[alert.panel.panel_id]
    assert any(alert.query in target.expr for target in panel.targets)
    assert alert.threshold in {step.value for step in panel.thresholds}
    variables = {template.name for template in board["templating"].list}
    assert set(alert.panel.variables) <= variables
    assert set(alert.panel.variables.values()) <= {*alert.labels, *alert.lookups}


@every_alert
def test_links_are_urls(alert: Alert, rules) -> None:
    annotations = rules[alert.name]["annotations"]
    runbook = urlsplit(annotations["runbook_url"])
    assert runbook.path.endswith(f"/runbooks/{alert.name}.md")
    # Templates stand where values will.
    board = urlsplit(re.sub(r"{{.*?}}", "x", annotations["dashboard_url"]))
    assert board.path == f"/d/{alert.panel.dashboard_uid}"
    assert parse_qs(board.query)["viewPanel"] == [str(alert.panel.panel_id)]
