"""The alerts' texts in Chinese, from ``chinese.yml``.

They name the same placeholders as the English ones. Numbers of the settings stand as
``<threshold>`` and ``<for>``, since that file is not code.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from alerts.model import Alert, Text, number, percent
from alerts.settings import Settings

_FILE = Path(__file__).with_name("chinese.yml")


def text(alert: Alert, settings: Settings) -> Text:
    """Return the alert's text in Chinese.

    Raises:
        KeyError: If ``chinese.yml`` has none.
    """
    words = _words()[alert.name]
    measure = alert.measure
    shown = (percent if measure.unit == "share" else number)(measure.threshold)
    tokens = {
        "<threshold>": shown,
        "<for>": str(alert.terms.pending),
        "<cache window>": str(settings.cache.window),
        "<service window>": str(settings.service.window),
        "<stalled window>": str(settings.service.stalled_window),
        "<remembered>": str(settings.monitoring.remembered_for),
        "<elevated>": percent(settings.memory.usage.elevated),
        "<short>": number(settings.cache.short_prompt_tokens),
    }

    def filled(part: str) -> str:
        for token, value in tokens.items():
            part = part.replace(token, value)
        return part.strip()

    return Text(
        summary=filled(words["summary"]),
        description=filled(words["description"]),
        cause=filled(words["cause"]),
        action=filled(words["action"]),
        findings={name: filled(part) for name, part in words.get("findings", {}).items()},
    )


@cache
def _words() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return content
