"""Asking Prometheus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from monitoring.exchange import ExchangeError, ask

_SECONDS = 5.0


class PrometheusError(Exception):
    """Prometheus gives no answer; the message is one line."""


class NoPrometheusError(PrometheusError):
    """What is there is no Prometheus, or nothing is."""


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

    def query(self, expression: str) -> list[Sample]:
        """Return the result of an instant query that yields a vector.

        Raises:
            PrometheusError: There is no answer, or the expression is wrong.
        """
        with self._read("query", {"query": expression}) as data:
            return [Sample(one["metric"], float(one["value"][1])) for one in data["result"]]

    def targets(self) -> list[Target]:
        """Return all targets, in Prometheus' order.

        Raises:
            PrometheusError: There is no answer.
        """
        with self._read("targets", {"state": "active"}) as data:
            return [
                Target(
                    job=one["labels"].get("job", ""),
                    address=one["labels"].get("instance", ""),
                    health=one["health"],
                    error=one.get("lastError", ""),
                )
                for one in data["activeTargets"]
            ]

    def alerts(self) -> list[AlertState]:
        """Return every alert rule's instances, or the rule itself where it is inactive.

        Raises:
            PrometheusError: There is no answer.
        """
        states = []
        with self._read("rules", {"type": "alert"}) as data:
            for rule in (rule for group in data["groups"] for rule in group["rules"]):
                name, severity = rule["name"], rule["labels"].get("severity", "")
                states += [
                    AlertState(name, severity, one["state"], one["labels"], one["activeAt"])
                    for one in rule["alerts"]
                ] or [AlertState(name, severity, rule["state"], {}, "")]
        return states

    def rule(self, name: str) -> Rule | None:
        """Return an alert rule's terms, or None if there is no rule of that name.

        Raises:
            PrometheusError: There is no answer.
        """
        with self._read("rules", {"type": "alert"}) as data:
            for group in data["groups"]:
                for rule in group["rules"]:
                    if rule["name"] == name:
                        return Rule(float(rule["duration"]), float(group["interval"]))
        return None

    @contextmanager
    def _read(self, path: str, parameters: Mapping[str, str]) -> Iterator[Any]:
        """Yield the data of an answer; what is missing in it while it is read is told too."""
        url = f"{self._url}/api/v1/{path}"
        try:
            answer = ask("GET", url, _SECONDS, parameters=parameters)
            content = answer.json_object()
        except ExchangeError as error:
            raise NoPrometheusError(f"no Prometheus there: {error}") from None
        if "error" in content:
            raise PrometheusError(f"Prometheus refuses: {content['error']}")
        try:
            yield content["data"]
        except (LookupError, TypeError, ValueError, AttributeError):
            raise NoPrometheusError(
                f"{answer.url} answers in a form that is not Prometheus'"
            ) from None
