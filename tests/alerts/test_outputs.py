"""The same alert means the same to Prometheus, to its operator and to Grafana."""

from __future__ import annotations

import re
from typing import Any

import promql_parser
import pytest
import yaml

from alerts import build, catalogue
from alerts.model import Alert
from alerts.settings import load

_SETTINGS = load()
_FILES = {name: yaml.safe_load(text) for name, text in build.rendered(_SETTINGS).items()}
_ALERTS = catalogue.alerts(_SETTINGS)

each = pytest.mark.parametrize("alert", _ALERTS, ids=lambda alert: alert.name)

_RULE_FIELDS = {
    "uid", "title", "condition", "data", "for", "keepFiringFor", "noDataState", "execErrState",
    "dashboardUid", "panelId", "labels", "annotations", "isPaused",
}  # fmt: skip


def _prometheus(name: str) -> dict[str, Any]:
    return _find(_FILES["prometheus-rules.yml"]["groups"], "alert", name)


def _operator(name: str) -> dict[str, Any]:
    return _find(_FILES["prometheusrule.yaml"]["spec"]["groups"], "alert", name)


def _grafana(name: str) -> dict[str, Any]:
    return _find(_FILES["grafana-alerting.yml"]["groups"], "title", name)


def _find(groups: list[dict[str, Any]], key: str, name: str) -> dict[str, Any]:
    found = [rule for group in groups for rule in group["rules"] if rule.get(key) == name]
    assert len(found) == 1
    return dict(found[0])


def _squeezed(expression: str) -> str:
    return re.sub(r"\s+", " ", expression).strip()


def test_all_three_hold_the_same_alerts() -> None:
    wanted = {alert.name for alert in _ALERTS}
    for name, key in (("prometheus-rules.yml", "alert"), ("grafana-alerting.yml", "title")):
        groups = _FILES[name]["groups"]
        assert {rule[key] for g in groups for rule in g["rules"] if key in rule} == wanted


@each
def test_the_operator_gets_prometheus_own_rule(alert: Alert) -> None:
    assert _operator(alert.name) == _prometheus(alert.name)


@each
def test_grafana_judges_the_same_value_by_the_same_threshold(alert: Alert) -> None:
    """Put together again, Grafana's steps are Prometheus' condition."""
    nodes = {node["refId"]: node["model"] for node in _grafana(alert.name)["data"]}
    value = _squeezed(nodes["A"]["expr"])
    if alert.labels:
        keep = "min" if alert.measure.comparison == "<" else "max"
        head = f"{keep} by ({', '.join(alert.labels)}) ( "
        assert value.startswith(head)
        value = value.removeprefix(head).removesuffix(" )")
    evaluator = nodes["C"]["conditions"][0]["evaluator"]
    sign = {"lt": "<", "gt": ">"}[evaluator["type"]]
    query = _squeezed(alert.measure.query)
    assert value.startswith(query)
    threshold = f"{evaluator['params'][0]:.12g}"
    again = f"{query} {sign} {threshold}{value.removeprefix(query)}"
    assert again == _squeezed(_prometheus(alert.name)["expr"])


@each
def test_terms_are_the_same(alert: Alert) -> None:
    rule, theirs = _prometheus(alert.name), _grafana(alert.name)
    assert theirs["for"] == rule.get("for", "0s")
    assert theirs.get("keepFiringFor") == rule.get("keep_firing_for")
    assert theirs["labels"] == rule["labels"]
    assert set(theirs["annotations"]) == set(rule["annotations"])


@each
def test_texts_differ_only_in_their_templates(alert: Alert) -> None:
    rule, theirs = _prometheus(alert.name), _grafana(alert.name)
    template = re.compile(r"\{\{.*?\}\}")
    for name, text in rule["annotations"].items():
        plain = [re.sub(r"\W", "", p) for p in template.split(text)]
        again = "".join(re.sub(r"\W", "", p) for p in template.split(theirs["annotations"][name]))
        # Where Prometheus asks for a label of another series, Grafana points to the dashboard.
        labelled = any(lookup.label for lookup in alert.lookups.values())
        assert labelled or again == "".join(plain), name


@each
def test_grafana_fields_are_those_of_file_provisioning(alert: Alert) -> None:
    rule = _grafana(alert.name)
    assert set(rule) <= _RULE_FIELDS
    assert {"uid", "title", "condition", "data"} <= set(rule)
    assert re.fullmatch(r"[a-z0-9_-]{1,40}", rule["uid"])
    assert rule["noDataState"] in {"NoData", "OK", "Alerting", "KeepLast"}
    assert rule["execErrState"] in {"Alerting", "Error", "OK", "KeepLast"}
    assert isinstance(rule["panelId"], int)
    assert rule["dashboardUid"]
    assert rule["condition"] == "C"
    for text in rule["annotations"].values():
        assert "${" not in text
    for text in rule["labels"].values():
        assert "$" not in text


@each
def test_grafana_data_nodes(alert: Alert) -> None:
    *queries, condition = _grafana(alert.name)["data"]
    assert queries[0]["refId"] == "A"
    for node in queries:
        assert set(node) == {"refId", "relativeTimeRange", "datasourceUid", "model"}
        model = node["model"]
        assert node["datasourceUid"] == "vllm-prometheus"
        assert node["relativeTimeRange"] == {"from": 600, "to": 0}
        assert model["datasource"] == {"type": "prometheus", "uid": "vllm-prometheus"}
        assert (model["refId"], model["instant"], model["range"]) == (node["refId"], True, False)
        promql_parser.parse(model["expr"])
        assert "MATCH" not in model["expr"]
    assert condition["refId"] == "C"
    assert condition["datasourceUid"] == "__expr__"
    model = condition["model"]
    assert (model["type"], model["expression"]) == ("threshold", "A")
    assert model["datasource"] == {"type": "__expr__", "uid": "__expr__"}
    assert len(model["conditions"]) == 1
    only = model["conditions"][0]
    low = only["evaluator"]["params"][0]
    assert only["evaluator"]["type"] in {"lt", "gt"}
    if "unloadEvaluator" in only:
        unload = only["unloadEvaluator"]
        assert {only["evaluator"]["type"], unload["type"]} == {"lt", "gt"}
        good = unload["params"][0]
        assert good > low if unload["type"] == "gt" else good < low


@each
def test_grafana_texts_ask_only_steps_that_exist(alert: Alert) -> None:
    rule = _grafana(alert.name)
    steps = {node["refId"] for node in rule["data"]}
    for text in rule["annotations"].values():
        assert set(re.findall(r"\$values\.(\w+)\.Value", text)) <= steps
        assert "$value " not in text
        assert "query" not in re.sub(r"urlquery", "", " ".join(re.findall(r"\{\{.*?\}\}", text)))


def test_grafana_files_groups_folder_and_uids() -> None:
    document = _FILES["grafana-alerting.yml"]
    assert document["apiVersion"] == 1
    uids = []
    for group in document["groups"]:
        assert set(group) == {"orgId", "name", "folder", "interval", "rules"}
        assert group["folder"] == "vLLM monitoring"
        assert int(group["interval"].removesuffix("s")) % 10 == 0
        uids += [rule["uid"] for rule in group["rules"]]
    assert len(uids) == len(set(uids)) == len(_ALERTS)


def test_the_kubernetes_resource_is_a_prometheus_rule() -> None:
    document = _FILES["prometheusrule.yaml"]
    assert document["apiVersion"] == "monitoring.coreos.com/v1"
    assert document["kind"] == "PrometheusRule"
    assert document["spec"] == _FILES["prometheus-rules.yml"]
