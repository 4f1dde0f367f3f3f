"""The catalogue as a rule file of Prometheus."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import yaml

from alerts import chinese
from alerts.model import MATCH, Alert, Finding, Group, Lookup, RecordingRule
from alerts.placeholders import FORMAT, filled, label_template
from alerts.settings import Settings

HEADER = "# Written by `python -m alerts build` from alerts/*.py and the settings; do not edit.\n"


def render(groups: Iterable[Group], settings: Settings) -> str:
    """Return the text of the rule file."""
    return HEADER + dump(document(groups, settings))


def document(groups: Iterable[Group], settings: Settings) -> dict[str, Any]:
    """Return the rule file as plain data."""
    return {
        "groups": [
            {
                "name": group.name,
                "interval": str(settings.intervals.evaluation),
                "rules": [
                    *(_recording(rule) for rule in group.recordings),
                    *(_alerting(alert, settings) for alert in group.alerts),
                ],
            }
            for group in groups
        ]
    }


def dump(content: Any) -> str:
    """Return YAML whose texts of several lines are blocks, so that it reads like the alerts."""
    return yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=math.inf)


def _recording(rule: RecordingRule) -> dict[str, Any]:
    return {"record": rule.record, "expr": rule.query}


def _alerting(alert: Alert, settings: Settings) -> dict[str, Any]:
    rule: dict[str, Any] = {"alert": alert.name, "expr": alert.condition}
    if alert.terms.pending.seconds:
        rule["for"] = str(alert.terms.pending)
    if alert.terms.keep_firing.seconds:
        rule["keep_firing_for"] = str(alert.terms.keep_firing)
    texts = {"": alert.text, "_zh": chinese.text(alert, settings)}
    rule["labels"] = {"severity": alert.terms.severity}
    rule["annotations"] = {
        **dict(filled(alert, texts, _Writer())),
        "runbook_url": runbook_url(alert, settings),
        "dashboard_url": dashboard_url(alert, settings.links.grafana),
    }
    return rule


def runbook_url(alert: Alert, settings: Settings) -> str:
    """Return where the alert's runbook is served."""
    return f"{settings.links.runbooks}/{alert.name}.md"


def dashboard_url(alert: Alert, grafana: str) -> str:
    """Return a template of the panel's URL, at the alert's own server and model."""
    panel = alert.panel
    parameters = [f"viewPanel={panel.panel_id}"]
    for variable, label in panel.variables.items():
        if label in alert.labels:
            parameters.append(f"var-{variable}={{{{ $labels.{label} | urlquery }}}}")
    return f"{grafana}/d/{panel.dashboard_uid}?{'&'.join(parameters)}"


class _Writer:
    """Prometheus' templates: other queries are asked at the moment of evaluation."""

    def value(self, alert: Alert) -> str:
        function, suffix = FORMAT[alert.measure.unit]
        return f"{{{{ $value | {function} }}}}{suffix}"

    def label(self, name: str) -> str:
        return label_template(name)

    def lookup(self, alert: Alert, name: str, lookup: Lookup) -> str:  # noqa: ARG002
        if lookup.label:
            shown, suffix = f'label "{lookup.label}"', ""
        else:
            function, suffix = FORMAT[lookup.show]
            shown = f"value | {function}"
        found = f"{{{{ . | first | {shown} }}}}{suffix}"
        asked = _query(lookup.query, lookup.on)
        return f"{{{{ with {asked} }}}}{found}{{{{ else }}}}{lookup.missing}{{{{ end }}}}"

    def finding(self, alert: Alert, name: str, finding: Finding, sentence: str) -> str:  # noqa: ARG002
        return f"{{{{ with {_query(finding.query, finding.on)} }}}}{sentence}{{{{ end }}}}"


def _query(query: str, on: tuple[str, ...]) -> str:
    """Return a template call that asks ``query`` for the series that share ``on`` with the alert.

    Raw quotes, because PromQL is full of double ones.
    """
    matchers = ",".join(f"{label}=%q" for label in on)
    asked = query.replace("%", "%%").replace(MATCH, matchers)
    arguments = " ".join(f"$labels.{label}" for _ in range(query.count(MATCH)) for label in on)
    return f"query (printf `{asked}` {arguments})"


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002
        super().increase_indent(flow, indentless=False)


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style="|" if "\n" in text else None
    )


_Dumper.add_representer(str, _represent_text)
