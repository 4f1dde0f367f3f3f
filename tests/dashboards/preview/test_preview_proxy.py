from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
import requests

from dashboards.preview.proxy import FORM, Proxy, shown


class _Prometheus(requests.Session):
    """Notes what is asked of it, and answers as Prometheus does."""

    def __init__(self, error: Exception | None = None, content_type: str = "application/json"):
        super().__init__()
        self.asked: list[tuple[str, str, Any]] = []
        self.error = error
        self.content_type = content_type

    def request(self, method: str, url: str, **options: Any) -> requests.Response:  # type: ignore[override]
        self.asked.append((method, url, options.get("data")))
        if self.error:
            raise self.error
        answer = requests.Response()
        answer.status_code = 200
        answer.headers["Content-Type"] = self.content_type
        answer._content = b'{"status":"success"}'
        return answer


def _proxy(upstream: _Prometheus, url: str = "http://prometheus.test:9090/") -> Proxy:
    return Proxy(url, lambda: upstream)


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/query",
        "/api/v1/query_range",
        "/api/v1/series",
        "/api/v1/labels",
        "/api/v1/label/server/values",
        "/api/v1/label/__name__/values",
        "/api/v1/alerts",
        "/api/v1/rules",
    ],
)
def test_reading_calls_are_passed_on(path: str) -> None:
    upstream = _Prometheus()
    answer = _proxy(upstream).call("GET", path, "query=up", b"", "")
    assert answer.status == 200
    assert upstream.asked == [("GET", f"http://prometheus.test:9090{path}?query=up", None)]


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/admin/tsdb/delete_series",
        "/api/v1/admin/tsdb/snapshot",
        "/api/v1/write",
        "/api/v1/otlp/v1/metrics",
        "/api/v1/status/config",
        "/api/v1/targets",
        "/api/v1/query/../admin/tsdb/snapshot",
        "/api/v1/label/../values",
        "/api/v1/label/%2e%2e/values",
        "/api/v1/label/..%2fadmin/values",
        "/api/v1/query\n",
        "/api/v1/query/",
        "/api/v2/query",
        "/-/quit",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_everything_else_is_refused(method: str, path: str) -> None:
    upstream = _Prometheus()
    answer = _proxy(upstream).call(method, path, "", b"", FORM)
    assert (answer.status, upstream.asked) == (403, [])
    assert json.loads(answer.body)["status"] == "error"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/v1/rules"),
        ("POST", "/api/v1/label/server/values"),
        ("PUT", "/api/v1/query"),
        ("DELETE", "/api/v1/series"),
    ],
)
def test_methods_that_prometheus_has_no_reading_call_for_are_refused(
    method: str, path: str
) -> None:
    upstream = _Prometheus()
    assert _proxy(upstream).call(method, path, "", b"", FORM).status == 405
    assert upstream.asked == []


def test_a_form_is_passed_on_and_nothing_else() -> None:
    upstream = _Prometheus()
    proxy = _proxy(upstream)
    assert (
        proxy.call("POST", "/api/v1/query", "", b"query=up", f"{FORM};charset=UTF-8").status == 200
    )
    assert upstream.asked[0][2] == b"query=up"
    assert proxy.call("POST", "/api/v1/query", "", b"<x/>", "text/xml").status == 415
    assert len(upstream.asked) == 1


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (requests.ConnectionError(), "cannot be reached"),
        (requests.ReadTimeout(), "does not answer in time"),
        (requests.exceptions.ChunkedEncodingError(), "does not answer: ChunkedEncodingError"),
    ],
)
def test_a_prometheus_that_does_not_answer_is_told_as_json(error: Exception, reason: str) -> None:
    upstream = _Prometheus(error)
    answer = _proxy(upstream, "http://u:secret@prometheus.test").call(
        "GET", "/api/v1/alerts", "", b"", ""
    )
    told: Mapping[str, str] = json.loads(answer.body)
    assert answer.status == 502
    assert told["status"] == "error"
    assert told["error"].startswith("Prometheus at http://prometheus.test ")
    assert reason in told["error"]
    assert b"secret" not in answer.body


def test_what_is_no_prometheus_is_told() -> None:
    answer = _proxy(_Prometheus(content_type="text/html")).call(
        "GET", "/api/v1/alerts", "", b"", ""
    )
    assert answer.status == 502
    assert "is no Prometheus" in json.loads(answer.body)["error"]


def test_a_password_is_not_shown() -> None:
    assert shown("http://user:secret@host:9090/prometheus/") == "http://host:9090/prometheus"
