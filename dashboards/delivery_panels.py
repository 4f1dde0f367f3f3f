"""Panels on the way from rule to reader: Prometheus' rules, Alertmanager's notifications."""

from __future__ import annotations

from alerts.settings import Settings
from dashboards import metrics
from dashboards.elements import (
    NONE_IS_BAD,
    NOT_REPORTED,
    SOME_IS_BAD,
    YES_NO,
    Look,
    Query,
    Size,
    Step,
)
from dashboards.layer import Panel, stat, time_series
from dashboards.promql import PROGRAMS, by, rate
from dashboards.target_panels import TARGET, TARGET_LEGEND, of_target

_TILE = Size(4, 4)
_HALF = Size(12, 9)
_YES_NO = Look("short", no_value=NOT_REPORTED, words=YES_NO)


def alerts_now(expr: str) -> Panel:
    """Count the alerts that fire."""
    return stat(
        2,
        "Firing alerts",
        "Alerts of this kit that fire now, in Prometheus. If none was notified, look at the "
        "notifications below.",
        _TILE,
        [Query(expr, "alerts")],
        Look("short", SOME_IS_BAD, decimals=0),
    )


def rule_failures_now() -> Panel:
    """Show whether rules fail."""
    failures = by(TARGET, "sum", _increase(metrics.RULE_EVALUATION_FAILURES))
    return stat(
        3,
        "Rule failures",
        "Evaluations of rules that failed of late. Not 0: alerts are blind; Prometheus' log and "
        "its page of rules say which and why.",
        _TILE,
        [Query(failures, TARGET_LEGEND)],
        Look("short", SOME_IS_BAD, decimals=0, no_value=NOT_REPORTED),
    )


def alertmanagers_now() -> Panel:
    """Show whether Prometheus has anybody to tell."""
    return stat(
        4,
        "Alertmanagers",
        "Alertmanagers that Prometheus sends alerts to. 0: nobody is told of anything; see "
        "targets/alertmanager.yml.",
        _TILE,
        [of_target(metrics.ALERTMANAGERS_DISCOVERED)],
        Look("short", NONE_IS_BAD, decimals=0, no_value=NOT_REPORTED),
    )


def prometheus_configuration() -> Panel:
    """Show whether Prometheus works with the files that are there."""
    return stat(
        5,
        "Prometheus config",
        "Whether Prometheus could read its configuration last time. No: it goes on with the one "
        "before; its log says what is wrong, promtool check config too.",
        _TILE,
        [of_target(metrics.PROMETHEUS_RELOAD, "min")],
        _YES_NO,
    )


def alertmanager_configuration() -> Panel:
    """Show whether Alertmanager works with the files that are there."""
    return stat(
        6,
        "Alertmanager config",
        "Whether Alertmanager could read its configuration last time. No: it goes on with the one "
        "before; its log says what is wrong, amtool check-config too.",
        Size(5, 4),
        [of_target(metrics.ALERTMANAGER_RELOAD, "min")],
        _YES_NO,
    )


def rule_durations(settings: Settings) -> Panel:
    """Show whether rules keep pace."""
    interval = settings.intervals.evaluation
    return time_series(
        31,
        "Duration of rule groups",
        "How long the last evaluation of each group of rules took. At the line, the interval of "
        f"evaluation ({interval}), evaluations are missed and alerts come late.",
        _HALF,
        [
            Query(
                _named(by(("rule_group",), "max", PROGRAMS.select(metrics.RULE_GROUP_DURATION))),
                "{{rule_group}}",
            )
        ],
        Look("s", (Step("green"), Step("red", interval.seconds)), no_value=NOT_REPORTED),
    )


def rule_failures() -> Panel:
    """Show which rules fail or are missed."""
    labels = ("rule_group",)
    failed = _named(by(labels, "sum", _increase(metrics.RULE_EVALUATION_FAILURES)))
    missed = _named(by(labels, "sum", _increase(metrics.RULE_GROUP_MISSED)))
    return time_series(
        32,
        "Rules failed and missed",
        "Evaluations that failed, and those that were left out because the one before had not "
        "ended. Both should be 0: otherwise alerts are blind; see Prometheus' log.",
        _HALF,
        [Query(failed, "failed {{rule_group}}"), Query(missed, "missed {{rule_group}}")],
        Look("short", (Step("green"), Step("red", 1)), no_value=NOT_REPORTED, soft_maximum=2),
    )


def notifications() -> Panel:
    """Show whether alerts reach Alertmanager."""
    to = ("alertmanager",)
    return time_series(
        33,
        "Alerts sent to Alertmanager, per second",
        "Alerts that Prometheus sent, those that failed and those that it gave up. Failed or "
        "given up: Alertmanager is down, or its address in targets/alertmanager.yml is wrong.",
        _HALF,
        [
            Query(rate(PROGRAMS, metrics.NOTIFICATIONS_SENT, to), "sent to {{alertmanager}}"),
            Query(rate(PROGRAMS, metrics.NOTIFICATIONS_ERRORS, to), "failed at {{alertmanager}}"),
            Query(
                rate(PROGRAMS, metrics.NOTIFICATIONS_DROPPED, TARGET), "given up by {{instance}}"
            ),
        ],
        Look("short", no_value=NOT_REPORTED),
    )


def messages() -> Panel:
    """Show whether Alertmanager reaches people."""
    labels = ("integration",)
    some = "> 0"
    failed = rate(PROGRAMS, metrics.MESSAGES_FAILED, labels)
    sent = rate(PROGRAMS, metrics.MESSAGES, labels)
    return time_series(
        34,
        "Notifications, per second",
        "Notifications that Alertmanager tried to deliver, by kind of receiver, and those that "
        "failed. Failed: a wrong URL or secret, or the receiver is down; Alertmanager's log says "
        "which. Kinds that are not used are left out.",
        _HALF,
        [
            Query(f"{sent} {some}", "tried, {{integration}}"),
            Query(f"{failed} and {sent} {some}", "failed, {{integration}}"),
        ],
        Look("short", no_value="No notifications"),
    )


def alertmanager_alerts() -> Panel:
    """Show what Alertmanager knows."""
    return time_series(
        43,
        "Alerts in Alertmanager",
        "Alerts that Alertmanager knows, by state. Suppressed ones are silenced or inhibited: "
        "many of them for long is a silence that was forgotten.",
        Size(8, 9),
        [Query(by(("state",), "max", PROGRAMS.select(metrics.ALERTMANAGER_ALERTS)), "{{state}}")],
        Look("short", no_value=NOT_REPORTED),
    )


def _named(by_rule_group: str) -> str:
    """Shorten Prometheus' name of a group, FILE;NAME, to the name."""
    return f'label_replace({by_rule_group}, "rule_group", "$1", "rule_group", ".*;(.+)")'


def _increase(counter: metrics.Metric) -> str:
    return f"increase({PROGRAMS.select(counter)}[$__rate_interval])"
