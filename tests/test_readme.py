"""Both READMEs against the catalogues, the files that they link to, and each other."""

import re
from pathlib import Path

import pytest

from alerts import catalogue as rules
from alerts import settings
from exporter import catalogue as metrics

ROOT = Path(__file__).resolve().parent.parent
READMES = ("README.md", "README.zh-CN.md")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
TARGET = re.compile(r"\]\(([^)\s]+)\)")
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|#")


def prose(name: str) -> str:
    """The text without its code blocks, in which `#` and brackets mean other things."""
    return FENCE.sub("", (ROOT / name).read_text(encoding="utf-8"))


def targets(name: str) -> list[str]:
    return [found for found in TARGET.findall(prose(name)) if not ELSEWHERE.match(found)]


@pytest.mark.parametrize("name", READMES)
def test_names_every_exported_metric(name: str) -> None:
    text = prose(name)
    assert [m.name for m in metrics.EXPORTED if f"`{m.name}`" not in text] == []


@pytest.mark.parametrize("name", READMES)
def test_names_every_alert(name: str) -> None:
    text = prose(name)
    alerts = rules.alerts(settings.load())
    assert [alert.name for alert in alerts if f"`{alert.name}`" not in text] == []


@pytest.mark.parametrize("name", READMES)
def test_counts_the_alerts_that_it_does_not_describe_at_once(name: str) -> None:
    (further,) = re.findall(r"(?:and|另有) (\d+) (?:more\.|条)", prose(name))
    assert len(rules.alerts(settings.load())) == 2 + int(further)


@pytest.mark.parametrize("name", READMES)
def test_says_when_each_alert_fires_and_how_grave_it_is(name: str) -> None:
    text = prose(name)
    for alert in rules.alerts(settings.load()):
        (row,) = re.findall(
            rf"^\| \[`{alert.name}`\]\(\S+\) \| (.+?) \| (.+?) \|", text, re.MULTILINE
        )
        pending = str(alert.terms.pending) if alert.terms.pending.seconds else "-"
        condition, severity = row
        assert (condition.split()[-1], severity) == (pending, alert.terms.severity), alert.name


@pytest.mark.parametrize("name", READMES)
def test_relative_links_and_images_exist(name: str) -> None:
    found = targets(name)
    assert found
    assert [t for t in found if not (ROOT / t.partition("#")[0]).exists()] == []


def test_both_have_the_same_headings_and_links() -> None:
    english, chinese = (len(re.findall(r"^## ", prose(name), re.MULTILINE)) for name in READMES)
    assert english == chinese > 0
    # Each links to the other; everything else they link to alike.
    assert sorted(set(targets(READMES[0])) - set(READMES)) == sorted(
        set(targets(READMES[1])) - set(READMES)
    )
