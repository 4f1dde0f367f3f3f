"""Alertmanager's configuration, from the settings: who is told of what, when, and what is muted.

Matchers are in the strict UTF-8 form: start Alertmanager with
``--enable-feature=utf8-strict-mode``.
"""

from __future__ import annotations

from typing import Any

from alerts.delivery import WATCHDOG
from alerts.settings import Settings
from monitoring.alertmanager.inhibition import INHIBITIONS, SAME_ALERT
from monitoring.alertmanager.receivers import KINDS, Section, Surroundings, section

NOBODY = "nobody"
HEARTBEAT = "heartbeat"
QUIET = "quiet-hours"

_GROUP_BY = ("alertname", "job", "drill")
"""One message for all servers, models and GPUs that an alert is about; drills apart."""


def document(settings: Settings, surroundings: Surroundings) -> dict[str, Any]:
    """Return the configuration as plain data."""
    return {
        "global": {"resolve_timeout": "5m"},
        "templates": ["templates/*.tmpl"],
        "route": _routes(settings),
        "receivers": _receivers(settings, surroundings),
        "inhibit_rules": [*(inhibition.rule() for inhibition in INHIBITIONS), SAME_ALERT],
        "time_intervals": [_quiet(settings)],
    }


def needs_relay(settings: Settings) -> bool:
    """Tell whether some receiver is reached through the relay."""
    receivers = settings.notification.receivers
    return any(severities for name, severities in receivers.items() if name.endswith("_relay"))


def _routes(settings: Settings) -> dict[str, Any]:
    timing = settings.notification
    heartbeat = HEARTBEAT if timing.receivers[HEARTBEAT] else NOBODY
    return {
        # Alerts of others, without one of the kit's severities.
        "receiver": "warning",
        "group_by": list(_GROUP_BY),
        "group_wait": str(timing.group_wait),
        "group_interval": str(timing.group_interval),
        "repeat_interval": str(timing.repeat_interval),
        "routes": [
            {
                "matchers": [f'alertname="{WATCHDOG}"'],
                "receiver": heartbeat,
                "group_wait": "0s",
                "group_interval": str(timing.heartbeat),
                "repeat_interval": str(timing.heartbeat),
            },
            {
                "matchers": ['severity="critical"'],
                "receiver": "critical",
                "repeat_interval": str(timing.repeat_critical),
            },
            {"matchers": ['severity="warning"'], "receiver": "warning"},
            {
                "matchers": ['severity="info"'],
                "receiver": "info",
                "repeat_interval": str(timing.repeat_info),
                "mute_time_intervals": [QUIET],
            },
        ],
    }


def _receivers(settings: Settings, surroundings: Surroundings) -> list[dict[str, Any]]:
    receivers = []
    for severity in ("critical", "warning", "info"):
        sections = [
            section(name, settings, surroundings)
            for name, severities in settings.notification.receivers.items()
            if name in KINDS and severity in severities
        ]
        receivers.append({"name": severity, **_grouped(sections)})
    if settings.notification.receivers[HEARTBEAT]:
        url = f"{surroundings.secrets}/heartbeat-url"
        entry = {"url_file": url, "send_resolved": False, "timeout": "10s"}
        receivers.append({"name": HEARTBEAT, "webhook_configs": [entry]})
    else:
        receivers.append({"name": NOBODY})
    return receivers


def _grouped(sections: list[Section]) -> dict[str, list[dict[str, Any]]]:
    grouped: dict[str, list[dict[str, Any]]] = {}
    for key, entry in sections:
        grouped.setdefault(key, []).append(entry)
    return grouped


def _quiet(settings: Settings) -> dict[str, Any]:
    quiet, zone = settings.notification.quiet, settings.notification.time_zone
    night = [{"start_time": quiet.start, "end_time": "24:00"}] if quiet.start != "00:00" else []
    morning = [{"start_time": "00:00", "end_time": quiet.end}] if quiet.end != "00:00" else []
    intervals: list[dict[str, Any]] = [{"times": [*night, *morning], "location": zone}]
    if quiet.weekdays:
        intervals.append({"weekdays": list(quiet.weekdays), "location": zone})
    return {"name": QUIET, "time_intervals": intervals}
