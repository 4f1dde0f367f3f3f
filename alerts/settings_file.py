"""From a YAML file to dataclasses: merging, types, and one line for each mistake."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from pathlib import Path
from types import UnionType
from typing import Any, NewType, get_args, get_origin, get_type_hints
from urllib.parse import urlsplit

from alerts.duration import Duration
from exporter.yaml_document import Document, DocumentError, read_document

Url = NewType("Url", str)
"""An http or https URL without a slash at the end."""

Selector = NewType("Selector", str)
"""Label matchers of PromQL, without braces: ``job="vllm", team!="x"``."""

_SHOWN_CHARACTERS = 80
_SHOWN_KEYS = 12

_QUOTING = reprlib.Repr()
_QUOTING.maxstring = _QUOTING.maxother = _SHOWN_CHARACTERS

_MATCHER = r'[a-zA-Z_]\w*\s*(?:=|!=|=~|!~)\s*"(?:[^"\\\n]|\\.)*"'
_SELECTOR = re.compile(rf"\s*{_MATCHER}(?:\s*,\s*{_MATCHER})*\s*")


class SettingsError(ValueError):
    """A settings file cannot be used; the message is one line that says what to change.

    Attributes:
        key: Full name of the setting that is at fault; empty where it is none alone.
    """

    def __init__(self, message: str, key: str = "") -> None:
        super().__init__(" ".join(message.split()))
        self.key = key


def read(path: Path) -> Document:
    """Return the content of a settings file."""
    try:
        document = read_document(path)
        document.mapping(())
    except DocumentError as error:
        raise SettingsError(str(error)) from None
    return document


def line(document: Document, key: str) -> str:
    """Return the beginning of a message with the line of a key; empty if it is not there."""
    path = tuple(key.split("."))
    return f"line {document.line(path)}: " if document.has(path) else ""


def merged(base: Mapping[str, Any], over: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return ``base`` with the values of ``over`` in place of its own, at every depth."""
    result = dict(base)
    for key, value in over.items():
        name = f"{prefix}{key}"
        if key not in base:
            near = get_close_matches(str(key), base, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known here: {_keys(base)}"
            raise SettingsError(f"unknown key {name[:_SHOWN_CHARACTERS]}; {hint}", name)
        default = base[key]
        if isinstance(default, dict) and isinstance(value, dict):
            result[key] = merged(default, value, f"{name}.")
        elif isinstance(default, dict):
            raise SettingsError(
                f"{name} must hold keys ({_keys(default)}), not {_said(value)}", name
            )
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
        raise SettingsError(
            f"{name} must be one of {', '.join(arguments)}, not {_said(value)}", name
        )
    return value


def _keys(known: Mapping[str, Any]) -> str:
    """Return names of keys, the first few where there are many."""
    names = list(known)
    more = f", … ({len(names)} in all)" if len(names) > _SHOWN_KEYS else ""
    return ", ".join(names[:_SHOWN_KEYS]) + more


def _said(value: Any) -> str:
    """Return a value as a message quotes it, cut where it is long."""
    return _QUOTING.repr(value)


def _dataclass(kind: type, value: Mapping[str, Any], name: str) -> Any:
    hints = get_type_hints(kind)
    parts = {}
    for item in fields(kind):
        key = item.metadata.get("key", item.name)
        parts[item.name] = build(hints[item.name], value[key], f"{name}.{key}".lstrip("."))
    return kind(**parts)


def _duration(value: Any, name: str) -> Duration:
    if not isinstance(value, str):
        raise SettingsError(
            f"{name} must be a duration such as 15s or 5m, not {_said(value)}", name
        )
    try:
        duration = Duration(value)
    except ValueError as error:
        raise SettingsError(f"{name}: {error}", name) from None
    if duration.seconds <= 0 and not name.endswith("keep_firing_for"):
        raise SettingsError(f"{name} must be longer than 0s", name)
    return duration


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise SettingsError(f"{name} must be a number such as 0.5, not {_said(value)}", name)
    return float(value)


def _url(value: Any, name: str) -> str:
    try:
        parts = urlsplit(value) if isinstance(value, str) else None
        usable = parts and parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable or len(str(value).split()) != 1:
        raise SettingsError(
            f"{name} must be a URL such as https://example.org/x, not {_said(value)}", name
        )
    return str(value).strip().rstrip("/")


def _selector(value: Any, name: str) -> str:
    if not isinstance(value, str) or _SELECTOR.fullmatch(value) is None:
        raise SettingsError(
            f'{name} must be label matchers such as job="vllm", not {_said(value)}', name
        )
    return value.strip()


def _list(element: type | UnionType, value: Any, name: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise SettingsError(f"{name} must be a list such as [a, b], not {_said(value)}", name)
    return tuple(build(element, item, name) for item in value)


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise SettingsError(f"{name} must be a text, not {_said(value)}; put it in quotes", name)
    return value


_READERS: dict[Any, Callable[[Any, str], Any]] = {
    Duration: _duration,
    float: _number,
    Url: _url,
    Selector: _selector,
    str: _text,
}
