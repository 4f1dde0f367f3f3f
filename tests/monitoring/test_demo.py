"""The demo's story where it does not go as it should, on stand-ins for the chain."""

import io
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console

from alerts.duration import Duration
from alerts.settings import load
from monitoring.cli import main
from monitoring.configuration import Layout
from monitoring.demo import command, outcome, pages, story
from monitoring.demo.outcome import Delivery, Outcome
from monitoring.demo.stage import StoryError
from monitoring.demo.story import HIT_RATE_LOW, Story
from monitoring.display import Display
from monitoring.metrics_page import PageError
from monitoring.notification import AlertNotice, Notification
from monitoring.supervision.errors import Interrupted
from monitoring.supervision.interrupt import Interrupt

BEGIN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def notice(name: str, status: str) -> AlertNotice:
    return AlertNotice(status, {"alertname": name}, {}, BEGIN + timedelta(seconds=2), None)


def told(seconds: float, *notices: AlertNotice) -> Notification:
    return Notification(BEGIN + timedelta(seconds=seconds), notices)


def test_the_first_telling_after_a_moment_counts():
    early = told(-1, notice("A", "firing"))
    other = told(1, notice("B", "firing"), notice("A", "resolved"))
    right = told(3, notice("B", "firing"), notice("A", "firing"))
    later = told(4, notice("A", "firing"))
    notifications = [early, other, right, later]
    found = outcome.find(notifications, "A", "firing", BEGIN)
    assert found == Delivery(right.alerts[1], right.received_at)
    assert outcome.find(notifications, "B", "resolved", BEGIN) is None


def test_the_table_counts_from_the_cause_and_from_its_end():
    relief = BEGIN + timedelta(seconds=30)
    one = Outcome(
        HIT_RATE_LOW,
        BEGIN,
        relief,
        Delivery(notice(HIT_RATE_LOW, "firing"), BEGIN + timedelta(seconds=3)),
        Delivery(notice(HIT_RATE_LOW, "resolved"), relief + timedelta(seconds=7)),
    )
    out = io.StringIO()
    Console(file=out, width=80).print(outcome.table([one]))
    row = next(line for line in out.getvalue().splitlines() if HIT_RATE_LOW in line)
    assert [cell.strip() for cell in row.strip("│").split("│")] == [
        HIT_RATE_LOW,
        "2.0 s",
        "3.0 s",
        "7.0 s",
    ]


class ChainStandin:
    """Has the URLs and files of a chain, and nothing that runs."""

    def __init__(self, url, folder):
        settings = load(command.SETTINGS)
        self.settings = replace(settings, cache=replace(settings.cache, window=Duration("300ms")))
        self.layout = Layout(folder, folder)
        self.supervisor = self
        self.failed = []
        self._url = url

    def url(self, name):
        return self._url

    def find(self, name):
        return None

    def look_after(self):
        return []


@pytest.fixture
def chain(standin_server, tmp_path, monkeypatch):
    """A chain whose vLLM finds 3 of 4 tokens, and whose exporter says 0.75."""
    monkeypatch.setattr(story, "_GOOD_SECONDS", 0.2)
    tokens = {"looked_up": 0}

    def metrics(_):
        tokens["looked_up"] += 400
        return 200, (
            f'vllm:prefix_cache_queries_total{{engine="0"}} {tokens["looked_up"]}\n'
            f'vllm:prefix_cache_hits_total{{engine="0"}} {tokens["looked_up"] * 0.75}\n'
            f'vllm:prefix_cache_hit_rate{{server="s"}} {chain.exported}\n'
        )

    url = standin_server(
        {
            "/v1/models": lambda _: (200, {"data": [{"id": "tiny"}]}),
            "/metrics": metrics,
            "/v1/completions": lambda _: (500, {}),
            "/api/v1/query": lambda _: (200, {"status": "success", "data": {"result": []}}),
            "/api/v1/rules": lambda _: (200, {"status": "success", "data": {"groups": []}}),
        }
    )
    chain = ChainStandin(url, tmp_path)
    chain.exported = 0.75
    return chain


@pytest.fixture
def played(chain):
    return Story(chain, Display(Console(file=io.StringIO())), Interrupt())


def test_what_does_not_come_fails_at_its_deadline_and_says_how_things_stand(chain, played):
    with pytest.raises(StoryError) as caught:
        played.good_traffic()
    assert caught.value.message == (
        "no hit rate above 0.7 within 0 s (hit rate not reported, GPU memory not reported, alerts: "
        f"none); logs: {chain.layout.logs}"
    )


def test_failing_traffic_is_told_with_what_did_not_come(played):
    with played.traffic("shared", rate=50), pytest.raises(StoryError) as caught:
        played.good_traffic()
    assert re.search(r"[1-9] requests failed, the last with HTTP 500", caught.value.message)


def test_a_program_that_was_given_up_ends_the_story(chain, played):
    chain.failed = ["vllm"]
    with pytest.raises(StoryError, match="vllm was given up"):
        played.good_traffic()


def test_a_wish_to_stop_ends_the_story(chain):
    interrupt = Interrupt()
    interrupt.stop.set()
    with pytest.raises(Interrupted):
        Story(chain, Display(Console(file=io.StringIO())), interrupt).good_traffic()


def test_hit_rates_that_agree_are_told(played):
    comparison = played.compare()
    assert comparison.computed == 0.75
    assert comparison.difference == 0


@pytest.mark.parametrize("exported", ["0.72", "NaN"])
def test_hit_rates_that_differ_fail(chain, played, exported):
    chain.exported = exported
    with pytest.raises(StoryError, match="hit rates differ"):
        played.compare()


def test_a_server_without_a_model_fails(chain, standin_server):
    chain._url = standin_server({"/v1/models": lambda _: (200, {"data": []})})
    with pytest.raises(StoryError, match="does not name a model"):
        Story(chain, Display(Console(file=io.StringIO())), Interrupt())


def test_without_its_own_server_there_is_nothing_to_kill(played):
    with pytest.raises(StoryError, match="nothing to kill"):
        played.vllm_dies()


def test_a_python_without_vllm_is_one_clear_line(tmp_path, capsys):
    arguments = ["demo", "--vllm-python", "/bin/false", "--run-dir", str(tmp_path)]
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "no Python that has vLLM" in error


def test_both_counters_come_from_one_page_with_all_engines_together(standin_server):
    pages_read = []

    def metrics(_):
        pages_read.append(1)
        queries, hits = 100 * len(pages_read), 60 * len(pages_read)
        return 200, "".join(
            f'vllm:prefix_cache_queries_total{{engine="{engine}"}} {queries}\n'
            f'vllm:prefix_cache_hits_total{{engine="{engine}"}} {hits}\n'
            for engine in (0, 1)
        )

    url = standin_server({"/metrics": metrics})
    assert pages.counters(url) == pages.Counters(queries=200, hits=120)


def test_a_page_that_cannot_be_had_is_one_line(free_port):
    with pytest.raises(PageError, match="nothing answers at"):
        pages.counters(f"http://127.0.0.1:{free_port()}")
