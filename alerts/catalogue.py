"""All rules of the kit, gathered from the modules by subject."""

from __future__ import annotations

from alerts import cache, memory
from alerts.model import Alert, Group
from alerts.settings import Settings


def groups(settings: Settings) -> tuple[Group, ...]:
    """Return every group of rules, in the order in which they are written."""
    return (cache.group(settings), memory.group(settings))


def alerts(settings: Settings) -> tuple[Alert, ...]:
    """Return every alert, in the order in which they are written."""
    return tuple(alert for group in groups(settings) for alert in group.alerts)
