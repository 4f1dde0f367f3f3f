"""Form: what Grafana 10.4 to 13 read, the rules of its linter, and defects that others shipped."""

from typing import Any

import pytest

from alerts.settings import load
from dashboards.checks import form, references


def _panel(board: dict[str, Any], panel_id: int) -> dict[str, Any]:
    return next(panel for panel in board["panels"] if panel["id"] == panel_id)


def test_the_boards_have_no_defect(built) -> None:
    assert form.findings(built) == []


def test_all_panels_and_links_that_are_pointed_to_exist(built) -> None:
    assert references.findings(built, load()) == []


def _defect(change: str, boards: dict[str, dict[str, Any]]) -> None:
    """Make one board defective in the way of some dashboard found in the world."""
    board = boards["vllm-cache-memory"]
    tile, lines = _panel(board, 1), _panel(board, 11)
    target = lines["targets"][0]
    job = board["templating"]["list"][1]
    defaults = lines["fieldConfig"]["defaults"]
    changes = {
        "old schema": lambda: board.update(schemaVersion=12),
        "rows": lambda: board.update(rows=[]),
        "inputs": lambda: board.update(__inputs=[]),
        "editable": lambda: board.update(editable=True),
        "link": lambda: board["links"][0].update(includeVars=False),
        "double id": lambda: tile.update(id=11),
        "overlap": lambda: tile["gridPos"].update(x=4),
        "off the grid": lambda: tile["gridPos"].update(x=22),
        "graph": lambda: lines.update(type="graph"),
        "no description": lambda: lines.update(description=""),
        "own unit": lambda: defaults.update(unit="suffix: tok/s"),
        "none": lambda: defaults.update(noValue="none"),
        "text threshold": lambda: defaults["thresholds"]["steps"][0].update(value="null"),
        "descending": lambda: defaults["thresholds"]["steps"][1].update(value=0.99),
        "data source": lambda: target["datasource"].update(uid="prometheus"),
        "no query": lambda: lines.update(targets=[]),
        "half resolution": lambda: target.update(intervalFactor=2),
        "table format": lambda: target.update(format="table"),
        "mean": lambda: tile["options"]["reduceOptions"].update(calcs=["mean"]),
        "chosen source": lambda: board["templating"]["list"][0].update(current={"text": "mine"}),
        "refresh": lambda: job.update(refresh=1),
        "unscoped": lambda: job.update(query="label_values(up, job)"),
        "variable": lambda: target.update(expr=target["expr"].replace('server=~"$server",', "")),
        "one value": lambda: target.update(expr=target["expr"].replace('=~"$model"', '="$model"')),
        "fixed job": lambda: target.update(expr=target["expr"].replace('"$job"', '"vllm"')),
        "raw counter": lambda: target.update(
            expr='vllm:num_preemptions_total{job=~"$job",server=~"$server"}'
        ),
        "fixed range": lambda: target.update(
            expr='rate(vllm:num_preemptions_total{job=~"$job",server=~"$server"}[5m])'
        ),
    }
    changes[change]()


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        ("old schema", "schemaVersion 12 is not read"),
        ("rows", "keys of old schemas: rows"),
        ("inputs", "keys of old schemas: __inputs"),
        ("editable", "is editable"),
        ("link", "its links lose time or variables"),
        ("double id", "panel id 11 is given twice"),
        ("overlap", "Hit rate overlaps"),
        ("off the grid", "Hit rate leaves the 24 columns"),
        ("graph", "there is no panel type graph"),
        ("no description", "the description does not say"),
        ("own unit", "suffix: tok/s is not among the units"),
        ("none", "says nothing where there is no value"),
        ("text threshold", "the first threshold has a value"),
        ("descending", "thresholds do not ascend"),
        ("data source", "does not ask the data source of the board"),
        ("no query", "asks for nothing"),
        ("half resolution", "its resolution is reduced"),
        ("table format", "is not of format time_series"),
        ("mean", "does not show the last value"),
        ("chosen source", "mislabelled, or chosen in advance"),
        ("refresh", "$job is not a query with All"),
        ("unscoped", "$job is not narrowed to series of vLLM"),
        ("variable", "$server does not reach"),
        ("one value", "model_name takes one value only"),
        ("fixed job", "$job does not reach"),
        ("raw counter", "vllm:num_preemptions_total is not asked for its rate"),
        ("fixed range", "vllm:num_preemptions_total is not asked for its rate"),
    ],
)
def test_a_defect_is_found_by_name(boards, change: str, finding: str) -> None:
    _defect(change, boards)
    found = form.findings(boards.values())
    assert any(finding in one for one in found), found
    assert all(one.startswith("vllm-cache-memory: ") for one in found)


