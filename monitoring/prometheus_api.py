"""Asking Prometheus."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import requests

_SECONDS = 5.0


class PrometheusError(Exception):
    """Prometheus gives no answer; the message is one line."""


@dataclass(frozen=True)
class Sample:
    """One series with its newest value."""

    labels: Mapping[str, str]
    value: float


@dataclass(frozen=True)
class Target:
    """One target of Prometheus.

    Attributes:
        job: Its job.
        address: host:port.
        health: ``up``, ``down``, or ``unknown`` before its first scrape.
        error: Why the last scrape failed; empty if it did not.
    """

    job: str
    address: str
    health: str
    error: str


@dataclass(frozen=True)
class AlertState:
    """One alert rule, or one of its instances.

    Attributes:
        name: The rule's name.
        severity: Its severity.
        state: ``inactive``, ``pending`` or ``firing``.
        labels: What the instance is about; empty for an inactive rule.
        since: When its condition began to hold, as Prometheus writes times; empty if it does not.
    """

    name: str
    severity: str
    state: str
    labels: Mapping[str, str]
    since: str


@dataclass(frozen=True)
class Rule:
    """One alert rule's terms.

    Attributes:
        pending_seconds: Its ``for``.
        interval_seconds: How often it is evaluated.
    """

    pending_seconds: float
    interval_seconds: float


class Prometheus:
    """Prometheus' HTTP interface."""

    def __init__(self, url: str) -> None:
        """Take its root URL."""
        self._url = url
        self._session = requests.Session()
        self._session.trust_env = False

    def query(self, expression: str) -> list[Sample]:
        """Return the result of an instant query that yields a vector.

        Raises:
            PrometheusError: There is no answer, or the expression is wrong.
        """
        result = self._get("query", {"query": expression})["result"]
        return [Sample(one["metric"], float(one["value"][1])) for one in result]

    def targets(self) -> list[Target]:
        """Return all targets, in Prometheus' order.

        Raises:
            PrometheusError: There is no answer.
        """
        return [
            Target(
                job=one["labels"].get("job", ""),
                address=one["labels"].get("instance", ""),
                health=one["health"],
                error=one.get("lastError", ""),
            )
            for one in self._get("targets", {"state": "active"})["activeTargets"]
        ]

    def alerts(self) -> list[AlertState]:
        """Return every alert rule's instances, or the rule itself where it is inactive.

        Raises:
            PrometheusError: There is no answer.
        """
        states = []
        for group in self._get("rules", {"type": "alert"})["groups"]:
            for rule in group["rules"]:
                severity = rule["labels"].get("severity", "")
                for one in rule["alerts"]:
                    states.append(
                        AlertState(
                            rule["name"], severity, one["state"], one["labels"], one["activeAt"]
                        )
                    )
                if not rule["alerts"]:
                    states.append(AlertState(rule["name"], severity, rule["state"], {}, ""))
        return states

    def rule(self, name: str) -> Rule | None:
        """Return an alert rule's terms, or None if there is no rule of that name.

        Raises:
            PrometheusError: There is no answer.
        """
        for group in self._get("rules", {"type": "alert"})["groups"]:
            for rule in group["rules"]:
                if rule["name"] == name:
                    return Rule(float(rule["duration"]), float(group["interval"]))
        return None

    def _get(self, path: str, parameters: Mapping[str, str]) -> Any:
        try:
            response = self._session.get(
                f"{self._url}/api/v1/{path}", params=dict(parameters), timeout=_SECONDS
            )
            answer = response.json()
        except (requests.RequestException, ValueError) as error:
            raise PrometheusError(
                f"Prometheus does not answer at {self._url} ({type(error).__name__})"
            ) from None
        if answer.get("status") != "success":
            raise PrometheusError(f"Prometheus: {answer.get('error', 'no answer')}")
        return answer["data"]
