"""Renders the catalogue as a rule file of Prometheus."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import yaml

from alerts.model import Alert, Group, Lookup, RecordingRule, Unit
from alerts.settings import Settings

_HEADER = "# Written by `python -m alerts build` from alerts/*.py and the settings; do not edit.\n"

_FORMAT: dict[Unit, tuple[str, str]] = {
    "share": ("humanizePercentage", ""),
    "bytes": ("humanize1024", "B"),
}
"""Template function and what follows its result, by unit."""


def render(groups: Iterable[Group], settings: Settings) -> str:
    """Return the text of the rule file."""
    document = {
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
    body = yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=math.inf)
    return _HEADER + body


def _recording(rule: RecordingRule) -> dict[str, Any]:
    return {"record": rule.record, "expr": rule.query}


def _alerting(alert: Alert, settings: Settings) -> dict[str, Any]:
    placeholders = _placeholders(alert)
    links = settings.links
    return {
        "alert": alert.name,
        "expr": alert.condition,
        "for": str(alert.pending),
        "labels": {"severity": alert.severity},
        "annotations": {
            "summary": alert.summary,
            "description": alert.description.format_map(placeholders),
            "runbook_url": f"{links.runbooks}/{alert.name}.md",
            "dashboard_url": _dashboard_url(alert, links.grafana),
        },
    }


def _placeholders(alert: Alert) -> dict[str, str]:
    function, suffix = _FORMAT[alert.unit]
    return {
        "value": f"{{{{ $value | {function} }}}}{suffix}",
        **{label: f"{{{{ $labels.{label} }}}}" for label in alert.labels},
        **{name: _lookup(lookup, lookup.missing) for name, lookup in alert.lookups.items()},
    }


def _lookup(lookup: Lookup, missing: str, *, in_url: bool = False) -> str:
    """Return a template that asks Prometheus at the moment of evaluation."""
    matchers = ",".join(f"{label}=%q" for label in lookup.match)
    arguments = " ".join(f"$labels.{label}" for label in lookup.match)
    query = f'query (printf "{lookup.metric}{{{matchers}}}" {arguments})'
    if lookup.show == "server":
        shown, suffix = f'label "{lookup.show}"', ""
    else:
        function, suffix = _FORMAT[lookup.show]
        shown = f"value | {function}"
    if in_url:
        shown += " | urlquery"
    found = f"{{{{ . | first | {shown} }}}}{suffix}"
    return f"{{{{ with {query} }}}}{found}{{{{ else }}}}{missing}{{{{ end }}}}"


def _dashboard_url(alert: Alert, grafana: str) -> str:
    panel = alert.panel
    parameters = [f"viewPanel={panel.panel_id}"]
    for variable, placeholder in panel.variables.items():
        if placeholder in alert.lookups:
            value = _lookup(alert.lookups[placeholder], "$__all", in_url=True)
        else:
            value = f"{{{{ $labels.{placeholder} | urlquery }}}}"
        parameters.append(f"var-{variable}={value}")
    return f"{grafana}/d/{panel.dashboard_uid}?{'&'.join(parameters)}"


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks, so that the file reads like the alerts."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002
        super().increase_indent(flow, indentless=False)


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style="|" if "\n" in text else None
    )


_Dumper.add_representer(str, _represent_text)
