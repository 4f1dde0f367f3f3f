"""All rules of the kit, gathered from the modules by subject."""

from __future__ import annotations

from dataclasses import replace

from alerts import cache, memory, monitoring, service
from alerts.model import Alert, Group
from alerts.settings import Settings


def groups(settings: Settings) -> tuple[Group, ...]:
    """Return every group of rules, in the order in which they are written.

    Alerts under ``switched_off`` are left out.
    """
    written = (
        cache.group(settings),
        memory.group(settings),
        service.group(settings),
        monitoring.group(settings),
    )
    return tuple(
        replace(
            group,
            alerts=tuple(
                alert for alert in group.alerts if alert.name not in settings.switched_off
            ),
        )
        for group in written
    )


def alerts(settings: Settings) -> tuple[Alert, ...]:
    """Return every alert, in the order in which they are written."""
    return tuple(alert for group in groups(settings) for alert in group.alerts)
