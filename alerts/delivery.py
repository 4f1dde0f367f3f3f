"""Alerts on Prometheus and Alertmanager: what would not be evaluated or not be delivered."""

from __future__ import annotations

from alerts import panels
from alerts.duration import Duration
from alerts.model import Alert, PanelReference, Text, above, missing, percent, present
from alerts.promql import TARGET, by
from alerts.settings import Settings, Terms

WATCHDOG = "Watchdog"
"""Always firing: what receives it alarms when it stays out. Named so by common custom."""

_AT_ONCE = Duration("0s")
_ALWAYS = Terms(pending=_AT_ONCE, keep_firing=_AT_ONCE, severity="none")


def alerts(settings: Settings) -> tuple[Alert, ...]:
    """Return the alerts on the way from rule to reader."""
    return (
        prometheus_reload_failed(settings),
        prometheus_rule_failures(settings),
        prometheus_not_notifying(settings),
        alertmanager_down(settings),
        alertmanager_reload_failed(settings),
        alertmanager_not_delivering(settings),
    )


def watchdog() -> Alert:
    """Fires always, so that silence has a sound."""
    return Alert(
        name=WATCHDOG,
        measure=present("vector(1)"),
        terms=_ALWAYS,
        labels=(),
        text=Text(
            summary="The chain from rule to notification works.",
            description="This alert always fires. If it stops, Prometheus or Alertmanager is dead.",
            cause="None: this is a sign of life.",
            action="Send it to a heartbeat service that alarms when it stays out.",
        ),
        panel=panels.ALERTS_SENT,
    )


def prometheus_reload_failed(settings: Settings) -> Alert:
    """Prometheus runs with an older configuration than the one on disk."""
    return _reload_failed(
        settings,
        "VLLMPrometheusReloadFailed",
        "Prometheus",
        f"prometheus_config_last_reload_successful{{{settings.selectors.prometheus}}}",
        "promtool check config prometheus.yml",
        panels.PROMETHEUS_CONFIGURATION,
    )


def alertmanager_reload_failed(settings: Settings) -> Alert:
    """Alertmanager runs with an older configuration than the one on disk."""
    return _reload_failed(
        settings,
        "VLLMAlertmanagerReloadFailed",
        "Alertmanager",
        f"alertmanager_config_last_reload_successful{{{settings.selectors.alertmanager}}}",
        "amtool check-config alertmanager.yml",
        panels.ALERTMANAGER_CONFIGURATION,
    )


def _reload_failed(
    settings: Settings,
    name: str,
    program: str,
    metric: str,
    command: str,
    panel: PanelReference,
) -> Alert:
    terms = settings.alerts[name]
    return Alert(
        name=name,
        measure=missing(metric),
        terms=terms,
        labels=TARGET,
        text=Text(
            summary=f"{program} refused its new configuration.",
            description=(
                f"{program} {{instance}} has been running with an older configuration than the "
                f"one on disk for {terms.pending}."
            ),
            cause="The configuration on disk has a mistake, or a file that it names is missing.",
            action=f"- Run: {command}\n- {program}'s log names the line.",
        ),
        panel=panel,
    )


def prometheus_rule_failures(settings: Settings) -> Alert:
    """Alerts are not evaluated."""
    terms, window = settings.alerts["VLLMPrometheusRuleFailures"], settings.service.window
    failures = f"prometheus_rule_evaluation_failures_total{{{settings.selectors.prometheus}}}"
    return Alert(
        name="VLLMPrometheusRuleFailures",
        measure=present(by(TARGET, "sum", f"increase({failures}[{window}])")),
        terms=terms,
        labels=TARGET,
        text=Text(
            summary="Prometheus fails to evaluate rules.",
            description=(
                f"Prometheus {{instance}}: {{value}} evaluations of rules failed in the last "
                f"{window}. Alerts may be missing."
            ),
            cause=(
                "A rule meets two series where it expects one: most often the same server or GPU "
                "is scraped twice under the same name."
            ),
            action="- Prometheus' page Alerts > Rules shows the error beside the rule.",
        ),
        panel=panels.RULES_FAILED,
    )


def prometheus_not_notifying(settings: Settings) -> Alert:
    """Alerts fire and do not reach Alertmanager."""
    terms, window = settings.alerts["VLLMPrometheusNotNotifying"], settings.service.window
    share = settings.monitoring.delivery_error_share
    failed = _failed_share(
        settings,
        TARGET,
        settings.selectors.prometheus,
        "prometheus_notifications_errors_total",
        "prometheus_notifications_sent_total",
    )
    return Alert(
        name="VLLMPrometheusNotNotifying",
        measure=above(failed, share, "share"),
        terms=terms,
        labels=TARGET,
        text=Text(
            summary="Prometheus cannot hand alerts to Alertmanager.",
            description=(
                f"Prometheus {{instance}}: {{value}} of the alerts sent to Alertmanager in the "
                f"last {window} failed (above {percent(share)} for {terms.pending})."
            ),
            cause=(
                "Alertmanager is down, unreachable or overloaded. With one Alertmanager this "
                "message may only reach you late; the heartbeat tells at once."
            ),
            action="- Is Alertmanager up? Prometheus' log names the address and the error.",
        ),
        panel=panels.ALERTS_SENT,
    )


def alertmanager_down(settings: Settings) -> Alert:
    """Alertmanager does not answer; where it is the only one, only the heartbeat can tell."""
    terms = settings.alerts["VLLMAlertmanagerDown"]
    return Alert(
        name="VLLMAlertmanagerDown",
        measure=missing(f"up{{{settings.selectors.alertmanager}}}"),
        terms=terms,
        labels=TARGET,
        text=Text(
            summary="An Alertmanager does not answer.",
            description=(
                f"Alertmanager {{instance}} has not been scraped for {terms.pending}. If it is the "
                "only one, no alert is delivered."
            ),
            cause="It is stopped, crashed or unreachable.",
            action=(
                "- Look at its log and start it again.\n"
                "- With one Alertmanager, only a heartbeat service tells of this in time."
            ),
        ),
        panel=panels.TARGETS_UP,
    )


def alertmanager_not_delivering(settings: Settings) -> Alert:
    """Alertmanager's messages do not arrive."""
    terms, window = settings.alerts["VLLMAlertmanagerNotDelivering"], settings.service.window
    share = settings.monitoring.delivery_error_share
    labels = (*TARGET, "integration")
    failed = _failed_share(
        settings,
        labels,
        settings.selectors.alertmanager,
        "alertmanager_notifications_failed_total",
        "alertmanager_notifications_total",
    )
    return Alert(
        name="VLLMAlertmanagerNotDelivering",
        measure=above(failed, share, "share"),
        terms=terms,
        labels=labels,
        text=Text(
            summary="Alertmanager cannot deliver notifications.",
            description=(
                f"Alertmanager {{instance}}: {{value}} of the notifications by {{integration}} in "
                f"the last {window} failed (above {percent(share)} for {terms.pending})."
            ),
            cause="The receiver is down, refuses the secret, or limits the rate of messages.",
            action="- Alertmanager's log names receiver and answer. Check the secret file.",
        ),
        panel=panels.NOTIFICATIONS,
    )


def _failed_share(
    settings: Settings, labels: tuple[str, ...], matchers: str, failed: str, tried: str
) -> str:
    """Return PromQL: the failed share of what was tried within ``service.window``."""
    window = settings.service.window

    def rate(counter: str) -> str:
        return by(labels, "sum", f"rate({counter}{{{matchers}}}[{window}])")

    return f"({rate(failed)} / ({rate(tried)} > 0))"
