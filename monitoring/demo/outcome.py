"""What became of an alert in the story."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from rich.table import Table

from monitoring.notification import AlertNotice, Notification


@dataclass(frozen=True)
class Delivery:
    """One alert as it was told.

    Attributes:
        notice: What was told.
        received_at: When it reached the receiver.
    """

    notice: AlertNotice
    received_at: datetime


@dataclass(frozen=True)
class Outcome:
    """An alert that fired and was resolved, both delivered.

    Attributes:
        alert: Its name.
        cause_at: When its cause began.
        relief_at: When its cause ended.
        firing: The notification that it fires.
        resolved: The notification that it does no more.
    """

    alert: str
    cause_at: datetime
    relief_at: datetime
    firing: Delivery
    resolved: Delivery


def find(
    notifications: Iterable[Notification], alert: str, status: str, after: datetime
) -> Delivery | None:
    """Return the first telling of an alert in a status that was received after a moment."""
    for notification in notifications:
        if notification.received_at < after:
            continue
        for notice in notification.alerts:
            if notice.name == alert and notice.status == status:
                return Delivery(notice, notification.received_at)
    return None


def table(outcomes: Iterable[Outcome]) -> Table:
    """Return the outcomes as a table."""
    result = Table(header_style="bold")
    result.add_column("Alert", no_wrap=True)
    for title in ("Fired", "Delivered", "Resolved"):
        result.add_column(title, justify="right")
    for one in outcomes:
        result.add_row(
            one.alert,
            _after(one.cause_at, one.firing.notice.starts_at),
            _after(one.cause_at, one.firing.received_at),
            _after(one.relief_at, one.resolved.received_at),
        )
    result.caption = (
        "Fired, delivered: after the cause began. Resolved: delivered after the cause ended."
    )
    return result


def _after(begin: datetime, end: datetime) -> str:
    return f"{(end - begin).total_seconds():.1f} s"
