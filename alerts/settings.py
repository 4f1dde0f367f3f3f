"""The kit's settings: defaults from ``settings.yml``, a user's file merged over them.

What is wrong in a user's file is told by one line with the key's full name: a key that does not
exist, a value of the wrong type, a value that cannot work.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from alerts.duration import Duration
from alerts.settings_checks import check
from alerts.settings_file import Selector, SettingsError, Url, build, line, merged, read

__all__ = ["DEFAULTS", "Settings", "SettingsError", "Severity", "load"]

DEFAULTS = Path(__file__).with_name("settings.yml")

Severity = Literal["critical", "warning", "info", "none"]
"""``critical``: act now. ``warning``: act soon. ``info``: know. ``none``: for machines only."""

Language = Literal["en", "zh"]

Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


@dataclass(frozen=True)
class Intervals:
    """How often Prometheus scrapes targets and evaluates rules."""

    scrape: Duration
    evaluation: Duration


@dataclass(frozen=True)
class Selectors:
    """Label matchers, as they stand between braces, of each kind of target."""

    servers: Selector
    exporters: Selector
    prometheus: Selector
    alertmanager: Selector


@dataclass(frozen=True)
class HitRate:
    """Hit rates (0..1) at which the cache counts as good, low and broken."""

    good: float
    low: float
    broken: float


@dataclass(frozen=True)
class Cache:
    """Prefix cache: the rate's window, its thresholds, and when the rate means nothing."""

    window: Duration
    hit_rate: HitRate
    minimum_tokens: float
    warm_up: Duration
    exempt_models: tuple[str, ...]
    short_prompt_tokens: float


@dataclass(frozen=True)
class MemoryUsage:
    """Shares of a GPU's usable memory (0..1) that count as elevated and high."""

    elevated: float
    high: float


@dataclass(frozen=True)
class Memory:
    """GPU memory and KV cache: thresholds."""

    usage: MemoryUsage
    above_limit: float
    growth_bytes: float
    kv_cache_usage: float
    preemptions_per_second: float


@dataclass(frozen=True)
class Service:
    """What users of a server feel: thresholds."""

    window: Duration
    waiting_requests: float
    time_to_first_token_seconds: float
    error_share: float
    minimum_requests: float
    stalled_window: Duration


@dataclass(frozen=True)
class Monitoring:
    """The monitoring of the monitoring: thresholds."""

    remembered_for: Duration
    delivery_error_share: float


@dataclass(frozen=True)
class Terms:
    """When an alert fires and ends, and how grave it is.

    Attributes:
        pending: How long the condition must hold; ``for`` in the file.
        keep_firing: How long the alert stays after the condition last held; ``keep_firing_for``.
        severity: What is expected of the reader.
    """

    pending: Duration = field(metadata={"key": "for"})
    keep_firing: Duration = field(metadata={"key": "keep_firing_for"})
    severity: Severity


@dataclass(frozen=True)
class Languages:
    """Language of notifications."""

    default: Language
    robots: Language


@dataclass(frozen=True)
class Email:
    """Where e-mail goes and what sends it; the password is a secret file."""

    to: str
    sender: str = field(metadata={"key": "from"})
    smarthost: str
    username: str


@dataclass(frozen=True)
class Quiet:
    """When notifications of severity info are held back, in ``Notification.time_zone``."""

    weekdays: tuple[Weekday, ...]
    start: str = field(metadata={"key": "from"})
    end: str = field(metadata={"key": "to"})


@dataclass(frozen=True)
class Notification:
    """Alertmanager's timing, and who is told in what language."""

    group_wait: Duration
    group_interval: Duration
    repeat_interval: Duration
    repeat_critical: Duration
    repeat_info: Duration
    heartbeat: Duration
    receivers: Mapping[str, tuple[Severity, ...]]
    languages: Languages
    email: Email
    time_zone: str
    quiet: Quiet


@dataclass(frozen=True)
class Grafana:
    """What Grafana's copy of the alerts refers to."""

    datasource: str
    folder: str
    hysteresis: float


@dataclass(frozen=True)
class Links:
    """URL prefixes, without a slash at the end, as a reader of a notification reaches them."""

    grafana: Url
    prometheus: Url
    alertmanager: Url
    runbooks: Url


@dataclass(frozen=True)
class Settings:
    """All settings; see ``settings.yml`` for the meaning of each."""

    intervals: Intervals
    selectors: Selectors
    cache: Cache
    memory: Memory
    service: Service
    monitoring: Monitoring
    alerts: Mapping[str, Terms]
    switched_off: tuple[str, ...]
    notification: Notification
    grafana: Grafana
    links: Links


def load(path: Path | None = None) -> Settings:
    """Return the defaults, or the defaults with the file at ``path`` merged over them.

    Raises:
        SettingsError: If a file cannot be read, or holds an unknown key, a value of the wrong type
            or values that cannot work together.
    """
    document = read(path or DEFAULTS)
    try:
        values = document.mapping(())
        if path is not None:
            values = merged(read(DEFAULTS).mapping(()), values)
        settings: Settings = build(Settings, values)
        check(settings)
    except SettingsError as error:
        raise SettingsError(f"{document.name}: {line(document, error.key)}{error}") from None
    return settings
