import json

import promql_parser
import pytest
import requests

from monitoring.advise.prometheus import SourceError, Value, observe, query_of


class StandIn:
    """Answers queries from a table of what they contain; every query must be valid PromQL."""

    def __init__(self, answers: dict[str, list[Value]]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    def __call__(self, expression: str) -> list[Value]:
        promql_parser.parse(expression)
        self.asked.append(expression)
        for part, values in self.answers.items():
            if part in expression:
                return values
        return []


INFO = {"enable_prefix_caching": "True", "block_size": "16", "gpu_memory_utilization": "0.85"}
ANSWERS = {
    "count by (server)": [Value({"server": 'a"b'}, 1)],
    "vllm:cache_config_info{": [Value(INFO, 1)],
    "queries_total": [Value({}, 1000)],
    "hits_total": [Value({}, 600)],
    "avg_over_time(sum(vllm:num_requests_running": [Value({}, 3)],
    "max_over_time(sum(vllm:num_requests_running": [Value({}, 8)],
    "total_bytes": [Value({"uuid": "GPU-1"}, 900)],
    "max_over_time(vllm:gpu_memory_usage": [Value({"uuid": "GPU-1"}, 0.8)],
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
    both = ANSWERS | {"count by (server)": [Value({"server": name}, 1) for name in "ba"]}
    assert [seen.server for seen in observe(StandIn(both), 1)] == ["a", "b"]
    assert [seen.server for seen in observe(StandIn(both), 1, "b")] == ["b"]
    with pytest.raises(SourceError, match="knows no server c; it knows a, b"):
        observe(StandIn(both), 1, "c")


def test_no_server_at_all() -> None:
    with pytest.raises(SourceError, match="is the job `vllm` up"):
        observe(StandIn({}), 1)


class Session:
    """A stand-in for HTTP."""

    trust_env = True

    def __init__(self, body: bytes | Exception) -> None:
        self.body = body

    def get(self, url: str, **_: object) -> requests.Response:
        if isinstance(self.body, Exception):
            raise self.body
        response = requests.Response()
        response.status_code = 200
        response._content = self.body
        return response


def ask(body: bytes | Exception) -> list[Value]:
    return query_of("http://p", Session(body))("up")  # type: ignore[arg-type]


def test_an_answer_is_read_and_nan_left_out() -> None:
    series = [{"metric": {"a": "b"}, "value": [1, text]} for text in ("2", "NaN", "+Inf")]
    answer = {"status": "success", "data": {"result": series}}
    assert ask(json.dumps(answer).encode()) == [Value({"a": "b"}, 2.0)]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (requests.ConnectionError(), "no Prometheus answers at http://p"),
        (requests.Timeout(), "does not answer as a Prometheus does"),
        (b"<html>", "does not answer as a Prometheus does"),
        (b'{"status": "error", "error": "bad"}', "refuses a query: bad"),
    ],
)
def test_faults_are_told_in_one_line(body: bytes | Exception, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        ask(body)
