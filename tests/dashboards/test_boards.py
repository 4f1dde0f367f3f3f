"""Form: what Grafana 10.4 to 13 reads, and the rules of its dashboard linter that apply."""

import re
from itertools import combinations

import promql_parser

# Grafana's ids of the units that the boards use; its linter takes no others of ours.
UNITS = {"percentunit", "bytes", "short"}
TYPES = {"row", "stat", "timeseries"}
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}


def test_uids_are_short_and_unique(boards) -> None:
    for uid, board in boards.items():
        assert re.fullmatch(r"[a-z0-9-]{1,40}", uid)
        assert board["uid"] == uid
    assert len({board["title"] for board in boards.values()}) == len(boards)


def test_schema_is_one_that_all_supported_versions_read(boards) -> None:
    for board in boards.values():
        assert 39 <= board["schemaVersion"] <= 41
        # Left-overs of old schemas, and what only the import dialog resolves.
        assert not {"__inputs", "rows", "hideControls", "style", "gnetId", "id"} & board.keys()
        assert board["editable"] is False
        assert board["tags"]


def test_boards_link_to_each_other_with_time_and_variables(boards) -> None:
    for board in boards.values():
        (link,) = board["links"]
        assert link["includeVars"]
        assert link["keepTime"]
        assert set(link["tags"]) <= set(board["tags"])


def test_panel_ids_are_unique(boards) -> None:
    for board in boards.values():
        ids = [panel["id"] for panel in board["panels"]]
        assert all(isinstance(number, int) and number > 0 for number in ids)
        assert len(set(ids)) == len(ids)


def test_no_panels_overlap_or_leave_the_grid(boards) -> None:
    for board in boards.values():
        places = [panel["gridPos"] for panel in board["panels"]]
        for place in places:
            assert place["x"] >= 0
            assert place["x"] + place["w"] <= 24
        for a, b in combinations(places, 2):
            apart = (
                a["x"] + a["w"] <= b["x"]
                or b["x"] + b["w"] <= a["x"]
                or a["y"] + a["h"] <= b["y"]
                or b["y"] + b["h"] <= a["y"]
            )
            assert apart, (a, b)


def test_only_known_panel_types(boards) -> None:
    for board in boards.values():
        assert {panel["type"] for panel in board["panels"]} <= TYPES


def test_every_panel_says_what_it_shows(panels) -> None:
    for panel in panels:
        assert panel["title"]
        assert len(panel["description"]) > 40
        defaults = panel["fieldConfig"]["defaults"]
        assert defaults["unit"] in UNITS
        assert defaults["noValue"] not in {"", "none"}


def test_every_query_goes_to_the_chosen_data_source(panels) -> None:
    for panel in panels:
        assert panel["datasource"] == DATASOURCE
        assert panel["targets"]
        for target in panel["targets"]:
            assert target["datasource"] == DATASOURCE
            assert target["range"] is not target["instant"]
        references = [target["refId"] for target in panel["targets"]]
        assert len(set(references)) == len(references)


def test_thresholds_begin_at_the_base_and_ascend(panels) -> None:
    for panel in panels:
        thresholds = panel["fieldConfig"]["defaults"]["thresholds"]
        base, *steps = [step["value"] for step in thresholds["steps"]]
        assert base is None
        assert all(isinstance(value, float | int) for value in steps)
        assert steps == sorted(set(steps))


def test_tiles_show_the_last_value(panels) -> None:
    for panel in panels:
        if panel["type"] == "stat":
            assert panel["options"]["reduceOptions"]["calcs"] == ["lastNotNull"]


def test_lines_are_drawn_at_full_resolution(panels) -> None:
    for panel in panels:
        # grafanalib's defaults are 100 points and every second one of them.
        assert "maxDataPoints" not in panel
        assert all("intervalFactor" not in target for target in panel["targets"])


def test_variables_are_those_of_the_linter(boards, selectors) -> None:
    for board in boards.values():
        datasource, *queries = board["templating"]["list"]
        assert (datasource["name"], datasource["type"]) == ("datasource", "datasource")
        assert (datasource["label"], datasource["query"]) == ("Data source", "prometheus")
        assert datasource["current"] == {}
        assert [v["name"] for v in queries] == ["job", "server", "model"]
        for variable in queries:
            assert variable["type"] == "query"
            assert variable["datasource"] == DATASOURCE
            assert variable["label"] == variable["name"].capitalize()
            assert variable["allValue"] == ".+"
            assert variable["multi"]
            assert variable["includeAll"]
            assert variable["refresh"] == 2
            assert variable["current"]["value"] == ["$__all"]
            match = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"])
            assert match
            (selector,) = selectors(match[1])
            # Other exporters have a label model_name too.
            scope = next(m for m in selector.matchers.matchers if m.name == "__name__")
            assert scope.value == "vllm:.+|vllm_exporter_upstream_up"


def test_stacked_bytes_have_a_place_for_each_kind(boards) -> None:
    (panel,) = (p for p in boards["vllm-cache-memory"]["panels"] if p["id"] == 22)
    assert panel["fieldConfig"]["defaults"]["custom"]["stacking"]["mode"] == "normal"
    kinds = [promql_parser.parse(t["expr"]).lhs.name for t in panel["targets"]]
    assert kinds == [f"vllm:gpu_memory_{kind}_bytes" for kind in ("used", "free", "reserved")]


def test_threshold_lines_are_the_settings(boards) -> None:
    panels = {panel["id"]: panel for panel in boards["vllm-cache-memory"]["panels"]}
    for panel_id, values in ((11, [0.3, 0.5, 0.7]), (21, [0.85, 0.9])):
        defaults = panels[panel_id]["fieldConfig"]["defaults"]
        assert [step["value"] for step in defaults["thresholds"]["steps"]][1:] == values
        assert defaults["custom"]["thresholdsStyle"] == {"mode": "line"}
        assert (defaults["min"], defaults["max"]) == (0, 1)
