"""Values that are of the right type and could still never work."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING
from zoneinfo import available_timezones

from alerts.settings_file import SettingsError

if TYPE_CHECKING:
    from alerts.settings import Settings

_SAMPLES_PER_RATE = 2
_HOST_PORT = re.compile(r"\S+:[0-9]{1,5}")
_CLOCK = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]")


def check(settings: Settings) -> None:
    """Raise SettingsError for the first value that Prometheus would take to no good."""
    _thresholds(settings)
    _durations(settings)
    _names(settings)
    _notification(settings)


def _thresholds(settings: Settings) -> None:
    hit_rate, usage = settings.cache.hit_rate, settings.memory.usage
    if not 0 < hit_rate.broken < hit_rate.low < hit_rate.good <= 1:
        raise SettingsError(
            "cache.hit_rate must satisfy 0 < broken < low < good <= 1 (0.5 is 50 %), not "
            f"broken {hit_rate.broken:g}, low {hit_rate.low:g}, good {hit_rate.good:g}",
            "cache.hit_rate",
        )
    if not 0 < usage.elevated < usage.high < 1:
        raise SettingsError(
            "memory.usage must satisfy 0 < elevated < high < 1 (0.9 is 90 %), not "
            f"elevated {usage.elevated:g}, high {usage.high:g}",
            "memory.usage",
        )
    shares = {
        "memory.above_limit": settings.memory.above_limit,
        "memory.kv_cache_usage": settings.memory.kv_cache_usage,
        "service.error_share": settings.service.error_share,
        "monitoring.delivery_error_share": settings.monitoring.delivery_error_share,
        "grafana.hysteresis": settings.grafana.hysteresis,
    }
    for name, share in shares.items():
        if not 0 < share < 1:
            raise SettingsError(
                f"{name} is a share between 0 and 1 (0.05 is 5 %), not {share:g}", name
            )
    amounts = {
        "cache.minimum_tokens": settings.cache.minimum_tokens,
        "cache.short_prompt_tokens": settings.cache.short_prompt_tokens,
        "memory.growth_bytes": settings.memory.growth_bytes,
        "memory.preemptions_per_second": settings.memory.preemptions_per_second,
        "service.waiting_requests": settings.service.waiting_requests,
        "service.time_to_first_token_seconds": settings.service.time_to_first_token_seconds,
        "service.minimum_requests": settings.service.minimum_requests,
    }
    for name, amount in amounts.items():
        if not 0 < amount < math.inf:
            raise SettingsError(f"{name} must be a number above 0, not {amount:g}", name)


def _durations(settings: Settings) -> None:
    evaluation, scrape = settings.intervals.evaluation, settings.intervals.scrape
    for name, terms in settings.alerts.items():
        if terms.pending.seconds < 2 * evaluation.seconds:
            raise SettingsError(
                f"alerts.{name}.for is {terms.pending}, but must be at least twice "
                f"intervals.evaluation ({evaluation}): one evaluation alone proves nothing",
                f"alerts.{name}.for",
            )
    for name, window in (
        ("cache.window", settings.cache.window),
        ("service.window", settings.service.window),
        ("service.stalled_window", settings.service.stalled_window),
    ):
        if window.seconds < _SAMPLES_PER_RATE * scrape.seconds:
            raise SettingsError(
                f"{name} is {window}, but must be at least twice intervals.scrape ({scrape}): "
                "a rate needs two samples",
                name,
            )
    remembered = settings.monitoring.remembered_for
    for name in ("VLLMServerVanished", "VLLMGPUNotReported"):
        if remembered.seconds <= settings.alerts[name].pending.seconds:
            raise SettingsError(
                f"monitoring.remembered_for is {remembered}, but must be longer than "
                f"alerts.{name}.for ({settings.alerts[name].pending}), or the alert can never fire"
            )


def _names(settings: Settings) -> None:
    unknown = [name for name in settings.switched_off if name not in settings.alerts]
    if unknown:
        raise SettingsError(
            f"switched_off names {unknown[0]}, which is no alert under alerts:", "switched_off"
        )
    for name, terms in settings.alerts.items():
        if terms.severity == "none":
            raise SettingsError(
                f"alerts.{name}.severity must be one of critical, warning, info",
                f"alerts.{name}.severity",
            )
    for key, text in (
        ("grafana.datasource", settings.grafana.datasource),
        ("grafana.folder", settings.grafana.folder),
    ):
        if not text.strip():
            raise SettingsError(f"{key} is empty: write a name", key)


def _notification(settings: Settings) -> None:
    timing = settings.notification
    for name, repeat in (
        ("repeat_interval", timing.repeat_interval),
        ("repeat_critical", timing.repeat_critical),
        ("repeat_info", timing.repeat_info),
    ):
        if repeat.seconds < timing.group_interval.seconds:
            raise SettingsError(
                f"notification.{name} is {repeat}, but must not be shorter than "
                f"notification.group_interval ({timing.group_interval})",
                f"notification.{name}",
            )
    if not any(
        "critical" in severities
        for name, severities in timing.receivers.items()
        if name != "heartbeat"
    ):
        raise SettingsError(
            "notification.receivers tells nobody of critical alerts; add critical to one of them"
        )
    if timing.receivers["email"]:
        for key, text in (
            ("to", timing.email.to),
            ("from", timing.email.sender),
            ("smarthost", timing.email.smarthost),
        ):
            if not text:
                name = f"notification.email.{key}"
                raise SettingsError(f"{name} must be set to send e-mail", name)
        if _HOST_PORT.fullmatch(timing.email.smarthost) is None:
            name = "notification.email.smarthost"
            raise SettingsError(f"{name} must be host:port, such as mail.example.org:587", name)
    # Where this machine has no list of zones, Alertmanager judges the name.
    zones = available_timezones()
    if zones and timing.time_zone not in zones:
        raise SettingsError(
            "notification.time_zone must be a name such as UTC or Asia/Shanghai, not "
            f"{timing.time_zone!r}",
            "notification.time_zone",
        )
    for key, clock in (("from", timing.quiet.start), ("to", timing.quiet.end)):
        if _CLOCK.fullmatch(clock) is None:
            name = f"notification.quiet.{key}"
            raise SettingsError(f'{name} must be a time such as "20:00"', name)
