"""Rules of the Prometheus mixin convention and of pint's offline checks, over the catalogue."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml

import alerts
from alerts import build, catalogue, chinese
from alerts.model import MATCH, Alert
from alerts.settings import load
from dashboards import build as dashboards
from exporter.catalogue import EXPORTED

_ROOT = Path(alerts.__file__).parent
_RECORDINGS = Path(__file__).parents[1] / "recordings"
_ALERTS = catalogue.alerts(load())
_SELF = (
    "up",
    "prometheus_config_last_reload_successful",
    "prometheus_rule_evaluation_failures_total",
    "prometheus_notifications_errors_total",
    "prometheus_notifications_sent_total",
    "alertmanager_config_last_reload_successful",
    "alertmanager_notifications_failed_total",
    "alertmanager_notifications_total",
)
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_SELECTOR = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)\{([^}]*)\}")

each = pytest.mark.parametrize("alert", _ALERTS, ids=lambda alert: alert.name)


def _expressions(alert: Alert) -> list[str]:
    asked = [*alert.lookups.values(), *alert.findings.values()]
    return [alert.condition, *(item.query.replace(f",{MATCH}", "") for item in asked)]


@cache
def _known() -> frozenset[str]:
    """Every series that vLLM 0.30 or the exporter writes."""
    names = {metric.name for metric in EXPORTED}
    for page in (_RECORDINGS / "synthetic-vllm-0.30.0").glob("*.txt"):
        for line in page.read_text(encoding="utf-8").splitlines():
            if not line.startswith("#"):
                names.add(re.split(r"[{ ]", line, maxsplit=1)[0])
    for page in (_RECORDINGS / "cpu-vllm-0.30.0").glob("*.txt"):
        names |= set(re.findall(r"^(http_requests_total)\{", page.read_text("utf-8"), re.MULTILINE))
    return frozenset(names | set(_SELF))


@each
def test_every_metric_exists(alert: Alert) -> None:
    known = _known()
    for expression in _expressions(alert):
        for name, _ in _SELECTOR.findall(expression):
            assert name in known, name


@each
def test_expressions_parse_and_compare(alert: Alert) -> None:
    for expression in _expressions(alert):
        promql_parser.parse(expression)
    assert re.search(r"[<>]", alert.condition)


@each
def test_every_selector_names_its_job(alert: Alert) -> None:
    for expression in _expressions(alert):
        for name, matchers in _SELECTOR.findall(expression):
            assert 'job="' in matchers, name


@each
def test_names_and_severities(alert: Alert) -> None:
    assert re.fullmatch(r"VLLM[A-Z][A-Za-z]+|Watchdog", alert.name)
    assert alert.terms.severity in (
        {"none"} if alert.name == "Watchdog" else {"critical", "warning", "info"}
    )


@each
def test_texts_are_whole_and_name_only_what_the_alert_has(alert: Alert) -> None:
    given = {"value", *alert.labels, *alert.lookups, *alert.findings}
    for text in (alert.text, chinese.text(alert, load())):
        for name, part in text.parts():
            assert part.strip(), name
            assert set(_PLACEHOLDER.findall(part)) <= given, name
            assert not re.search(r"<[a-z ]+>", part), part
        for sentence in (*text.findings.values(), *(f.text for f in alert.findings.values())):
            assert set(_PLACEHOLDER.findall(sentence)) <= given - set(alert.findings)


@each
def test_summaries_are_sentences_that_are_the_same_for_all_series(alert: Alert) -> None:
    assert re.fullmatch(r"[A-Z][^{}]*\.", alert.text.summary)
    assert re.fullmatch(r"[^{}]*。", chinese.text(alert, load()).summary)


@each
def test_chinese_says_as_much_as_english(alert: Alert) -> None:
    text = chinese.text(alert, load())
    english = alert.text
    for mine, theirs in zip(text.parts(), english.parts(), strict=True):
        wanted = set(_PLACEHOLDER.findall(theirs[1]))
        assert set(_PLACEHOLDER.findall(mine[1])) == wanted, mine[0]
        for flag in set(re.findall(r"--[a-z-]{4,}", theirs[1])):
            assert flag in mine[1], flag
    assert set(text.findings) == set(alert.findings)


@each
def test_the_value_is_in_no_label(alert: Alert) -> None:
    rule = _rules()[alert.name]
    assert rule["labels"] == {"severity": alert.terms.severity}


@each
def test_annotations_are_texts_with_links(alert: Alert) -> None:
    notes = _rules()[alert.name]["annotations"]
    assert all(isinstance(text, str) for text in notes.values())
    assert notes["runbook_url"].endswith(f"/{alert.name}.md")
    assert f"viewPanel={alert.panel.panel_id}" in notes["dashboard_url"]


@each
def test_its_panel_exists_with_its_variables(alert: Alert) -> None:
    boards = {board.uid: board.to_json_data() for board in dashboards.boards(load())}
    board = boards[alert.panel.dashboard_uid]
    assert alert.panel.panel_id in {panel.id for panel in board["panels"]}
    assert set(alert.panel.variables) <= {template.name for template in board["templating"].list}
    assert set(alert.panel.variables.values()) <= set(alert.labels) | {"model_name"}


@each
def test_alerts_wait_for_two_evaluations(alert: Alert) -> None:
    evaluation = load().intervals.evaluation.seconds
    assert alert.name == "Watchdog" or alert.terms.pending.seconds >= 2 * evaluation


@each
def test_nothing_fragile(alert: Alert) -> None:
    """No topk, no regular expression that matches one name, no needless anchors, no `le` text."""
    for expression in _expressions(alert):
        assert "topk" not in expression
        assert "bottomk" not in expression
        assert not re.search(r'=~"[\w:-]+"', expression)
        assert not re.search(r'=~"\^|\$"', expression)
        assert "rate(sum" not in expression


@each
def test_rates_see_at_least_two_scrapes(alert: Alert) -> None:
    scrape = load().intervals.scrape.seconds
    for window in re.findall(r"\[(\d+)m\]", " ".join(_expressions(alert))):
        assert int(window) * 60 >= 4 * scrape


@each
def test_counters_are_only_counted_and_gauges_never_rated(alert: Alert) -> None:
    for expression in _expressions(alert):
        for before, name in re.findall(r"(\w*\(?)\b([a-z_:]+_total)\{", expression):
            assert before in {"rate(", "increase("}, name
        rated = re.findall(r"(?:rate|increase)\(([a-z_:A-Z0-9]+)\{", expression)
        for name in rated:
            assert name.endswith(("_total", "_count", "_sum", "_bucket")), name


def test_divisions_cannot_be_by_nought() -> None:
    for alert in _ALERTS:
        for expression in _expressions(alert):
            for divisor in re.findall(r"/ (\S+)", expression):
                guarded = divisor.startswith("(") or "memory_total_bytes" in divisor
                assert guarded, f"{alert.name}: / {divisor}"


def test_names_are_unique_and_groups_short() -> None:
    names = [alert.name for alert in _ALERTS]
    assert len(names) == len(set(names))
    assert load().intervals.evaluation.seconds <= 60


def test_switched_off_alerts_are_nowhere(tmp_path: Path) -> None:
    file = tmp_path / "my.yml"
    file.write_text("switched_off: [VLLMPreemptions]\n", encoding="utf-8")
    for text in build.rendered(load(file)).values():
        assert "alert: VLLMPreemptions" not in text
        assert "title: VLLMPreemptions" not in text


def test_generated_files_are_those_of_the_default_settings() -> None:
    for name, text in build.rendered(load()).items():
        assert (build.GENERATED / name).read_text(encoding="utf-8") == text, name


@cache
def _rules() -> dict[str, dict[str, Any]]:
    document = yaml.safe_load(build.rendered(load())["prometheus-rules.yml"])
    return {
        rule["alert"]: rule
        for group in document["groups"]
        for rule in group["rules"]
        if "alert" in rule
    }
