"""Filling an alert's texts with the template language of who evaluates it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from alerts.model import MATCH, Alert, Finding, Lookup, Text, Unit

FORMAT: dict[Unit, tuple[str, str]] = {
    "share": ("humanizePercentage", ""),
    "bytes": ("humanize1024", "B"),
    "seconds": ("humanizeDuration", ""),
    "count": ('printf "%.0f"', ""),
    "per_second": ('printf "%.2f"', ""),
}
"""Template function and what follows its result, by unit; Prometheus and Grafana share them."""

IF_ABSENT = {"engine": "0"}
"""What is told of a label that old versions of vLLM lack: they had one engine."""


class Writer(Protocol):
    """Writes one kind of placeholder in one template language."""

    def value(self, alert: Alert) -> str:
        """Return the template of the alert's value."""

    def label(self, name: str) -> str:
        """Return the template of a label of the alert."""

    def lookup(self, alert: Alert, name: str, lookup: Lookup) -> str:
        """Return the template of what another query says."""

    def finding(self, alert: Alert, name: str, finding: Finding, sentence: str) -> str:
        """Return the template of a sentence that is said where the finding holds."""


def filled(alert: Alert, texts: Mapping[str, Text], writer: Writer) -> Iterator[tuple[str, str]]:
    """Yield name and template of each annotation.

    Args:
        alert: The alert.
        texts: Its text by suffix of the annotations' names: none for English, ``_zh``.
        writer: The template language.
    """
    for suffix, text in texts.items():
        placeholders = _placeholders(alert, text, writer)
        for name, part in text.parts():
            yield f"{name}{suffix}", part.format_map(placeholders)


def _placeholders(alert: Alert, text: Text, writer: Writer) -> dict[str, str]:
    plain = {
        "value": writer.value(alert),
        **{label: writer.label(label) for label in alert.labels},
        **{name: writer.lookup(alert, name, lookup) for name, lookup in alert.lookups.items()},
    }
    sentences = {
        name: writer.finding(
            alert, name, finding, text.findings.get(name, finding.text).format_map(plain)
        )
        for name, finding in alert.findings.items()
    }
    return plain | sentences


def label_template(name: str) -> str:
    """Return the template of a label; Prometheus and Grafana share it."""
    shown = f"$labels.{name}"
    return (
        f'{{{{ or {shown} "{IF_ABSENT[name]}" }}}}' if name in IF_ABSENT else f"{{{{ {shown} }}}}"
    )


def without_match(query: str) -> str:
    """Return a lookup's query on all series, where the language cannot name the alert's own."""
    return query.replace(f",{MATCH}", "").replace(MATCH, "")
