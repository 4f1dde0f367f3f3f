import json
from pathlib import Path

import pytest

from alerts.settings import load
from dashboards import build
from dashboards.cli import main


def test_the_committed_files_are_what_the_code_gives(tmp_path: Path) -> None:
    written = build.write(load(), tmp_path)
    committed = {path.name: path.read_text() for path in build.GENERATED.glob("*")}
    assert {path.name: path.read_text() for path in written} == committed, (
        "run `make build` and commit"
    )


def test_building_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    (first,), (second,) = (build.write(load(), tmp_path / name) for name in ("a", "b"))
    assert first.read_bytes() == second.read_bytes()


def test_command_builds_with_a_users_thresholds(tmp_path: Path, capsys) -> None:
    mine = tmp_path / "my.yml"
    mine.write_text("cache: {hit_rate: {low: 0.41}}")
    assert main(["build", "--settings", str(mine), "--output", str(tmp_path / "out")]) == 0
    path = Path(capsys.readouterr().out.strip())
    panels = {panel["id"]: panel for panel in json.loads(path.read_text())["panels"]}
    steps = panels[11]["fieldConfig"]["defaults"]["thresholds"]["steps"]
    assert [step["value"] for step in steps] == [None, 0.3, 0.41, 0.7]
    assert "below 41% for 5m alerts" in panels[11]["description"]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["build", "--settings", "none.yml"], 2, "none.yml: cannot be read"),
        (["build", "--colour"], 2, "No such option"),
        (["build", "--output", "/proc/none"], 1, "/proc/none: cannot be written"),
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
