"""From the bytes of a metrics page to the few samples that the exporter wants.

A busy vLLM page has 650 lines of which some fifteen are wanted. Searching for them first and
reading only them costs a hundredth of parsing the page, and a line that is wrong elsewhere on the
page costs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from exporter.generations import SERIES_PREFIX, SPELLINGS

Format = Literal["text", "openmetrics"]

MAX_WANTED_LINES = 20_000
MAX_WANTED_BYTES = 4 * 1024 * 1024
"""More wanted lines than that are no vLLM server's: one engine has fifteen, of 3 kB together.
Reading that much takes at most a second, however the lines are made up."""

OPENMETRICS = "application/openmetrics-text"

_MAX_KNOWN_CHARACTERS = 4096
"""Longest text of labels that is remembered; cache_config_info has 1500."""

_END = b"# EOF"
_ESCAPES = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}
_ESCAPE = re.compile(r'\\[\\"n]')

# Possessive quantifiers: no text, however long or odd, is looked at twice.
_LINE = re.compile(
    r"[ \t]*+(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*+)[ \t]*+"
    r'(?:\{(?P<labels>(?:[^"}]++|"(?:[^"\\]++|\\.)*+")*+)\})?+'
    r"[ \t]*+(?P<value>[0-9a-zA-Z+.-]++)"
    r"(?:[ \t]++[0-9eE+.-]++)?+"  # a timestamp: vLLM sends none, and it would be of no use
    r"[ \t\r]*+(?:# .*)?"  # an exemplar of OpenMetrics
)
_LABEL = re.compile(
    r'[ \t]*+(?P<name>[a-zA-Z_][a-zA-Z0-9_]*+)[ \t]*+=[ \t]*+"(?P<value>(?:[^"\\]++|\\.)*+)"'
    r"[ \t]*+(?:,[ \t]*+|$)"
)


class TooManyLinesError(Exception):
    """The page holds more wanted lines than any server's."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One series of a page with its value, in the unit that its name says.

    Attributes:
        name: In today's spelling, ``vllm:…``, however the page spells it.
        labels: Values by name, unescaped.
        value: As written; may be anything that a float can be.
    """

    name: str
    labels: Mapping[str, str]
    value: float


@dataclass(frozen=True, slots=True)
class Page:
    """What a page holds of the wanted names.

    Attributes:
        samples: Samples in page order.
        parse_errors: Number of wanted lines that could not be used; each costs only itself.
        spelling: What the page's names begin with; empty if it has no series of vLLM.
        format: The form of the page.
        complete: False if the page breaks off.
    """

    samples: tuple[Sample, ...]
    parse_errors: int
    spelling: str
    format: Format
    complete: bool


def parse(body: bytes, names: frozenset[str], content_type: str = "") -> Page:
    """Return the samples of ``body`` whose name, in today's spelling, is in ``names``.

    Args:
        body: The page.
        names: Full names of series, all with the prefix ``vllm:``.
        content_type: As the server gave it; without it, ``# EOF`` tells OpenMetrics.

    Raises:
        TooManyLinesError: More lines are wanted than `MAX_WANTED_LINES`.
    """
    ended = body.rstrip().endswith(_END)
    page_format: Format = "openmetrics" if ended or OPENMETRICS in content_type else "text"
    complete = ended if page_format == "openmetrics" else body.endswith(b"\n") or not body
    if not body.endswith(b"\n"):
        # What is left of a line may end in half a number, which would be a wrong one.
        body = body[: body.rfind(b"\n") + 1]
    body = b"\n" + body
    spelling = next((s for s in SPELLINGS if _spelt(s).search(body)), "")
    lines = _wanted(names, spelling).findall(body, 0) if spelling else []
    if len(lines) > MAX_WANTED_LINES or sum(map(len, lines)) > MAX_WANTED_BYTES:
        raise TooManyLinesError
    samples, errors = _samples(lines, spelling)
    return Page(samples, errors, spelling, page_format, complete)


@lru_cache(maxsize=8)
def _spelt(spelling: str) -> re.Pattern[bytes]:
    # The exporter's own names begin like one of Ray's spellings.
    return re.compile(rb"\n" + spelling.encode() + rb"(?!exporter_)")


@lru_cache(maxsize=16)
def _wanted(names: frozenset[str], spelling: str) -> re.Pattern[bytes]:
    alternatives = "|".join(re.escape(n.removeprefix(SERIES_PREFIX)) for n in sorted(names))
    # A literal beginning, newline included, lets the search skip through the page; and the name
    # must end there: `…_total` must not bring in `…_total_created`.
    return re.compile(rf"\n{re.escape(spelling)}(?:{alternatives})[{{ \t].*".encode())


def _samples(lines: Iterable[bytes], spelling: str) -> tuple[tuple[Sample, ...], int]:
    """Read the lines; of two that contradict each other neither is believed."""
    by_series: dict[tuple[str, frozenset[tuple[str, str]]], Sample | None] = {}
    errors = 0
    for line in lines:
        try:
            sample = _sample(line[1:].decode("utf-8"), spelling)
        except ValueError:
            errors += 1
            continue
        series = (sample.name, frozenset(sample.labels.items()))
        if series not in by_series:
            by_series[series] = sample
            continue
        before = by_series[series]
        if before is None or before.value != sample.value:
            by_series[series] = None
            errors += 1
    return tuple(s for s in by_series.values() if s is not None), errors


def _sample(line: str, spelling: str) -> Sample:
    match = _LINE.fullmatch(line)
    if match is None:
        raise ValueError(line)
    name = SERIES_PREFIX + match["name"].removeprefix(spelling)
    text = match["labels"] or ""
    labels = _known_labels(text) if len(text) <= _MAX_KNOWN_CHARACTERS else _labels(text)
    return Sample(name, labels, float(match["value"]))


@lru_cache(maxsize=512)
def _known_labels(text: str) -> Mapping[str, str]:
    # Values change from page to page, labels do not: half the time of reading a page is theirs.
    return _labels(text)


def _labels(text: str) -> Mapping[str, str]:
    labels: dict[str, str] = {}
    position = 0
    text = text.rstrip(" \t")
    while position < len(text):
        match = _LABEL.match(text, position)
        if match is None or match["name"] in labels:
            raise ValueError(text)
        value = match["value"]
        if "\\" in value:
            value = _ESCAPE.sub(lambda escape: _ESCAPES[escape[0]], value)
        labels[match["name"]] = value
        position = match.end()
    return labels
