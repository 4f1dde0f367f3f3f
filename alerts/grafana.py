"""The catalogue as Grafana's own alert rules, in the format of its file provisioning.

Grafana evaluates in steps: a query gives the raw value, a threshold expression judges it. The
value of a healthy series must therefore come through, or Grafana would call it missing data.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

from alerts import chinese
from alerts.model import Alert, Finding, Group, Lookup
from alerts.placeholders import FORMAT, filled, label_template, without_match
from alerts.prometheus import HEADER, dashboard_url, dump, runbook_url
from alerts.settings import Settings

VALUE, CONDITION = "A", "C"
"""Names of the two steps that every rule has."""

_LOOK_BACK_SECONDS = 600
_INTERVAL_STEP_SECONDS = 10
_EXPRESSION = {"type": "__expr__", "uid": "__expr__"}


def render(groups: Iterable[Group], settings: Settings) -> str:
    """Return the text of the provisioning file."""
    return HEADER + dump(document(groups, settings))


def document(groups: Iterable[Group], settings: Settings) -> dict[str, Any]:
    """Return the provisioning file as plain data."""
    return {
        "apiVersion": 1,
        "groups": [
            {
                "orgId": 1,
                "name": group.name,
                "folder": settings.grafana.folder,
                "interval": _interval(settings),
                "rules": [_rule(alert, settings) for alert in group.alerts],
            }
            for group in groups
            if group.alerts
        ],
    }


def uid(alert: Alert) -> str:
    """Return a stable identity of at most 40 characters."""
    digest = hashlib.sha256(alert.name.encode()).hexdigest()[:8]
    return f"{alert.name.lower()[:31]}-{digest}"


def _interval(settings: Settings) -> str:
    """Return the evaluation interval; Grafana takes only multiples of ten seconds."""
    steps = -(-settings.intervals.evaluation.seconds // _INTERVAL_STEP_SECONDS)
    return f"{int(steps * _INTERVAL_STEP_SECONDS)}s"


def _rule(alert: Alert, settings: Settings) -> dict[str, Any]:
    texts = {"": alert.text, "_zh": chinese.text(alert, settings)}
    rule: dict[str, Any] = {
        "uid": uid(alert),
        "title": alert.name,
        "condition": CONDITION,
        "data": _data(alert, settings),
        "noDataState": "OK",
        "execErrState": "Error",
        "for": str(alert.terms.pending),
    }
    if alert.terms.keep_firing.seconds:
        rule["keepFiringFor"] = str(alert.terms.keep_firing)
    rule |= {
        "dashboardUid": alert.panel.dashboard_uid,
        "panelId": alert.panel.panel_id,
        "labels": {"severity": alert.terms.severity},
        "annotations": {
            **dict(filled(alert, texts, _Writer())),
            "runbook_url": runbook_url(alert, settings),
            "dashboard_url": dashboard_url(alert, settings.links.grafana),
        },
        "isPaused": False,
    }
    return rule


def _data(alert: Alert, settings: Settings) -> list[dict[str, Any]]:
    datasource = settings.grafana.datasource
    further: dict[str, Lookup | Finding] = {
        **{name: lookup for name, lookup in alert.lookups.items() if lookup.label is None},
        **alert.findings,
    }
    return [
        _query(VALUE, _raw(alert), datasource),
        *(_query(name, _beside(alert, item), datasource) for name, item in further.items()),
        _threshold(alert, settings),
    ]


def _raw(alert: Alert) -> str:
    """Return the guarded value with exactly the alert's labels.

    Grafana offers a text only the values of steps whose series have the very same labels.
    """
    if not alert.labels:
        return alert.value
    keep = "min" if alert.measure.comparison == "<" else "max"
    return f"{keep} by ({', '.join(alert.labels)}) (\n{alert.value}\n)"


def _beside(alert: Alert, item: Lookup | Finding) -> str:
    """Return another query with the alert's labels; -1 where it has no series for one of them."""
    labels, on = ", ".join(alert.labels), ", ".join(item.on)
    value = f"max by ({labels}) ({alert.measure.query})"
    query = without_match(item.query)
    found = f"(0 * {value} + 1) * on ({on}) group_left () max by ({on}) ({query})"
    return f"max by ({labels}) (\n{found}\n) or 0 * {value} - 1"


def _query(name: str, expression: str, datasource: str) -> dict[str, Any]:
    return {
        "refId": name,
        "relativeTimeRange": {"from": _LOOK_BACK_SECONDS, "to": 0},
        "datasourceUid": datasource,
        "model": {
            "refId": name,
            "datasource": {"type": "prometheus", "uid": datasource},
            "expr": expression,
            "instant": True,
            "range": False,
            "intervalMs": 1000,
            "maxDataPoints": 43200,
        },
    }


def _threshold(alert: Alert, settings: Settings) -> dict[str, Any]:
    measure = alert.measure
    below, threshold = measure.comparison == "<", measure.threshold
    condition: dict[str, Any] = {
        "evaluator": {"type": "lt" if below else "gt", "params": [threshold]}
    }
    # States (0 or 1) and counts above none have no middle to swing in.
    if measure.unit in {"share", "seconds", "per_second"}:
        margin = settings.grafana.hysteresis * threshold
        good = round(threshold + margin if below else threshold - margin, 6)
        condition["unloadEvaluator"] = {"type": "gt" if below else "lt", "params": [good]}
    return {
        "refId": CONDITION,
        "relativeTimeRange": {"from": 0, "to": 0},
        "datasourceUid": "__expr__",
        "model": {
            "refId": CONDITION,
            "datasource": dict(_EXPRESSION),
            "type": "threshold",
            "expression": VALUE,
            "conditions": [condition],
        },
    }


class _Writer:
    """Grafana's templates: other queries are steps of the rule."""

    def value(self, alert: Alert) -> str:
        function, suffix = FORMAT[alert.measure.unit]
        return f"{{{{ $values.{VALUE}.Value | {function} }}}}{suffix}"

    def label(self, name: str) -> str:
        return label_template(name)

    def lookup(self, alert: Alert, name: str, lookup: Lookup) -> str:  # noqa: ARG002
        if lookup.label is not None:
            return f"({lookup.label}: see the dashboard)"
        function, suffix = FORMAT[lookup.show]
        value = f"$values.{name}.Value"
        return (
            f"{{{{ if ge {value} 0.0 }}}}{{{{ {value} | {function} }}}}{suffix}"
            f"{{{{ else }}}}{lookup.missing}{{{{ end }}}}"
        )

    def finding(self, alert: Alert, name: str, finding: Finding, sentence: str) -> str:  # noqa: ARG002
        return f"{{{{ if gt $values.{name}.Value 0.0 }}}}{sentence}{{{{ end }}}}"
