import promql_parser
import pytest

from monitoring.advise.prometheus import SourceError, observe, query_of
from monitoring.prometheus_api import Sample


class StandIn:
    """Answers queries from a table of what they contain; every query must be valid PromQL."""

    def __init__(self, answers: dict[str, list[Sample]]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    def __call__(self, expression: str) -> list[Sample]:
        promql_parser.parse(expression)
        self.asked.append(expression)
        for part, values in self.answers.items():
            if part in expression:
                return values
        return []


INFO = {"enable_prefix_caching": "True", "block_size": "16", "gpu_memory_utilization": "0.85"}
ANSWERS = {
    "count by (server)": [Sample({"server": 'a"b'}, 1)],
    "vllm:cache_config_info{": [Sample(INFO, 1)],
    "queries_total": [Sample({}, 1000)],
    "hits_total": [Sample({}, 600)],
    "avg_over_time(sum(vllm:num_requests_running": [Sample({}, 3)],
    "max_over_time(sum(vllm:num_requests_running": [Sample({}, 8)],
    "total_bytes": [Sample({"uuid": "GPU-1"}, 900)],
    "max_over_time(vllm:gpu_memory_usage": [Sample({"uuid": "GPU-1"}, 0.8)],
}


def test_one_server() -> None:
    prometheus = StandIn(ANSWERS)
    (seen,) = observe(prometheus, 10)
    assert seen.server == 'a"b'
    assert seen.hit_rate == 0.6
    assert (seen.running, seen.running_most) == (3, 8)
    assert seen.configuration.utilization == 0.85
    assert seen.fullest is not None
    assert (seen.fullest.usage, seen.fullest.usable) == (0.8, 900)
    assert any("[600s]" in expression for expression in prometheus.asked)


def test_a_name_with_quotes_stays_one_label() -> None:
    prometheus = StandIn(ANSWERS)
    observe(prometheus, 10)
    assert any(r'{server="a\"b"}' in expression for expression in prometheus.asked)


def test_servers_are_told_apart_and_chosen() -> None:
    both = ANSWERS | {"count by (server)": [Sample({"server": name}, 1) for name in "ba"]}
    assert [seen.server for seen in observe(StandIn(both), 1)] == ["a", "b"]
    assert [seen.server for seen in observe(StandIn(both), 1, "b")] == ["b"]
    with pytest.raises(SourceError, match="knows no server c; it knows a, b"):
        observe(StandIn(both), 1, "c")


def test_no_server_at_all() -> None:
    with pytest.raises(SourceError, match="is the job `vllm` up"):
        observe(StandIn({}), 1)


def test_an_answer_is_read_and_nan_left_out(standin_server) -> None:
    series = [{"metric": {"a": "b"}, "value": [1, text]} for text in ("2", "NaN", "+Inf")]
    answer = {"status": "success", "data": {"result": series}}
    url = standin_server({"/api/v1/query": lambda _: (200, answer)})
    assert query_of(url)("up") == [Sample({"a": "b"}, 2.0)]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("<html>", "answers with a web page, not with a JSON object; start it, correct"),
        ('{"status": "success"}', "answers in a form that is not Prometheus'"),
        ('{"status": "success", "data": {"result": [1]}}', "in a form that is not Prometheus'"),
        ('{"status": "error", "error": "bad"}', "refuses: bad$"),
    ],
)
def test_faults_are_told_in_one_line(standin_server, body: str, message: str) -> None:
    url = standin_server({"/api/v1/query": lambda _: (200, body)})
    with pytest.raises(SourceError, match=message):
        query_of(url)("up")


def test_no_prometheus_is_told_in_one_line() -> None:
    with pytest.raises(SourceError, match=r"nothing answers at http://127\.0\.0\.1:1; start it"):
        query_of("http://127.0.0.1:1")("up")
