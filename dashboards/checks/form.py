"""Is the JSON what Grafana 10.4 to 13 read, and does it keep the rules of its linter?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations, pairwise

from dashboards import uids
from dashboards.checks import promql
from dashboards.checks.contents import Json, expanded, panels, queries
from dashboards.elements import DATASOURCE
from dashboards.layer.panel import COLUMNS

UNITS = frozenset({"percentunit", "bytes", "short", "s", "reqps", "watt", "celsius"})
"""Grafana's ids of the units that boards use; its linter takes no units of our own."""

TYPES = frozenset(
    {
        "alertlist",
        "bargauge",
        "gauge",
        "heatmap",
        "row",
        "stat",
        "state-timeline",
        "table",
        "timeseries",
    }
)
"""Panel types that Grafana 10.4 to 13 have; graph, singlestat, table-old and others are gone."""

PUBLIC = frozenset({uids.WALLBOARD})
"""Boards that must not have variables, since Grafana's public boards cannot: the rules on
variables do not hold for them."""

_OBSOLETE = {"__inputs", "rows", "hideControls", "sharedCrosshair", "style", "gnetId", "id"}
_OLDEST_SCHEMA, _NEWEST_SCHEMA = 39, 41
_SHORTEST_DESCRIPTION = 60


def findings(boards: Iterable[Json]) -> list[str]:
    """Return what is wrong with the form of boards."""
    boards = list(boards)
    found = [f"uid {uid} is given twice" for uid in _doubles(board["uid"] for board in boards)]
    found += [f"title {one} is given twice" for one in _doubles(b["title"] for b in boards)]
    for board in boards:
        for check in _CHECKS:
            found += [f"{board['uid']}: {finding}" for finding in check(board)]
    return found


def _doubles(values: Iterable[object]) -> list[object]:
    values = list(values)
    return [value for value in dict.fromkeys(values) if values.count(value) > 1]


def _head(board: Json) -> Iterator[str]:
    if not re.fullmatch(r"[a-z0-9-]{1,40}", board["uid"]):
        yield "the uid is not short and readable"
    if not _OLDEST_SCHEMA <= board["schemaVersion"] <= _NEWEST_SCHEMA:
        yield f"schemaVersion {board['schemaVersion']} is not read by all supported Grafanas"
    if old := _OBSOLETE & board.keys():
        yield f"keys of old schemas: {', '.join(sorted(old))}"
    if board["editable"]:
        yield "is editable, although changes in the browser would be lost"
    if board["uid"] in PUBLIC:
        return
    for link in board["links"]:
        if not (
            link["includeVars"] and link["keepTime"] and set(link["tags"]) <= set(board["tags"])
        ):
            yield "its links lose time or variables, or do not lead back"


def _grid(board: Json) -> Iterator[str]:
    yield from (
        f"panel id {one} is given twice" for one in _doubles(p["id"] for p in board["panels"])
    )
    for panel in board["panels"]:
        place = panel["gridPos"]
        if place["x"] < 0 or place["x"] + place["w"] > COLUMNS:
            yield f"{panel['title']} leaves the {COLUMNS} columns"
        if not isinstance(panel["id"], int) or panel["id"] < 1:
            yield f"{panel['title']} has no usable id"
    for one, other in combinations(board["panels"], 2):
        a, b = one["gridPos"], other["gridPos"]
        apart = (
            a["x"] + a["w"] <= b["x"]
            or b["x"] + b["w"] <= a["x"]
            or a["y"] + a["h"] <= b["y"]
            or b["y"] + b["h"] <= a["y"]
        )
        if not apart:
            yield f"{one['title']} overlaps {other['title']}"


def _panels(board: Json) -> Iterator[str]:
    for panel in board["panels"]:
        if panel["type"] not in TYPES:
            yield f"{panel['title']}: there is no panel type {panel['type']} in all Grafanas"
    yield from (
        f"title {one} is given twice" for one in _doubles(p["title"] for p in panels(board))
    )
    for panel in panels(board):
        defaults = panel["fieldConfig"]["defaults"]
        if len(panel.get("description", "")) < _SHORTEST_DESCRIPTION:
            yield f"{panel['title']}: the description does not say what the number means"
        if defaults.get("unit") not in UNITS:
            yield f"{panel['title']}: {defaults.get('unit')} is not among the units"
        if defaults.get("noValue", "") in {"", "none", "NaN"}:
            yield f"{panel['title']}: says nothing where there is no value"
        yield from _thresholds(panel["title"], defaults["thresholds"]["steps"])
        for override in panel["fieldConfig"].get("overrides", ()):
            for one in override["properties"]:
                if one["id"] == "thresholds":
                    yield from _thresholds(panel["title"], one["value"]["steps"])


