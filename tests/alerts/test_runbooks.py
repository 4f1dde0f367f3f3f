"""Each alert has its runbook, and what that tells to paste works."""

import re
from pathlib import Path

import pytest

from alerts import catalogue
from alerts.settings import load

SETTINGS = load()
FOLDER = Path(catalogue.__file__).with_name("runbooks")
RUNBOOKS = sorted(FOLDER.glob("*.md"))
MOST_PROSE = 0.2  # smaller shares are written in per cent
every_runbook = pytest.mark.parametrize("runbook", RUNBOOKS, ids=lambda path: path.stem)


def test_each_alert_has_one_and_none_is_left_over() -> None:
    assert [path.stem for path in RUNBOOKS] == sorted(
        alert.name for alert in catalogue.alerts(SETTINGS)
    )


@every_runbook
def test_has_all_sections(runbook: Path) -> None:
    text = runbook.read_text()
    assert text.startswith(f"# {runbook.stem}\n")
    sections = re.findall(r"^## (.+)$", text, re.MULTILINE)
    for section in ("Meaning", "Impact", "Diagnosis", "Mitigation", "When to ignore it"):
        assert section in sections


@every_runbook
def test_states_the_rule_as_it_is(runbook: Path) -> None:
    (alert,) = (a for a in catalogue.alerts(SETTINGS) if a.name == runbook.stem)
    text = " ".join(runbook.read_text().split())
    if not alert.terms.pending.seconds:
        return
    minutes = int(alert.terms.pending.seconds / 60)
    unit = "minute" if minutes == 1 else "minutes"
    head = text.split("## ")[0]
    assert f"{alert.terms.severity.capitalize()}. " in head
    assert f"{minutes} {unit}" in head
    if alert.measure.unit == "share" and alert.measure.threshold >= MOST_PROSE:
        assert f"{alert.measure.threshold:g}" in head


@every_runbook
def test_queries_parse_and_name_existing_metrics(runbook: Path, selectors, metric_labels) -> None:
    recorded = {rule.record for group in catalogue.groups(SETTINGS) for rule in group.recordings}
    queries = re.findall(r"^\| [^|]+ \| `(.+)` \|$", runbook.read_text(), re.MULTILINE)
    assert queries
    for query in queries:
        names = {selector.name for selector in selectors(query)}
        assert names
        assert names <= metric_labels.keys() | recorded


def test_a_permanent_alert_on_memory_is_explained_with_two_ways_out() -> None:
    text = (FOLDER / "VLLMGPUMemoryHigh.md").read_text()
    assert "fires for ever on a healthy" in text
    ways = text.split("Two ways out:")[1].split("## ")[0]
    assert re.findall(r"^(\d)\.", ways, re.MULTILINE) == ["1", "2"]


def test_the_file_that_the_runbook_tells_to_write_is_taken(tmp_path: Path) -> None:
    text = (FOLDER / "VLLMGPUMemoryHigh.md").read_text()
    snippet = re.search(r"`(memory: .+?)`", text)
    assert snippet
    mine = tmp_path / "my.yml"
    mine.write_text(snippet[1])
    assert load(mine).memory.usage.high == 0.97
