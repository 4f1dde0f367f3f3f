"""Asking Alertmanager."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import requests
import yaml
from prometheus_client.parser import text_string_to_metric_families

from alerts.duration import Duration

_SECONDS = 5.0


class AlertmanagerError(Exception):
    """Alertmanager gives no answer; the message is one line."""


class Alertmanager:
    """Alertmanager's HTTP interface."""

    def __init__(self, url: str) -> None:
        """Take its root URL."""
        self._url = url
        self._session = requests.Session()
        self._session.trust_env = False

    def group_wait(self) -> float:
        """Return the root route's ``group_wait`` in seconds."""
        original = self._call("GET", "/api/v2/status").json()["config"]["original"]
        route = yaml.safe_load(original).get("route", {})
        text = re.sub(r"\s", "", str(route.get("group_wait", "30s")))
        return Duration(text).seconds

    def sent(self) -> tuple[float, float]:
        """Return how many notifications it has tried to send, and how many failed."""
        tried = failed = 0.0
        for family in text_string_to_metric_families(self._call("GET", "/metrics").text):
            for sample in family.samples:
                if sample.name == "alertmanager_notifications_total":
                    tried += sample.value
                elif sample.name == "alertmanager_notifications_failed_total":
                    failed += sample.value
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

    def _call(self, method: str, path: str, **options: Any) -> requests.Response:
        try:
            response = self._session.request(
                method, f"{self._url}{path}", timeout=_SECONDS, **options
            )
            response.raise_for_status()
        except requests.RequestException as error:
            raise AlertmanagerError(
                f"Alertmanager does not answer at {self._url} ({type(error).__name__})"
            ) from None
        return response
