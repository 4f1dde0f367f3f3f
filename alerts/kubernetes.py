"""The catalogue as a PrometheusRule, for Kubernetes with the Prometheus Operator."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from alerts import prometheus
from alerts.model import Group
from alerts.settings import Settings

_NAME = "vllm-monitoring-kit"


def render(groups: Iterable[Group], settings: Settings) -> str:
    """Return the text of the resource; its rules are those of Prometheus' own file."""
    return prometheus.HEADER + prometheus.dump(document(groups, settings))


def document(groups: Iterable[Group], settings: Settings) -> dict[str, Any]:
    """Return the resource as plain data."""
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {
            "name": _NAME,
            # Most Prometheus resources select rules by labels: add those that yours asks for,
            # such as `release`.
            "labels": {"app.kubernetes.io/name": _NAME, "app.kubernetes.io/part-of": _NAME},
        },
        "spec": prometheus.document(groups, settings),
    }
