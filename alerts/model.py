"""What an alert, a recording rule and the parts of them are, whoever evaluates them.

Texts for readers are plain sentences with names in braces: ``{value}`` (the query's value in the
alert's unit), any label in ``Alert.labels``, the names of ``Alert.lookups`` and of
``Alert.findings``. Each renderer replaces them by its own template language.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from alerts.settings import Terms

Unit = Literal["share", "bytes", "seconds", "count", "per_second"]
"""``share``: 0..1, shown in per cent. ``bytes``: with binary prefixes (KiB, MiB, GiB). ``seconds``:
as a duration. ``count`` and ``per_second``: a plain number with decimal prefixes."""

MATCH = "MATCH"
"""Stands in a lookup's query, between braces, for matchers on the alert's own labels."""


@dataclass(frozen=True)
class Lookup:
    """Something that the notification tells beside the value, from another query.

    Attributes:
        query: PromQL with `MATCH` in its selectors; its first series is taken.
        on: Labels that the query's series share with the alert; `MATCH` becomes matchers on them.
        show: Unit of its value.
        missing: What to say where there is no such series.
        label: Show this label of the series instead of its value.
    """

    query: str
    on: tuple[str, ...]
    show: Unit = "count"
    missing: str = "not reported"
    label: str | None = None


@dataclass(frozen=True)
class Finding:
    """A sentence that the notification says only where the data bear it out.

    Attributes:
        query: PromQL with `MATCH` in its selectors, with series of a value above 0 if so.
        on: As of `Lookup`.
        text: The sentence; may name labels and lookups.
    """

    query: str
    on: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Text:
    """What a reader is told, in one language.

    Attributes:
        summary: One sentence that is the same for all series of the alert.
        description: What is wrong, where, with the value and its unit.
        cause: What usually is behind it; names the findings.
        action: What to do now.
        findings: Sentence by name of the finding.
    """

    summary: str
    description: str
    cause: str
    action: str
    findings: Mapping[str, str] = field(default_factory=dict)

    def parts(self) -> Iterator[tuple[str, str]]:
        """Yield name and text of each part that becomes an annotation."""
        yield "summary", self.summary
        yield "description", self.description
        yield "cause", self.cause
        yield "action", self.action


@dataclass(frozen=True)
class PanelReference:
    """The dashboard panel that shows an alert's condition over time.

    Attributes:
        dashboard_uid: The dashboard's stable uid.
        panel_id: The panel's explicit id in it.
        variables: Dashboard variable by name, to a label of the alert.
    """

    dashboard_uid: str
    panel_id: int
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Measure:
    """A value and the threshold on whose far side it is bad.

    The query stands apart from the comparison because Grafana evaluates them in separate steps.

    Attributes:
        query: PromQL of the value that is compared.
        comparison: How the value stands to the threshold when it is bad.
        threshold: In the unit of the query.
        unit: How the value is shown.
    """

    query: str
    comparison: Literal["<", ">"]
    threshold: float
    unit: Unit

    @property
    def condition(self) -> str:
        """PromQL that gives the series whose value is bad."""
        return f"{self.query} {self.comparison} {number(self.threshold)}"


def below(query: str, threshold: float, unit: Unit) -> Measure:
    """Return a measure that is bad below a threshold."""
    return Measure(query, "<", threshold, unit)


def above(query: str, threshold: float, unit: Unit) -> Measure:
    """Return a measure that is bad above a threshold."""
    return Measure(query, ">", threshold, unit)


def missing(query: str) -> Measure:
    """Return a measure of what should be there: 0 is bad, 1 is well."""
    return below(query, 1, "count")


def present(query: str) -> Measure:
    """Return a measure of what should not be there: any number above 0 is bad."""
    return above(query, 0, "count")


@dataclass(frozen=True)
class Alert:
    """One alert: a measure that is bad for as long as its terms say, where the guards let it count.

    Attributes:
        name: CamelCase, with the common beginning ``VLLM``.
        measure: What is judged, and by which threshold.
        terms: When it fires and ends, and how grave it is.
        labels: Labels of the query's series, all of them.
        text: What the reader is told, in English.
        panel: Where to see it.
        guards: Clauses of PromQL, each beginning with ``and`` or ``unless``, that keep the alert
            silent where its condition means nothing.
        lookups: By placeholder.
        findings: By placeholder.
    """

    name: str
    measure: Measure
    terms: Terms
    labels: tuple[str, ...]
    text: Text
    panel: PanelReference
    guards: tuple[str, ...] = ()
    lookups: Mapping[str, Lookup] = field(default_factory=dict)
    findings: Mapping[str, Finding] = field(default_factory=dict)

    @property
    def condition(self) -> str:
        """The whole PromQL condition, one clause a line."""
        return "\n".join([self.measure.condition, *self.guards])

    @property
    def value(self) -> str:
        """PromQL of the value where the guards let it count, without the comparison."""
        return "\n".join([self.measure.query, *self.guards])


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


def number(value: float) -> str:
    """Return a number as PromQL and YAML read it, without a needless fraction."""
    return f"{value:.12g}"


def percent(share: float) -> str:
    """Return a share (0..1) as readers see it: 0.5 as ``50%``."""
    return f"{share * 100:g}%"
