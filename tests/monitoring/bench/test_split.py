import json
import math
from pathlib import Path

import pytest

from monitoring.bench.figures import Client, Histogram, Server, server
from monitoring.bench.gauges import Gauges
from monitoring.bench.measurement import Point, Run
from monitoring.bench.report import Report, write
from monitoring.bench.scenario import Scenario
from monitoring.bench.split import split

RECORDINGS = Path(__file__).parents[2] / "recordings/h200-vllm-0.25.1"
LOAD = Scenario(512, True, 32, 16, 1, 2)


def client(*first: float) -> Client:
    return Client(first, (), (), 1.0, 1.0, 1.0)


def histogram(*seconds: float) -> Histogram:
    return Histogram((math.inf,), (float(len(seconds)),), sum(seconds))


def counted(
    first: tuple[float, ...], queue: tuple[float, ...], prefill: tuple[float, ...]
) -> Server:
    return Server(1.0, 1.0, histogram(*first), histogram(), histogram(*queue), histogram(*prefill))


FIRST_RUN = (client(0.10, 0.20), counted((0.09, 0.19), (0.01, 0.02), (0.05, 0.15)))
SECOND_RUN = (client(0.30, 0.40), counted((0.29, 0.39), (0.01, 0.02), (0.25, 0.35)))


def test_parts_are_means_over_all_runs_and_add_up_to_the_whole() -> None:
    found = split([FIRST_RUN, SECOND_RUN])
    assert found is not None
    assert found.requests == 4
    assert found.first == pytest.approx(0.25)
    assert found.way == pytest.approx(0.01)
    assert found.queue == pytest.approx(0.015)
    assert found.prefill == pytest.approx(0.2)
    assert found.way + found.entrance + found.queue + found.prefill == pytest.approx(0.25)


@pytest.mark.parametrize(
    "other",
    [
        (client(0.1), counted((0.1, 9.0), (0.1, 9.0), (0.1, 9.0))),  # somebody else's request too
        (client(0.1, 0.1), counted((0.1, 0.1), (0.1,), (0.1,))),  # a page that was read too soon
        (client(), counted((), (), ())),
        (client(0.1), None),
    ],
)
def test_a_run_of_other_requests_is_left_out(other: tuple[Client, Server | None]) -> None:
    assert split([other]) is None
    assert split([FIRST_RUN, other]) == split([FIRST_RUN])


def test_a_server_without_these_histograms_has_no_parts() -> None:
    page = 'vllm:prefix_cache_queries_total{engine="0"} 1\n'
    assert split([(client(0.1), server("", page))]) is None


def test_the_report_says_where_the_time_goes(tmp_path: Path) -> None:
    pages = [(RECORDINGS / f"metrics-{name}.txt").read_text() for name in ("start", "after-load")]
    # As many requests as were recorded, and the client's clock 2 ms behind vLLM's.
    measured = client(*[36.27394938468933 / 192 + 0.002] * 192)
    point = Point("caching on", LOAD, [Run(measured, server(*pages), Gauges())])
    text, data = (path.read_text() for path in write(Report("", {}, [point], []), tmp_path)[:2])
    assert "## Where the time to first token goes" in text
    assert (
        "| caching on | 512 shared, 1 at once, text | 192 | 190.9 | 2.0 | 61.6 | 0.1 | 127.2 |"
        in text
    )
    (written,) = json.loads(data)["points"]
    assert written["ttft_split"]["way"] == pytest.approx(0.002)
    assert written["ttft_split"]["prefill"] == pytest.approx(24.42973610200221 / 192)
