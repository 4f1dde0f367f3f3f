"""Panels on the programs that watch: scrapes, Prometheus, Alertmanager."""

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
from dashboards.layer import Panel, stat, state_timeline, time_series
from dashboards.promql import PROGRAMS, by, rate

_TARGET = ("job", "instance")
_TARGET_LEGEND = "{{job}} {{instance}}"
_TILE = Size(4, 4)
_HALF = Size(12, 9)
_THIRD = Size(8, 9)
_COUNT = Look("short", no_value=NOT_REPORTED)
_SECONDS = Look("s", no_value=NOT_REPORTED)
_YES_NO = Look("short", no_value=NOT_REPORTED, words=YES_NO)


def down_now() -> Panel:
    """Count the programs that do not answer Prometheus."""
    return stat(
        1,
        "Targets down",
        "Programs whose page Prometheus cannot read. Below is which; Prometheus' page of targets "
        "says why. An exporter that is down means that its servers' figures stand still.",
        _TILE,
        [Query(f"count({PROGRAMS.select(metrics.TARGET_UP)} == 0) or vector(0)", "targets")],
        Look("short", SOME_IS_BAD, decimals=0),
    )


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
    failures = by(_TARGET, "sum", _increase(metrics.RULE_EVALUATION_FAILURES))
    return stat(
        3,
        "Rule failures",
        "Evaluations of rules that failed of late. Not 0: alerts are blind; Prometheus' log and "
        "its page of rules say which and why.",
        _TILE,
        [Query(failures, _TARGET_LEGEND)],
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
        [
            Query(
                by(_TARGET, "max", PROGRAMS.select(metrics.ALERTMANAGERS_DISCOVERED)),
                _TARGET_LEGEND,
            )
        ],
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
        [Query(by(_TARGET, "min", PROGRAMS.select(metrics.PROMETHEUS_RELOAD)), _TARGET_LEGEND)],
        _YES_NO,
    )


def alertmanager_configuration() -> Panel:
    """Show whether Alertmanager works with the files that are there."""
    return stat(
        6,
        "Alertmanager config",
        "Whether Alertmanager could read its configuration last time. No: it goes on with the one "
        "before; its log says what is wrong, amtool check-config too.",
        _TILE,
        [Query(by(_TARGET, "min", PROGRAMS.select(metrics.ALERTMANAGER_RELOAD)), _TARGET_LEGEND)],
        _YES_NO,
    )


def targets_up() -> Panel:
    """Show when which program answered."""
    return state_timeline(
        11,
        "Targets up",
        "When Prometheus could read which program's page. A gap is a time at which Prometheus "
        "itself did not run, or did not know the target.",
        Size(24, 8),
        [Query(by(_TARGET, "max", PROGRAMS.select(metrics.TARGET_UP)), _TARGET_LEGEND)],
        Look("short", no_value=NOT_REPORTED, words={0: ("down", "red"), 1: ("up", "green")}),
    )


def scrape_durations(settings: Settings) -> Panel:
    """Show how long the reading of pages takes."""
    return time_series(
        12,
        "Duration of scrapes",
        f"How long Prometheus takes for a page, every {settings.intervals.scrape}. Near 10 s "
        "scrapes are given up and the figures have gaps: a loaded server answers late, or there "
        "are too many series.",
        _HALF,
        [Query(by(_TARGET, "max", PROGRAMS.select(metrics.SCRAPE_DURATION)), _TARGET_LEGEND)],
        _SECONDS,
    )


def scraped_samples() -> Panel:
    """Show how large the pages are."""
    return time_series(
        13,
        "Samples per scrape",
        "How many series each page has. A climb without end is a label that takes ever new "
        "values; past its limit Prometheus drops the page.",
        _HALF,
        [Query(by(_TARGET, "max", PROGRAMS.select(metrics.SCRAPE_SAMPLES)), _TARGET_LEGEND)],
        _COUNT,
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
                rate(PROGRAMS, metrics.NOTIFICATIONS_DROPPED, _TARGET), "given up by {{instance}}"
            ),
        ],
        _COUNT,
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


def prometheus_series() -> Panel:
    """Show what Prometheus holds."""
    return time_series(
        41,
        "Series in Prometheus",
        "Series that Prometheus holds in memory now. It needs some KiB for each; a climb without "
        "end is a label that takes ever new values.",
        _THIRD,
        [Query(by(_TARGET, "max", PROGRAMS.select(metrics.PROMETHEUS_SERIES)), _TARGET_LEGEND)],
        _COUNT,
    )


def memory() -> Panel:
    """Show the memory of the watching programs."""
    return time_series(
        42,
        "Memory of the programs",
        "Main memory that each program holds, vLLM's API server included (not its engine). An "
        "unlimited climb ends in the kernel's killing the program.",
        _THIRD,
        [Query(by(_TARGET, "max", PROGRAMS.select(metrics.PROMETHEUS_MEMORY)), _TARGET_LEGEND)],
        Look("bytes", no_value=NOT_REPORTED),
    )


def alertmanager_alerts() -> Panel:
    """Show what Alertmanager knows."""
    return time_series(
        43,
        "Alerts in Alertmanager",
        "Alerts that Alertmanager knows, by state. Suppressed ones are silenced or inhibited: "
        "many of them for long is a silence that was forgotten.",
        _THIRD,
        [Query(by(("state",), "max", PROGRAMS.select(metrics.ALERTMANAGER_ALERTS)), "{{state}}")],
        _COUNT,
    )


def _named(by_rule_group: str) -> str:
    """Shorten Prometheus' name of a group, FILE;NAME, to the name."""
    return f'label_replace({by_rule_group}, "rule_group", "$1", "rule_group", ".*;(.+)")'


def _increase(counter: metrics.Metric) -> str:
    return f"increase({PROGRAMS.select(counter)}[$__rate_interval])"
