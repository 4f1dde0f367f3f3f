"""Does every metric and label that a board names exist, and in which releases of vLLM?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from dashboards import metrics
from dashboards.checks import promql
from dashboards.checks.contents import (
    Expression,
    Json,
    expanded,
    expressions,
    legend_labels,
    queries,
)
from dashboards.checks.pages import RecordedPage
from dashboards.metrics import Metric, Release, Renamed
from exporter.catalogue import EXPORTED

RELEASES: tuple[Release, ...] = (
    (0, 8),
    (0, 9),
    (0, 9, 2),
    (0, 10),
    (0, 10, 2),
    (0, 11),
    *((0, minor) for minor in range(12, 34)),
)
"""Those of vLLM in which names came or went, or may have."""

_BY_TARGET = frozenset({"job", "instance"})


@cache
def known() -> dict[str, Metric]:
    """Return every metric that boards may name and the exporter does not export, by name."""
    found: dict[str, Metric] = {}
    for value in vars(metrics).values():
        if isinstance(value, Metric):
            found[value.name] = value
        elif isinstance(value, Renamed):
            found |= {one.name: one for one in (value.new, value.old)}
    return found


@cache
def labels() -> dict[str, frozenset[str]]:
    """Return the labels that each series has in Prometheus, by its name."""
    exported = {metric.name: _BY_TARGET | set(metric.labels) for metric in EXPORTED}
    others = {name: _BY_TARGET | set(metric.labels) for name, metric in known().items()}
    # Both kinds of `up` are one series: those of servers also carry the label `server`.
    others["up"] = _BY_TARGET | {"server"}
    return {name: frozenset(names) for name, names in (exported | others).items()}


def findings(boards: Iterable[Json], pages: Iterable[RecordedPage]) -> list[str]:
    """Return what is named and does not exist, and legends that show what the result lacks."""
    boards, pages = list(boards), list(pages)
    found = findings_of_expressions(boards)
    if found:
        # What does not parse cannot be looked up.
        return found
    found += _of_pages(boards, pages)
    for board in boards:
        found += _of_releases(board)
    return found


def findings_of_expressions(boards: Iterable[Json]) -> list[str]:
    """Return expressions that do not parse or name what no release has, and wrong legends."""
    return [
        finding for board in boards for one in expressions(board) for finding in _of_expression(one)
    ]


def _of_expression(one: Expression) -> Iterator[str]:
    try:
        asked = promql.selectors(one.text)
    except ValueError as error:
        yield f"{one}: does not parse: {error}"
        return
    # "$1" is a group of label_replace.
    if "$" in one.text.replace('"$1"', ""):
        yield f"{one}: a variable is unknown in {one.text}"
    of = labels()
    for selector in asked:
        if selector.name is None:
            continue
        if selector.name not in of:
            yield f"{one}: {selector.name} is no metric of vLLM, the exporter or the watchers"
            return
        if strangers := set(promql.matchers(selector)) - of[selector.name] - {"__name__"}:
            yield f"{one}: {selector.name} has no label {', '.join(sorted(strangers))}"
    if lost := legend_labels(one.legend) - promql.result_labels(one.text, of):
        yield f"{one}: the result has no label {', '.join(sorted(lost))} for the legend"


def _asked(boards: Iterable[Json]) -> dict[str, str]:
    """Return the metrics that panels query, each with a panel that does."""
    return {
        str(selector.name): str(one)
        for board in boards
        for one in queries(board)
        for selector in promql.selectors(one.text)
    }


def _of_pages(boards: list[Json], pages: list[RecordedPage]) -> Iterator[str]:
    """Yield the metrics that recorded pages lack although their release should have them."""
    asked, of = _asked(boards), known()
    for name in sorted(asked.keys() & of.keys()):
        metric = of[name]
        places = [page for page in pages if page.kind == metric.page]
        if metric.page in ("rules", "target"):
            continue
        if metric.condition and not any(name in page.labels for page in places):
            yield f"{name}: on no recorded page, but queried by {asked[name]}"
        for page in places:
            yield from of_page(metric, page, asked[name])


def of_page(metric: Metric, page: RecordedPage, asked_by: str) -> Iterator[str]:
    """Yield what a metric that ``asked_by`` queries lacks on a page that should have it."""
    if page.engine_only and not metric.name.startswith("vllm:"):
        return
    expected = metric.page != "server" or metric.exists_in(page.release)
    if metric.name not in page.labels:
        if expected and not metric.condition:
            yield f"{metric.name}: not on {page.name}, but queried by {asked_by}"
        return
    if not expected:
        yield f"{metric.name}: on {page.name}, whose release should not have it any more or yet"
    # `server` is what Prometheus adds to every page of a server.
    missing = set(metric.labels) - page.labels[metric.name] - {"server"} - _BY_TARGET
    if missing:
        labels_missing = ", ".join(sorted(missing))
        yield f"{metric.name}: without label {labels_missing} on {page.name}"


def _of_releases(board: Json) -> Iterator[str]:
    """Yield panels that some supported release cannot fill and that do not say so."""
    for panel in board["panels"]:
        for target in panel.get("targets", ()):
            place = f"{board['uid']}, {panel['title']}"
            text = expanded(target["expr"])
            lacking = [release for release in RELEASES if not _has_data(text, release)]
            if not lacking:
                continue
            last = max(lacking)
            if last == RELEASES[-1]:
                yield f"{place}: vLLM {_text(last)} has no such data"
                continue
            first = _text(min(release for release in RELEASES if release > last))
            if f"Since vLLM {first}." not in panel["description"]:
                yield f"{place}: the description must say “Since vLLM {first}.”"


def _has_data(text: str, release: Release) -> bool:
    of = known()
    return promql.answerable(text, lambda name: name not in of or of[name].exists_in(release))


def _text(release: Release) -> str:
    return ".".join(map(str, release))