def test_a_panel_that_an_alert_needs_cannot_go(boards) -> None:
    board = boards["vllm-cache-memory"]
    board["panels"] = [panel for panel in board["panels"] if panel["id"] != 21]
    found = references.findings(boards.values(), load())
    assert "VLLMGPUMemoryHigh: board vllm-cache-memory has no panel 21" in found


def test_a_board_that_is_linked_to_cannot_go(boards) -> None:
    del boards["vllm-latency"]
    found = references.findings(boards.values(), load())
    assert "vllm-overview: links to vllm-latency, which is no board" in found


def test_the_wallboard_is_fit_for_the_public(boards) -> None:
    board = boards["vllm-wallboard"]
    assert board["templating"]["list"] == []
    assert board["links"] == []
    assert "$" not in str(board).replace("$__rate_interval", "")
    uids = {target["datasource"]["uid"] for panel in board["panels"] for target in panel["targets"]}
    assert uids == {load().grafana.datasource}


def test_the_wallboard_has_the_overviews_tiles(boards) -> None:
    titles = [
        {panel["title"] for panel in boards[uid]["panels"] if panel["type"] != "row"}
        for uid in ("vllm-wallboard", "vllm-overview")
    ]
    assert len(titles[0]) == 11
    assert titles[0] - titles[1] == set()


def test_threshold_lines_are_the_settings(boards) -> None:
    panels = {panel["id"]: panel for panel in boards["vllm-cache-memory"]["panels"]}
    for panel_id, values in ((11, [0.3, 0.5, 0.7]), (21, [0.85, 0.9]), (23, [0.95]), (24, [0.1])):
        defaults = panels[panel_id]["fieldConfig"]["defaults"]
        assert [step["value"] for step in defaults["thresholds"]["steps"]][1:] == values
        assert defaults["custom"]["thresholdsStyle"] == {"mode": "line"}
    for panel_id in (11, 21):
        defaults = panels[panel_id]["fieldConfig"]["defaults"]
        assert (defaults["min"], defaults["max"]) == (0, 1)


def test_stacked_bytes_have_a_place_for_each_kind(boards) -> None:
    panel = _panel(boards["vllm-cache-memory"], 22)
    assert panel["fieldConfig"]["defaults"]["custom"]["stacking"]["mode"] == "normal"
    for target, kind in zip(panel["targets"], ("used", "free", "reserved"), strict=True):
        assert f"vllm:gpu_memory_{kind}_bytes" in target["expr"]
        assert target["legendFormat"].startswith(f"{kind}, ")


def test_restarts_and_firing_alerts_are_marked(boards) -> None:
    for uid in ("vllm-overview", "vllm-cache-memory", "vllm-latency"):
        _, restarts, firing = boards[uid]["annotations"]["list"]
        assert restarts["useValueForTime"] is True
        assert restarts["expr"].endswith(" * 1000")
        assert 'alertname=~"VLLM.+"' in firing["expr"]


def test_a_table_shows_its_columns_and_hides_the_rest(boards) -> None:
    table = _panel(boards["vllm-overview"], 21)
    merge, organize = table["transformations"]
    assert merge["id"] == "merge"
    order, title = organize["options"]["indexByName"], organize["options"]["renameByName"]
    names = [title[field] for field in sorted(order, key=lambda field: order[field])]
    assert names[:4] == ["Server", "Model", "Up", "Hit rate"]
    assert len(names) == len(table["targets"]) + 2
    assert organize["options"]["excludeByName"] == {"Time": True, "Value": True}
    styled = {one["matcher"]["options"] for one in table["fieldConfig"]["overrides"]}
    assert styled <= set(names)
    links = next(
        one["value"]
        for override in table["fieldConfig"]["overrides"]
        for one in override["properties"]
        if one["id"] == "links"
    )
    assert [link["url"].partition("?")[0] for link in links] == [
        "/d/vllm-cache-memory",
        "/d/vllm-latency",
    ]
    assert all("var-server=${__data.fields.Server}" in link["url"] for link in links)


def test_heatmaps_are_of_buckets(boards) -> None:
    for panel_id in (17, 31, 32):
        panel = _panel(boards["vllm-latency"], panel_id)
        assert panel["options"]["calculate"] is False
        (target,) = panel["targets"]
        assert (target["format"], target["legendFormat"]) == ("heatmap", "{{le}}")
