"""What an alert, a recording rule and the parts of them are, whoever evaluates them.

Texts for readers are plain sentences with names in braces: ``{value}`` (the query's value in the
alert's unit), any label in ``Alert.labels``, and the names of ``Alert.lookups``. Each renderer
replaces them by its own template language.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from alerts.duration import Duration
from alerts.settings import Severity

Unit = Literal["share", "bytes"]
"""``share``: 0..1, shown in per cent. ``bytes``: shown with binary prefixes (KiB, MiB, GiB)."""


@dataclass(frozen=True)
class Lookup:
    """Something that the notification tells beside the value, from another metric.

    Attributes:
        metric: Name of the metric; its first series that matches is taken.
        match: Labels that the series must share with the alert.
        show: ``share`` or ``bytes``: its value in that unit; else the name of a label of it.
        missing: What to say where there is no such series.
    """

    metric: str
    match: tuple[str, ...]
    show: Unit | Literal["server"]
    missing: str = "not reported"


@dataclass(frozen=True)
class PanelReference:
    """The dashboard panel that shows an alert's condition over time.

    Attributes:
        dashboard_uid: The dashboard's stable uid.
        panel_id: The panel's explicit id in it.
        variables: Dashboard variable by name, to a placeholder without braces.
    """

    dashboard_uid: str
    panel_id: int
    variables: Mapping[str, str]


@dataclass(frozen=True)
class Alert:
    """One alert: ``query comparison threshold``, true for ``pending``.

    The query stands apart from the comparison because Grafana evaluates them in separate steps.

    Attributes:
        name: CamelCase, with the common beginning ``VLLM``.
        query: PromQL of the value that is compared.
        comparison: How the value stands to the threshold when the alert is due.
        threshold: In the unit of the query.
        unit: How the value is shown.
        pending: How long the condition must hold (Prometheus' ``for``).
        severity: ``critical``: act now; ``warning``: act soon; ``info``: know.
        labels: Labels of the query's series that texts may name.
        summary: One sentence that is the same for all series of the alert.
        description: What is wrong with which series, and what to check.
        panel: Where to see it.
        lookups: By placeholder.
    """

    name: str
    query: str
    comparison: Literal["<", ">"]
    threshold: float
    unit: Unit
    pending: Duration
    severity: Severity
    labels: tuple[str, ...]
    summary: str
    description: str
    panel: PanelReference
    lookups: Mapping[str, Lookup] = field(default_factory=dict)

    @property
    def condition(self) -> str:
        """The whole PromQL condition."""
        return f"{self.query} {self.comparison} {self.threshold:g}"


@dataclass(frozen=True)
class RecordingRule:
    """A query whose result is stored under a name of its own (``level:metric:operations``)."""

    record: str
    query: str


@dataclass(frozen=True)
class Group:
    """Rules on one subject, evaluated together and in order: recording rules first."""

    name: str
    recordings: tuple[RecordingRule, ...]
    alerts: tuple[Alert, ...]


def percent(share: float) -> str:
    """Return a share (0..1) as readers see it: 0.5 as ``50%``."""
    return f"{share * 100:g}%"
