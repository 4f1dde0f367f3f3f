"""What the catalogue says of one exported metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily


@dataclass(frozen=True)
class ExportedMetric:
    """One metric family of the exporter.

    Attributes:
        name: Full name on the page.
        type: Prometheus type.
        labels: Label names, in the order in which values are given.
        help: One sentence with unit and meaning.
    """

    name: str
    type: Literal["gauge", "counter"]
    labels: tuple[str, ...]
    help: str

    def family(self) -> GaugeMetricFamily | CounterMetricFamily:
        """Return a fresh, empty family; a scrape never shares one with another scrape."""
        if self.type == "counter":
            return CounterMetricFamily(self.name, self.help, labels=self.labels)
        return GaugeMetricFamily(self.name, self.help, labels=self.labels)


def gauge(name: str, labels: tuple[str, ...], help_text: str) -> ExportedMetric:
    """Return a gauge."""
    return ExportedMetric(name, "gauge", labels, help_text)


def counter(name: str, labels: tuple[str, ...], help_text: str) -> ExportedMetric:
    """Return a counter; its name ends in ``_total``."""
    return ExportedMetric(name, "counter", labels, help_text)
