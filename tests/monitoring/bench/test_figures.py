import math
from pathlib import Path

import pytest

from monitoring.bench.agreement import compare
from monitoring.bench.figures import Client, Histogram, client, percentile, server

RECORDINGS = Path(__file__).parents[2] / "recordings"
START = (RECORDINGS / "h200-vllm-0.25.1/metrics-start.txt").read_text()
LOADED = (RECORDINGS / "h200-vllm-0.25.1/metrics-after-load.txt").read_text()


def test_server_figures_between_two_recorded_pages() -> None:
    counted = server(START, LOADED)
    assert counted is not None
    assert counted.first.count == 192
    assert counted.first.mean == pytest.approx(36.27394938468933 / 192)
    assert counted.first.bucket(0.5) == (0.25, 0.5)
    assert counted.first.bucket(0.25) == (0.01, 0.02)
    assert counted.queue.mean == pytest.approx(0.013512831998525598 / 192)
    assert counted.prefill.mean == pytest.approx(24.42973610200221 / 192)
    assert counted.hit_rate is not None
    assert 0.5 < counted.hit_rate < 1


def test_nothing_between_two_equal_pages() -> None:
    counted = server(LOADED, LOADED)
    assert counted is not None
    assert (counted.hit_rate, counted.first.mean, counted.first.bucket(0.5)) == (None, None, None)


def test_another_server_has_no_figures() -> None:
    assert server("", "") is None
    assert server("", "ollama_requests_total 3\n") is None


def test_client_figures_from_a_result() -> None:
    measured = client(
        {
            "ttfts": [0.1, 0.2],
            "itls": [[0.01], [0.02, 0.03]],
            "input_lens": [544, 545],
            "output_throughput": 50.0,
            "total_token_throughput": 500.0,
            "duration": 2.0,
        }
    )
    assert measured.first == (0.1, 0.2)
    assert measured.gaps == (0.01, 0.02, 0.03)
    assert measured.prompt_tokens == (544, 545)
    assert measured.output_rate == 50.0


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [([3, 1, 2], 0.5, 2), ([1, 2], 0.5, 1.5), ([5], 0.99, 5), (list(range(101)), 0.99, 99)],
)
def test_percentile(values: list[float], share: float, expected: float) -> None:
    assert percentile(values, share) == pytest.approx(expected)


def test_percentile_of_nothing_is_no_number() -> None:
    assert math.isnan(percentile([], 0.5))


def histogram(*seconds: float) -> Histogram:
    bounds = (0.1, 0.25, 0.5, 1.0, math.inf)
    counts = tuple(float(sum(each <= bound for each in seconds)) for bound in bounds)
    return Histogram(bounds, counts, sum(seconds))


def both(client_first: tuple[float, ...], server_first: Histogram) -> dict[str, bool]:
    counted = server(START, LOADED)
    assert counted is not None
    measured = Client(client_first, (), (), 1.0, 1.0, 1.0)
    pair = type(counted)(1.0, 1.0, server_first, histogram(), histogram(), histogram())
    return {each.name: each.agrees for each in compare(measured, pair)}


def test_clocks_that_agree() -> None:
    found = both((0.31, 0.42, 0.45), histogram(0.3, 0.4, 0.44))
    assert found == {
        "time to first token, mean": True,
        "time to first token, median": True,
        "time to first token, p99": True,
    }


def test_clocks_that_do_not_agree() -> None:
    found = both((2.0, 2.0, 2.0), histogram(0.3, 0.4, 0.44))
    assert not any(found.values())


def test_without_gaps_nothing_is_said_of_them() -> None:
    assert not any("inter-token" in name for name in both((0.3,), histogram(0.3)))
