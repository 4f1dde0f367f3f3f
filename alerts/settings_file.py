"""From a YAML file to dataclasses: merging, types, and one line for each mistake."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from pathlib import Path
from types import UnionType
from typing import Any, NewType, get_args, get_origin, get_type_hints
from urllib.parse import urlsplit

import yaml

from alerts.duration import Duration

Url = NewType("Url", str)
"""An http or https URL without a slash at the end."""

Selector = NewType("Selector", str)
"""Label matchers of PromQL, without braces: ``job="vllm", team!="x"``."""

_MATCHER = r'[a-zA-Z_]\w*\s*(?:=|!=|=~|!~)\s*"(?:[^"\\]|\\.)*"'
_SELECTOR = re.compile(rf"\s*{_MATCHER}(?:\s*,\s*{_MATCHER})*\s*")


class SettingsError(ValueError):
    """A settings file cannot be used; the message is one line that says what to change."""


def read(path: Path) -> dict[str, Any]:
    """Return the content of a settings file."""
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


def merged(
    base: Mapping[str, Any], over: Mapping[str, Any], origin: str, prefix: str = ""
) -> dict[str, Any]:
    """Return ``base`` with the values of ``over`` in place of its own, at every depth."""
    result = dict(base)
    for key, value in over.items():
        name = f"{prefix}{key}"
        if key not in base:
            near = get_close_matches(str(key), base, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known here: {', '.join(base)}"
            raise SettingsError(f"{origin}: unknown key {name}; {hint}")
        default = base[key]
        if isinstance(default, dict) and isinstance(value, dict):
            result[key] = merged(default, value, origin, f"{name}.")
        elif isinstance(default, dict):
            known = ", ".join(default)
            raise SettingsError(f"{origin}: {name} must hold keys ({known}), not {value!r}")
        else:
            result[key] = value
    return result


def build(kind: Any, value: Any, name: str = "") -> Any:
    """Turn plain YAML data into ``kind``, following the annotations of the dataclasses."""
    if kind in _READERS:
        return _READERS[kind](value, name)
    if isinstance(kind, type) and is_dataclass(kind):
        return _dataclass(kind, value, name)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is tuple:
        return _list(arguments[0], value, name)
    if origin is Mapping:
        return {key: build(arguments[1], item, f"{name}.{key}") for key, item in value.items()}
    if value not in arguments:
        raise SettingsError(f"{name} must be one of {', '.join(arguments)}, not {value!r}")
    return value


def _dataclass(kind: type, value: Mapping[str, Any], name: str) -> Any:
    hints = get_type_hints(kind)
    parts = {}
    for item in fields(kind):
        key = item.metadata.get("key", item.name)
        parts[item.name] = build(hints[item.name], value[key], f"{name}.{key}".lstrip("."))
    return kind(**parts)


def _duration(value: Any, name: str) -> Duration:
    if not isinstance(value, str):
        raise SettingsError(f"{name} must be a duration such as 15s or 5m, not {value!r}")
    try:
        duration = Duration(value)
    except ValueError as error:
        raise SettingsError(f"{name}: {error}") from None
    if duration.seconds <= 0 and not name.endswith("keep_firing_for"):
        raise SettingsError(f"{name} must be longer than 0s")
    return duration


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise SettingsError(f"{name} must be a number such as 0.5, not {value!r}")
    return float(value)


def _url(value: Any, name: str) -> str:
    parts = urlsplit(value) if isinstance(value, str) else None
    if parts is None or parts.scheme not in {"http", "https"} or not parts.netloc:
        raise SettingsError(f"{name} must be a URL such as https://example.org/x, not {value!r}")
    return str(value).rstrip("/")


def _selector(value: Any, name: str) -> str:
    if not isinstance(value, str) or _SELECTOR.fullmatch(value) is None:
        raise SettingsError(f'{name} must be label matchers such as job="vllm", not {value!r}')
    return value.strip()


def _list(element: type | UnionType, value: Any, name: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise SettingsError(f"{name} must be a list such as [a, b], not {value!r}")
    return tuple(build(element, item, name) for item in value)


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise SettingsError(f"{name} must be a text, not {value!r}; put it in quotes")
    return value


_READERS: dict[Any, Callable[[Any, str], Any]] = {
    Duration: _duration,
    float: _number,
    Url: _url,
    Selector: _selector,
    str: _text,
}
