"""Every panel of every board has data from a real Prometheus on the chain under mixed traffic."""

import time
from dataclasses import dataclass
from typing import Any

import pytest
import requests
from rich.console import Console

from alerts.settings import load
from dashboards.checks import contents
from monitoring import folders, programs
from monitoring.configuration import Layout
from monitoring.demo.command import SETTINGS
from monitoring.demo.story import Story
from monitoring.demo.traffic import Traffic
from monitoring.display import Display
from monitoring.options import ChainOptions
from monitoring.running import running
from monitoring.supervision.errors import ComponentError
from monitoring.supervision.interrupt import Interrupt
from monitoring.vllm.server import TINY_MODEL_NAME

pytestmark = [pytest.mark.live, pytest.mark.timeout(900)]

WITHOUT_DATA = {
    ("vllm-cache-memory", "External cache, hit rate"): "no KV connector is configured",
    ("vllm-cache-memory", "Multimodal cache, hit rate"): "the tiny model takes no images",
    ("vllm-cache-memory", "GPU memory by owner"): "the GPU is simulated",
    ("vllm-cache-memory", "GPU activity"): "the GPU is simulated",
    ("vllm-cache-memory", "GPU power"): "the GPU is simulated",
    ("vllm-cache-memory", "GPU temperature"): "the GPU is simulated",
}
"""Panels that have no data on this chain, and why."""

_STEP = 2.0  # seconds; the scrape interval of the demo
_VARIABLES = {"$__rate_interval": f"{4 * _STEP:g}s"}
_AFTER_TRAFFIC_SECONDS = 30


@dataclass(frozen=True)
class Answer:
    """What Prometheus said to one query of a panel.

    Attributes:
        board: Uid.
        panel: Title.
        query: PromQL as it was asked.
        legend: Of the query.
        values: Last value of each series, by its labels.
    """

    board: str
    panel: str
    query: str
    legend: str
    values: dict[str, float]


@pytest.fixture(scope="module")
def answers(free_ports, tmp_path_factory) -> list[Answer]:
    folder = tmp_path_factory.mktemp("run")
    options = ChainOptions(
        settings_file=SETTINGS, simulated_gpu=True, ports=free_ports, run_folder=folder
    )
    found = programs.find(options, folders.tools())
    display, interrupt = Display(Console(width=160)), Interrupt()
    layout, settings = Layout(folder, folder / "demo"), load(SETTINGS)
    try:
        with running("demo", options, settings, found, layout, display, interrupt) as chained:
            story, vllm = Story(chained, display, interrupt), chained.url("vllm")
            with (
                Traffic(vllm, TINY_MODEL_NAME, "shared", rate=1.0, clients=1, answer_tokens=12),
                Traffic(vllm, TINY_MODEL_NAME, "unique", rate=0.3, clients=1, answer_tokens=4),
            ):
                begin = time.time()
                # So that there is a notification to show.
                story.memory_fills()
                story.pause(_AFTER_TRAFFIC_SECONDS)
                end = time.time()
                return [
                    answer
                    for board in contents.built(settings)
                    for answer in _ask(board, chained.url("prometheus"), begin, end)
                ]
    except ComponentError as error:
        display.failure(error)
        raise


def _ask(board: dict[str, Any], prometheus: str, begin: float, end: float) -> list[Answer]:
    """Ask all queries of a board as Grafana would, with All in every variable."""
    found = []
    with requests.Session() as session:
        session.trust_env = False
        for query in contents.queries(board):
            text = query.raw
            for name, value in _VARIABLES.items():
                text = text.replace(name, value)
            text = contents.expanded(text)
            kind = "query" if query.instant else "query_range"
            span = {"time": end} if query.instant else {"start": begin, "end": end, "step": _STEP}
            response = session.post(
                f"{prometheus}/api/v1/{kind}", data={"query": text} | span, timeout=20
            )
            assert response.status_code == 200, f"{query}: {response.text}"
            values = {
                str(series["metric"]): float(
                    (series["value"] if query.instant else series["values"][-1])[1]
                )
                for series in response.json()["data"]["result"]
            }
            found.append(Answer(query.board, query.place, text, query.legend, values))
    return found


def test_every_panel_has_data_except_those_with_a_reason(answers) -> None:
    for answer in answers:  # Seen with `pytest -rP`.
        shown = "; ".join(f"{value:g}" for value in list(answer.values.values())[:4])
        print(f"{answer.board} | {answer.panel} | {answer.legend} | {shown}")
    empty = {(one.board, one.panel) for one in answers if not one.values}
    assert empty == set(WITHOUT_DATA)


def test_no_value_is_nan_or_infinite(answers) -> None:
    for one in answers:
        for value in one.values.values():
            assert abs(value) < float("inf"), one


def test_legends_show_values_of_labels(answers) -> None:
    """A label that is missing in one series would leave a hole in its name."""
    for one in answers:
        for labels in one.values:
            for label in contents.legend_labels(one.legend):
                assert f"'{label}': '" in labels, one


def test_shares_are_between_0_and_1(answers) -> None:
    boards = {board["uid"]: board for board in contents.built(load())}
    shares = {
        (uid, panel["title"])
        for uid, board in boards.items()
        for panel in contents.panels(board)
        if panel["fieldConfig"]["defaults"]["unit"] == "percentunit"
    }
    assert len(shares) >= 10
    for one in answers:
        if (one.board, one.panel) in shares:
            assert all(0 <= value <= 1 for value in one.values.values()), one
