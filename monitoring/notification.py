"""Alertmanager's webhook messages: reading them, keeping them, showing them to people."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.text import Text

_NEVER = "0001-01-01"  # Go's zero time: still firing
_TOLD_ELSEWHERE = frozenset({"alertname", "severity"})
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_STYLES = {"critical": "bold white on red", "warning": "bold black on yellow"}


class NotificationError(ValueError):
    """A body is not a webhook message; the message is one line."""


@dataclass(frozen=True)
class AlertNotice:
    """One alert in a message.

    Attributes:
        status: ``firing`` or ``resolved``.
        labels: Its labels.
        annotations: Its annotations, filled in.
        starts_at: When it began to fire.
        ends_at: When it was resolved; None while it fires.
    """

    status: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    starts_at: datetime
    ends_at: datetime | None

    @property
    def name(self) -> str:
        """The alert's name."""
        return self.labels.get("alertname", "(alert without a name)")


@dataclass(frozen=True)
class Notification:
    """One message of Alertmanager: the alerts of one group.

    Attributes:
        received_at: When it reached the receiver.
        alerts: The alerts, in the message's order.
    """

    received_at: datetime
    alerts: tuple[AlertNotice, ...]


def parse(message: Any, received_at: datetime) -> Notification:
    """Return the message that a webhook's JSON says.

    Raises:
        NotificationError: It is not a message in the form that Alertmanager sends.
    """
    if not isinstance(message, dict) or not isinstance(message.get("alerts"), list):
        raise NotificationError("not a message of Alertmanager: there is no list `alerts`")
    return Notification(received_at, tuple(map(_alert, message["alerts"])))


def _alert(value: Any) -> AlertNotice:
    if not isinstance(value, dict) or value.get("status") not in ("firing", "resolved"):
        raise NotificationError("an alert's `status` must be firing or resolved")
    ends_at = str(value.get("endsAt") or _NEVER)
    resolved = value["status"] == "resolved" and not ends_at.startswith(_NEVER)
    return AlertNotice(
        status=value["status"],
        labels=_texts(value, "labels"),
        annotations=_texts(value, "annotations"),
        starts_at=_time(value.get("startsAt"), "startsAt"),
        ends_at=_time(ends_at, "endsAt") if resolved else None,
    )


def _texts(value: Mapping[str, Any], key: str) -> dict[str, str]:
    texts = value.get(key) or {}
    if not isinstance(texts, dict) or not all(isinstance(one, str) for one in texts.values()):
        raise NotificationError(f"an alert's `{key}` must be names with texts")
    return texts


def _time(text: Any, key: str) -> datetime:
    try:
        # Go writes nanoseconds and Z.
        seconds, _, rest = str(text).replace("Z", "+00:00").partition(".")
        fraction = re.match(r"\d*", rest)
        offset = rest[fraction.end() :] if fraction else ""
        digits = fraction[0][:6] if fraction else ""
        parsed = datetime.fromisoformat(f"{seconds}.{digits}{offset}" if digits else seconds)
    except ValueError:
        raise NotificationError(f"an alert's `{key}` is no time: {str(text)[:40]!r}") from None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def record(message: Any, received_at: datetime) -> str:
    """Return the line of the file: the message as it came, and when."""
    content = {"received_at": received_at.isoformat(), "notification": message}
    return json.dumps(content, ensure_ascii=False) + "\n"


class NotificationFile:
    """The receiver's file, read from where the last reading ended."""

    def __init__(self, path: Path, *, from_end: bool = False) -> None:
        """Begin at the file's beginning, or with what comes after this moment."""
        self._path = path
        self._offset = path.stat().st_size if from_end and path.exists() else 0

    def new(self) -> list[Notification]:
        """Return what has come since the last call; a line that is not finished yet waits."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                content = file.read()
        except FileNotFoundError:
            return []
        finished = content[: content.rfind(b"\n") + 1]
        self._offset += len(finished)
        notifications = []
        for line in finished.splitlines():
            try:
                value = json.loads(line)
                received = datetime.fromisoformat(value["received_at"])
                notifications.append(parse(value["notification"], received))
            except (ValueError, KeyError, TypeError):
                continue  # a line cut short by a full disk
        return notifications


def render(notification: Notification) -> Text:
    """Return a message in a form that a person reads in a terminal; not to be wrapped."""
    text = Text()
    for alert in notification.alerts:
        text.append_text(_heading(alert)).append("\n")
        text.append(textwrap.indent(_body(alert, notification.received_at), "  ") + "\n")
    text.rstrip()
    return text


def _heading(alert: AlertNotice) -> Text:
    severity = alert.labels.get("severity", "no severity")
    if alert.status == "firing":
        badge = Text(f" FIRING {severity} ", style=_STYLES.get(severity, "bold reverse"))
    else:
        badge = Text(f" RESOLVED {severity} ", style="bold black on green")
    return Text.assemble(badge, " ", (_clean(alert.name), "bold"))


def _body(alert: AlertNotice, received_at: datetime) -> str:
    notes = dict(alert.annotations)
    summary, description = notes.pop("summary", ""), notes.pop("description", "")
    # A resolved alert comes with the text of its last firing, whose figures are no longer true.
    told = (summary, description) if alert.status == "firing" else (summary,)
    lines = [_clean(text) for text in told if text]
    labels = (
        f"{name}={value}" for name, value in alert.labels.items() if name not in _TOLD_ELSEWHERE
    )
    lines.append("labels    " + _clean("  ".join(labels)).replace("\n", " "))
    lines.append("since     " + _since(alert, received_at))
    for name, value in notes.items():
        if name.endswith("_zh"):
            continue  # the same once more, in Chinese
        lines.append(_clean(f"{name.removesuffix('_url'):<9} {value}"))
    return "\n".join(lines)


def _since(alert: AlertNotice, received_at: datetime) -> str:
    local = alert.starts_at.astimezone()
    if alert.ends_at is None:
        seconds = (received_at - alert.starts_at).total_seconds()
        return f"{local:%Y-%m-%d %H:%M:%S}, told {seconds:.0f} s later"
    lasted = (alert.ends_at - alert.starts_at).total_seconds()
    return f"{local:%Y-%m-%d %H:%M:%S}, for {lasted:.0f} s"


def _clean(text: str) -> str:
    """Leave out control characters: labels come from outside and must not steer the terminal."""
    return _CONTROL.sub("", text)