def _thresholds(title: str, steps: list[Json]) -> Iterator[str]:
    base, *values = [step["value"] for step in steps]
    if base is not None:
        yield f"{title}: the first threshold has a value, so what is below it has no colour"
    if not all(isinstance(value, float | int) for value in values):
        yield f"{title}: a threshold is not a number"
    elif any(a >= b for a, b in pairwise(values)):
        yield f"{title}: thresholds do not ascend"


def _targets(board: Json) -> Iterator[str]:
    public = board["uid"] in PUBLIC
    for panel in panels(board):
        sources = [panel["datasource"], *(t["datasource"] for t in panel.get("targets", ()))]
        for source in sources:
            if public != (source["uid"] != DATASOURCE["uid"]) or source["type"] != "prometheus":
                yield f"{panel['title']}: does not ask the data source of the board"
        targets = panel.get("targets", ())
        if not targets and panel["type"] != "alertlist":
            yield f"{panel['title']}: asks for nothing"
        if _doubles(target["refId"] for target in targets):
            yield f"{panel['title']}: two queries have one name"
        for target in targets:
            if target["range"] is target["instant"]:
                yield f"{panel['title']}: is neither of a moment nor of a range"
            if {"intervalFactor", "step"} & target.keys() or "maxDataPoints" in panel:
                yield f"{panel['title']}: its resolution is reduced"
            wanted = {"heatmap": "heatmap", "table": "table"}.get(panel["type"], "time_series")
            if target["format"] != wanted:
                yield f"{panel['title']}: its query is not of format {wanted}"
        reduction = panel.get("options", {}).get("reduceOptions")
        if panel["type"] in {"stat", "gauge", "bargauge"} and (
            reduction is None or reduction["calcs"] != ["lastNotNull"]
        ):
            yield f"{panel['title']}: does not show the last value"


def _variables(board: Json) -> Iterator[str]:
    variables = board["templating"]["list"]
    if board["uid"] in PUBLIC:
        if variables:
            yield "has variables, which public boards cannot have"
        return
    source, *others = variables
    if (source["name"], source["type"], source["query"]) != (
        "datasource",
        "datasource",
        "prometheus",
    ):
        yield "the first variable is not the data source"
    if source["label"] != "Data source" or source["current"] != {}:
        yield "the data source is mislabelled, or chosen in advance"
    for one in others:
        right = (
            one["type"] == "query"
            and one["datasource"] == DATASOURCE
            and one["label"] == one["name"].capitalize()
            and one["allValue"] == ".+"
            and one["multi"]
            and one["includeAll"]
            and one["refresh"] == 2  # noqa: PLR2004 - Grafana's "on time range change"
            and one["current"]["value"] == ["$__all"]
        )
        if not right:
            yield f"${one['name']} is not a query with All, several values and refresh"
        # Other exporters have a label model_name too, and jobs of their own.
        if not re.match(r'label_values\({__name__=~"vllm:', one["query"]):
            yield f"${one['name']} is not narrowed to series of vLLM"


def _reach(board: Json) -> Iterator[str]:
    """Yield selectors that the variables do not reach, and such that take one value only."""
    if board["uid"] in PUBLIC:
        return
    names = {variable["name"] for variable in board["templating"]["list"]}
    for query in queries(board):
        if "server" in names and "$server" not in query.raw:
            yield f"{query.place}: $server does not reach {query.raw}"
        for selector in promql.selectors(query.raw.replace("$__rate_interval", "1m")):
            of = promql.matchers(selector)
            if not of.get("job", ("", ""))[1].startswith("$job"):
                yield f"{query.place}: $job does not reach {selector.name}"
            for label, (operator, value) in of.items():
                if "$" in value and operator != "Re":
                    yield f"{query.place}: {label} takes one value only"


def _rates(board: Json) -> Iterator[str]:
    for query in queries(board):
        text = query.raw
        for selector in promql.selectors(expanded(text)):
            name = str(selector.name)
            if not name.endswith(("_total", "_bucket", "_sum", "_count")):
                continue
            uses = len(re.findall(rf"{re.escape(name)}\b", text))
            rated = len(
                re.findall(
                    rf"(?:rate|increase)\({re.escape(name)}\b[^)]*?\[\$__rate_interval\]\)", text
                )
            )
            if uses != rated:
                yield f"{query.place}: the counter {name} is not asked for its rate"


_CHECKS: tuple[Callable[[Json], Iterator[str]], ...] = (
    _head,
    _grid,
    _panels,
    _targets,
    _variables,
    _reach,
    _rates,
)
