"""Asking Alertmanager."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import yaml
from prometheus_client.parser import text_string_to_metric_families

from alerts.duration import Duration
from monitoring.exchange import Answer, ExchangeError, ask

_SECONDS = 5.0
_OK = 200
_NOT_ITS_FORM = (yaml.YAMLError, LookupError, TypeError, AttributeError, ValueError, RecursionError)


class AlertmanagerError(Exception):
    """Alertmanager gives no answer; the message is one line."""


class Alertmanager:
    """Alertmanager's HTTP interface."""

    def __init__(self, url: str) -> None:
        """Take its root URL."""
        self._url = url

    def group_wait(self) -> float:
        """Return the root route's ``group_wait`` in seconds."""
        answer = self._call("GET", "/api/v2/status")
        try:
            route = yaml.safe_load(answer.json_object()["config"]["original"]).get("route", {})
            text = re.sub(r"\s", "", str(route.get("group_wait", "30s")))
            return Duration(text).seconds
        except (*_NOT_ITS_FORM, ExchangeError):
            raise AlertmanagerError(
                f"{answer.url} answers with {answer.kind}: is this Alertmanager?"
            ) from None

    def sent(self) -> tuple[float, float]:
        """Return how many notifications it has tried to send, and how many failed."""
        tried = failed = 0.0
        answer = self._call("GET", "/metrics")
        try:
            for family in text_string_to_metric_families(answer.text):
                for sample in family.samples:
                    if sample.name == "alertmanager_notifications_total":
                        tried += sample.value
                    elif sample.name == "alertmanager_notifications_failed_total":
                        failed += sample.value
        except ValueError:
            raise AlertmanagerError(
                f"{answer.url} answers with {answer.kind}: is this Alertmanager?"
            ) from None
        return tried, failed

    def silence(self, instance: str, seconds: float) -> None:
        """Silence all alerts of an instance."""
        now = datetime.now(UTC)
        matcher = {"name": "instance", "value": instance, "isRegex": False, "isEqual": True}
        silence = {
            "matchers": [matcher],
            "startsAt": now.isoformat(),
            "endsAt": (now + timedelta(seconds=seconds)).isoformat(),
            "createdBy": "python -m monitoring drill",
            "comment": "A drill is over; what it leaves behind is not news.",
        }
        self._call("POST", "/api/v2/silences", json=silence)

    def _call(self, method: str, path: str, **options: Any) -> Answer:
        try:
            answer = ask(method, f"{self._url}{path}", _SECONDS, **options)
        except ExchangeError as error:
            raise AlertmanagerError(f"no Alertmanager there: {error}") from None
        if answer.status != _OK:
            raise AlertmanagerError(f"{answer.url} answers HTTP {answer.status}: {answer.kind}")
        return answer
