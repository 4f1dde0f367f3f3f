import json
from pathlib import Path

import pytest

from alerts.settings import load
from dashboards import build
from dashboards.checks import drift
from dashboards.cli import main


def test_the_committed_files_are_what_the_code_gives() -> None:
    assert drift.findings(load(), build.GENERATED) == []


def test_changed_missing_and_foreign_files_are_found(tmp_path: Path) -> None:
    changed, missing, *_ = build.write(load(), tmp_path)
    changed.write_text("{}")
    missing.unlink()
    (tmp_path / "mine.json").write_text("{}")
    assert drift.findings(load(), tmp_path) == [
        f"{missing}: not as the code gives it; run python -m dashboards build",
        f"{changed}: not as the code gives it; run python -m dashboards build",
        f"{tmp_path / 'mine.json'}: no board's",
    ]


def test_building_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = (build.write(load(), tmp_path / name) for name in ("a", "b"))
    assert len(first) == 5
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_command_builds_with_a_users_thresholds(tmp_path: Path, capsys) -> None:
    mine = tmp_path / "my.yml"
    mine.write_text("cache: {hit_rate: {low: 0.41}}")
    assert main(["build", "--settings", str(mine), "--output", str(tmp_path / "out")]) == 0
    paths = [Path(line) for line in capsys.readouterr().out.split()]
    path = next(path for path in paths if path.stem == "vllm-cache-memory")
    panels = {panel["id"]: panel for panel in json.loads(path.read_text())["panels"]}
    steps = panels[11]["fieldConfig"]["defaults"]["thresholds"]["steps"]
    assert [step["value"] for step in steps] == [None, 0.3, 0.41, 0.7]
    assert "below 41% for 5m alerts" in panels[11]["description"]


def test_the_variant_for_the_import_dialog_asks_for_the_data_source(tmp_path: Path) -> None:
    assert main(["export", "--output", str(tmp_path)]) == 0
    boards = {path.stem: json.loads(path.read_text()) for path in tmp_path.glob("*.json")}
    assert len(boards) == 5
    for uid, board in boards.items():
        (asked,) = board["__inputs"]
        assert (asked["name"], asked["pluginId"]) == ("DS_PROMETHEUS", "prometheus")
        grafana, source, *panels = board["__requires"]
        assert grafana["version"] == "10.4.0"
        assert source["id"] == "prometheus"
        shown = {panel["type"] for panel in board["panels"]} - {"row"}
        assert {panel["id"] for panel in panels} == shown
        sources = {panel["datasource"]["uid"] for panel in board["panels"] if "datasource" in panel}
        if uid == "vllm-wallboard":
            assert sources == {"${DS_PROMETHEUS}"}
        else:
            assert sources == {"${datasource}"}
            assert board["templating"]["list"][0]["current"]["value"] == "${DS_PROMETHEUS}"


def test_the_other_variant_asks_for_nothing() -> None:
    # What provisioning and the API read, they do not fill in.
    for path in build.GENERATED.glob("*.json"):
        assert "DS_PROMETHEUS" not in path.read_text()


def test_check_says_that_all_is_well(capsys) -> None:
    assert main(["check"]) == 0
    assert capsys.readouterr().out.endswith("panels: well\n")


def test_check_says_what_is_wrong(tmp_path: Path, capsys) -> None:
    assert main(["check", "--generated", str(tmp_path)]) == 1
    told = capsys.readouterr()
    assert f"{tmp_path / 'vllm-overview.json'}: not as the code gives it" in told.out
    assert told.err == "dashboards: 5 findings\n"


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["build", "--settings", "none.yml"], 2, "none.yml: cannot be read"),
        (["build", "--colour"], 2, "No such option"),
        (["build", "--output", "/proc/none"], 1, "/proc/none: cannot be written"),
        (["export"], 2, "--output"),
        (["check", "--pages", "/proc/none"], 2, "there are no recorded pages in /proc/none"),
        (["push", "--url", "http://127.0.0.1:1"], 2, "--token-file"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(
    arguments: list[str], status: int, message: str, capsys
) -> None:
    assert main(arguments) == status
    told = capsys.readouterr()
    assert told.err.count("\n") == 1
    assert told.err.startswith("dashboards: ")
    assert message in told.err
