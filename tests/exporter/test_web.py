"""The pages as functions of a request."""

import gzip

import pytest
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.openmetrics.parser import (
    text_string_to_metric_families as parse_openmetrics,
)
from prometheus_client.parser import text_string_to_metric_families as parse_text

from exporter.web import Application, Request, Route, accepts_gzip, pages, plain, scrape_timeout

PROMETHEUS_3 = (
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
    "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;q=0.4,"
    "text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
)


def application(size=1, seen=None):
    def collect(timeout):
        if seen is not None:
            seen.append(timeout)
        family = GaugeMetricFamily("vllm:x", "X.", labels=["n"])
        for n in range(size):
            family.add_metric([str(n)], n)
        return [family, GaugeMetricFamily("vllm:without_sample", "None.")]

    return Application(pages(collect, "/metrics", 10.0))


def get(app, path, **headers):
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return app.respond(Request("GET", path, headers=names))


def test_text_unless_openmetrics_is_asked_for():
    response = get(application(), "/metrics")
    assert response.content_type.startswith("text/plain; version=0.0.4")
    assert len(list(parse_text(response.body.decode()))) == 1


PROMETHEUS_2 = (
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
)
LEGACY_NAMES = PROMETHEUS_3.replace("allow-utf-8", "underscores")


@pytest.mark.parametrize(
    "accept",
    [PROMETHEUS_3, PROMETHEUS_2, LEGACY_NAMES, "application/openmetrics-text; version=1.0.0"],
)
def test_openmetrics_for_prometheus(accept):
    response = get(application(), "/metrics", accept=accept)
    assert response.content_type.startswith("application/openmetrics-text")
    assert response.body.endswith(b"# EOF\n")
    [family] = parse_openmetrics(response.body.decode())
    assert [sample.name for sample in family.samples] == ["vllm:x"]


def test_names_keep_their_colon_in_every_format():
    for kind in ("application/openmetrics-text", "text/plain"):
        for version in ("0.0.1", "0.0.4", "1.0.0"):
            for escaping in ("allow-utf-8", "underscores", "dots", "values"):
                accept = f"{kind};version={version};escaping={escaping}"
                body = get(application(), "/metrics", accept=accept).body
                assert b'\nvllm:x{n="0"} 0.0\n' in body


@pytest.mark.parametrize(
    "accept",
    [
        "",
        "*/*",
        "nonsense",
        "application/openmetrics-text;version=x",
        "text/html",
        "a/b;q=x",
        ";;;",
        "\x00",
    ],
)
def test_odd_accept_headers_get_text(accept):
    response = get(application(), "/metrics", accept=accept)
    assert response.content_type.startswith("text/plain")


def test_gzip_if_it_is_worth_it_and_allowed():
    long, short = application(200), application(1)
    zipped = get(long, "/metrics", accept_encoding="deflate, GZIP;q=0.5")
    assert dict(zipped.headers)["Content-Encoding"] == "gzip"
    assert gzip.decompress(zipped.body) == get(long, "/metrics").body
    assert "Content-Encoding" not in dict(get(long, "/metrics").headers)
    assert "Content-Encoding" not in dict(get(short, "/metrics", accept_encoding="gzip").headers)


@pytest.mark.parametrize(
    ("header", "allowed"),
    [
        ("gzip", True),
        ("deflate,gzip", True),
        ("gzip;q=1.0", True),
        ("gzip;q=0", False),
        ("gzip; q = 0.0", False),
        ("identity", False),
        ("xgzip", False),
        ("", False),
    ],
)
def test_accept_encoding(header, allowed):
    assert accepts_gzip(header) is allowed


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("", 10.0),
        ("abc", 10.0),
        ("0", 10.0),
        ("0.2", 10.0),
        ("0.5", 10.0),
        ("-1", 10.0),
        ("nan", 10.0),
        ("1e9", 10.0),
        ("inf", 10.0),
        ("10", 9.5),
        ("2", 1.5),
        ("0.75", 0.25),
    ],
)
def test_scrape_timeout_header_only_ever_makes_it_shorter_and_never_senseless(header, seconds):
    assert scrape_timeout(header, 10.0) == seconds
    seen = []
    get(application(seen=seen), "/metrics", x_prometheus_scrape_timeout_seconds=header)
    assert seen == [seconds]


def test_landing_page_links_to_what_has_a_title_and_shows_the_version():
    routes = {"/a&b": Route(lambda _: plain(200, "x"), title="A <b>"), "/hidden": Route(plain)}
    body = Application(routes).respond(Request("GET", "/")).body.decode()
    assert '<a href="/a&amp;b">A &lt;b&gt;</a>' in body
    assert "hidden" not in body
    body = get(application(), "/").body.decode()
    for path in ("/metrics", "/-/healthy", "/-/ready"):
        assert f'href="{path}"' in body
    assert "Version" in body


@pytest.mark.parametrize("path", ["/nope", "/metrics/", "/metricsx", "//", "/-/", "/-/health", ""])
def test_any_other_path_is_404(path):
    assert get(application(), path).status == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
@pytest.mark.parametrize("path", ["/", "/metrics", "/-/healthy"])
def test_only_get_and_head(method, path):
    response = application().respond(Request(method, path))
    assert response.status == 405
    assert ("Allow", "GET, HEAD") in response.headers


def test_only_pages_that_may_wait_need_a_thread():
    app = application()
    assert app.blocks(Request("GET", "/metrics"))
    for method, path in (("GET", "/"), ("GET", "/-/healthy"), ("POST", "/metrics"), ("GET", "/x")):
        assert not app.blocks(Request(method, path))
