"""The kit's settings: defaults from ``settings.yml``, a user's file merged over them.

What is wrong in a user's file is told by one line with the key's full name: a key that does not
exist, a value of the wrong type, a value that cannot work.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints
from urllib.parse import urlsplit

import yaml

from alerts.duration import Duration

DEFAULTS = Path(__file__).with_name("settings.yml")

Severity = Literal["critical", "warning", "info"]

_MIN_SAMPLES_PER_WINDOW = 2


class SettingsError(ValueError):
    """A settings file cannot be used; the message is one line that says what to change."""


@dataclass(frozen=True)
class Intervals:
    """How often Prometheus scrapes targets and evaluates rules."""

    scrape: Duration
    evaluation: Duration


@dataclass(frozen=True)
class HitRate:
    """Hit rates (0..1) at which the cache counts as good, low and broken."""

    good: float
    low: float
    broken: float


@dataclass(frozen=True)
class Cache:
    """Prefix cache: the rate's window, its thresholds, and the alert on it."""

    window: Duration
    hit_rate: HitRate
    low_for: Duration
    low_severity: Severity


@dataclass(frozen=True)
class MemoryUsage:
    """Shares of a GPU's usable memory (0..1) that count as elevated and high."""

    elevated: float
    high: float


@dataclass(frozen=True)
class Memory:
    """GPU memory: thresholds and the alert on them."""

    usage: MemoryUsage
    high_for: Duration
    high_severity: Severity


@dataclass(frozen=True)
class Notification:
    """Alertmanager's timing."""

    group_wait: Duration
    group_interval: Duration
    repeat_interval: Duration


@dataclass(frozen=True)
class Links:
    """URL prefixes, without a slash at the end, as a reader of a notification reaches them."""

    grafana: str
    prometheus: str
    runbooks: str


@dataclass(frozen=True)
class Settings:
    """All settings; see ``settings.yml`` for the meaning of each."""

    intervals: Intervals
    cache: Cache
    memory: Memory
    notification: Notification
    links: Links


def load(path: Path | None = None) -> Settings:
    """Return the defaults, or the defaults with the file at ``path`` merged over them.

    Raises:
        SettingsError: If a file cannot be read, or holds an unknown key, a value of the wrong type
            or values that cannot work together.
    """
    values = _read(DEFAULTS)
    origin = DEFAULTS.name
    if path is not None:
        origin = str(path)
        values = _merged(values, _read(path), origin, "")
    try:
        settings: Settings = _build(Settings, values, "")
        _check(settings)
    except SettingsError as error:
        raise SettingsError(f"{origin}: {error}") from None
    return settings


def _read(path: Path) -> dict[str, Any]:
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise SettingsError(f"{path}: is not YAML: {reason}") from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise SettingsError(f"{path}: must hold keys such as `cache:`, not a bare value")
    return content


def _merged(
    base: Mapping[str, Any], over: Mapping[str, Any], origin: str, prefix: str
) -> dict[str, Any]:
    result = dict(base)
    for key, value in over.items():
        name = f"{prefix}{key}"
        if key not in base:
            known = ", ".join(base)
            raise SettingsError(f"{origin}: unknown key {name}; known here: {known}")
        default = base[key]
        if isinstance(default, dict) and isinstance(value, dict):
            result[key] = _merged(default, value, origin, f"{name}.")
        elif isinstance(default, dict):
            known = ", ".join(default)
            raise SettingsError(f"{origin}: {name} must hold keys ({known}), not {value!r}")
        else:
            result[key] = value
    return result


def _build(kind: Any, value: Any, name: str) -> Any:
    """Turn plain YAML data into ``kind``, following the annotations of the dataclasses."""
    if is_dataclass(kind) and kind is not Duration:
        hints = get_type_hints(kind)
        parts = {
            field.name: _build(hints[field.name], value[field.name], f"{name}.{field.name}")
            for field in fields(kind)
        }
        return kind(**parts)  # type: ignore[operator]
    name = name.removeprefix(".")
    if kind is Duration:
        return _duration(value, name)
    if kind is float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise SettingsError(f"{name} must be a number such as 0.5, not {value!r}")
        return float(value)
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            choices = ", ".join(get_args(kind))
            raise SettingsError(f"{name} must be one of {choices}, not {value!r}")
        return value
    return _url(value, name)


def _duration(value: Any, name: str) -> Duration:
    if not isinstance(value, str):
        raise SettingsError(f"{name} must be a duration such as 15s or 5m, not {value!r}")
    try:
        duration = Duration(value)
    except ValueError as error:
        raise SettingsError(f"{name}: {error}") from None
    if duration.seconds <= 0:
        raise SettingsError(f"{name} must be longer than 0s")
    return duration


def _url(value: Any, name: str) -> str:
    parts = urlsplit(value) if isinstance(value, str) else None
    if parts is None or parts.scheme not in {"http", "https"} or not parts.netloc:
        raise SettingsError(f"{name} must be a URL such as https://example.org/x, not {value!r}")
    return str(value).rstrip("/")


def _check(settings: Settings) -> None:
    """Raise SettingsError for values that Prometheus would take and that could never work."""
    cache, memory, intervals = settings.cache, settings.memory, settings.intervals
    hit_rate = cache.hit_rate
    if not 0 < hit_rate.broken < hit_rate.low < hit_rate.good <= 1:
        raise SettingsError(
            "cache.hit_rate must satisfy 0 < broken < low < good <= 1 (0.5 is 50 %), not "
            f"broken {hit_rate.broken:g}, low {hit_rate.low:g}, good {hit_rate.good:g}"
        )
    if not 0 < memory.usage.elevated < memory.usage.high < 1:
        raise SettingsError(
            "memory.usage must satisfy 0 < elevated < high < 1 (0.9 is 90 %), not "
            f"elevated {memory.usage.elevated:g}, high {memory.usage.high:g}"
        )
    for name, pending in (("cache.low_for", cache.low_for), ("memory.high_for", memory.high_for)):
        if pending.seconds < 2 * intervals.evaluation.seconds:
            raise SettingsError(
                f"{name} is {pending}, but must be at least twice intervals.evaluation "
                f"({intervals.evaluation}): one evaluation alone proves nothing"
            )
    if cache.window.seconds < _MIN_SAMPLES_PER_WINDOW * intervals.scrape.seconds:
        raise SettingsError(
            f"cache.window is {cache.window}, but must be at least twice intervals.scrape "
            f"({intervals.scrape}): a rate needs two samples"
        )
    timing = settings.notification
    if timing.repeat_interval.seconds < timing.group_interval.seconds:
        raise SettingsError(
            f"notification.repeat_interval is {timing.repeat_interval}, but must not be shorter "
            f"than notification.group_interval ({timing.group_interval})"
        )
