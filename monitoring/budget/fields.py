"""The values of a ``config.json``, each looked at before it is used."""

from __future__ import annotations

import json
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from exporter.parameters import shown

MOST_BYTES = 16 * 1024 * 1024
"""Largest file that is read; a real one has some kB."""

MOST = 1_000_000_000
"""Largest number that is believed: no model has such a width, and counts of layers are lists."""

MOST_LAYERS = 10_000


class ArchitectureError(ValueError):
    """A ``config.json`` cannot be used; the message is one line that says why."""


class Fields:
    """An object of the file."""

    def __init__(self, values: Mapping[str, Any], prefix: str = "") -> None:
        """Take its values, and what its keys are called after, as in ``vision_config.``."""
        self._values = values
        self._prefix = prefix

    def whole(self, key: str, most: int = MOST) -> int:
        """Return the whole number above 0 at ``key``, else raise an `ArchitectureError`."""
        value = self._values.get(key)
        if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
            raise self._error(key, "must be a whole number above 0", value)
        if value > most:
            raise ArchitectureError(f"{self._prefix}{key} is above {most}: is the file right?")
        return value

    def whole_or(self, key: str, default: int) -> int:
        """Return the same, or ``default`` where there is none: absent, null or 0."""
        value = self._values.get(key)
        if value is None or (isinstance(value, int) and value == 0):
            return default
        return self.whole(key)

    def flag(self, key: str, *, default: bool = False) -> bool:
        """Return the truth value at ``key``, or ``default`` where there is none."""
        value = self._values.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self._error(key, "must be true or false", value)
        return value

    def texts(self, key: str) -> list[str]:
        """Return the list of texts at ``key``, empty where there is none."""
        value = self._values.get(key)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self._error(key, "must be a list of texts", value)
        return value

    def text(self, key: str) -> str:
        """Return the text at ``key``, empty where there is none."""
        value = self._values.get(key)
        return value if isinstance(value, str) else ""

    def part(self, key: str) -> Fields | None:
        """Return the object at ``key``, None where there is none."""
        value = self._values.get(key)
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise self._error(key, "must be an object", value)
        return Fields(value, f"{self._prefix}{key}.") if value else None

    def has(self, key: str) -> bool:
        """Tell whether there is something other than null, false, 0 or nothing at ``key``."""
        return bool(self._values.get(key))

    def _error(self, key: str, wanted: str, value: object) -> ArchitectureError:
        if value is None:
            return ArchitectureError(f"{self._prefix}{key} {wanted}, and is missing")
        said = json.dumps(value) if isinstance(value, bool | int | float | str) else _kind(value)
        return ArchitectureError(f"{self._prefix}{key} {wanted}, not {said[:40]}")


def read_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file.

    Raises:
        ArchitectureError: The file cannot be read, or holds something else.
    """
    try:
        # Opening a pipe would wait for its writer.
        if not stat.S_ISREG(path.stat().st_mode):
            raise ArchitectureError(f"{path} is not a file")
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise ArchitectureError(f"{path} cannot be read: {error.strerror}") from None
    if len(content) > MOST_BYTES:
        raise ArchitectureError(f"{path} has more than 16 MiB: is it a config.json?")
    try:
        found = json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise ArchitectureError(f"{path} is no UTF-8 text: is it a config.json?") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise ArchitectureError(f"{path} is no JSON: {where}: {error.msg}") from None
    except RecursionError:
        raise ArchitectureError(f"{path} is nested too deeply: is it a config.json?") from None
    except ValueError:  # an integer of more digits than Python reads
        raise ArchitectureError(f"{path} holds a number that is too long") from None
    if not isinstance(found, dict):
        raise ArchitectureError(f"{path} must hold an object, not {_kind(found)}")
    return found


def _kind(value: object) -> str:
    if isinstance(value, list):
        return "a list"
    return "an object" if isinstance(value, dict) else shown(value)
