"""The exporter's pages: functions of a request, without sockets and threads."""

from __future__ import annotations

import gzip
import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from prometheus_client.exposition import (
    CONTENT_TYPE_PLAIN_0_0_4,
    choose_encoder,
    generate_latest,
)
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics import exposition as openmetrics

from exporter import __version__
from exporter.collectors import Snapshot

SCRAPE_TIMEOUT_HEADER = "x-prometheus-scrape-timeout-seconds"
TIMEOUT_MARGIN_SECONDS = 0.5
"""Left of Prometheus' own timeout for the way back."""

_GZIP_LEVEL = 1  # a page on loopback: level 9 costs ten times the CPU for a fifth of the bytes
_GZIP_MIN_BYTES = 1024

TEXT = "text/plain; charset=utf-8"
HTML = "text/html; charset=utf-8"

Collect = Callable[[float], list[Metric]]

_LANDING = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>vLLM exporter</title></head>
<body><h1>vLLM exporter</h1>
<p>Prefix-cache hit rate and GPU memory of vLLM. Version {version}.</p>
<ul>{links}</ul>
</body></html>
"""


@dataclass(frozen=True)
class Request:
    """One request, as far as a page looks at it.

    Attributes:
        method: In capitals.
        path: Without the query, decoded.
        query: Values by name, in their order.
        headers: Values by name in lower case.
    """

    method: str
    path: str
    query: Mapping[str, Sequence[str]] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Response:
    """One answer.

    Attributes:
        status: HTTP status code.
        body: What is sent, encoded.
        content_type: What the body is.
        headers: Further headers.
    """

    status: int
    body: bytes
    content_type: str = TEXT
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Route:
    """What answers at one path.

    Attributes:
        handler: Gives the answer.
        methods: Those allowed; HEAD is answered as GET without the body.
        blocking: Whether the handler may wait (for vLLM, a driver, a disk) and so needs a thread.
        title: Text of its link on the landing page; empty for none.
    """

    handler: Callable[[Request], Response]
    methods: tuple[str, ...] = ("GET", "HEAD")
    blocking: bool = False
    title: str = ""


class Application:
    """The pages by path."""

    def __init__(self, routes: Mapping[str, Route]) -> None:
        """Take the routes; a landing page that links to them is added at ``/``."""
        landing = _landing(routes)
        self._routes = {"/": Route(lambda _: Response(200, landing, HTML)), **routes}

    def blocks(self, request: Request) -> bool:
        """Tell whether answering may wait for something."""
        route = self._routes.get(request.path)
        return route is not None and route.blocking and request.method in route.methods

    def respond(self, request: Request) -> Response:
        """Return the answer to ``request``."""
        route = self._routes.get(request.path)
        if route is None:
            return plain(404, "Not found. Metrics: see /")
        if request.method not in route.methods:
            allowed = ", ".join(route.methods)
            return Response(405, f"Only {allowed}.\n".encode(), headers=(("Allow", allowed),))
        return route.handler(request)


def pages(collect: Collect, telemetry_path: str, timeout_seconds: float) -> dict[str, Route]:
    """Return the pages that every exporter has.

    Args:
        collect: Collects the families within a number of seconds.
        telemetry_path: Path of the metrics page.
        timeout_seconds: Longest time that a scrape may take.
    """

    def metrics(request: Request) -> Response:
        timeout = scrape_timeout(request.headers.get(SCRAPE_TIMEOUT_HEADER, ""), timeout_seconds)
        return metrics_response(collect(timeout), request)

    return {
        telemetry_path: Route(metrics, blocking=True, title="Metrics"),
        "/-/healthy": Route(lambda _: plain(200, "Healthy."), title="Health"),
        "/-/ready": Route(lambda _: plain(200, "Ready."), title="Readiness"),
    }


def metrics_response(families: Iterable[Metric], request: Request) -> Response:
    """Return ``families`` in the format and the coding that ``request`` prefers."""
    encode, content_type = encoder(request.headers.get("accept", ""))
    body = encode(Snapshot(families))
    headers: tuple[tuple[str, str], ...] = (("Vary", "Accept, Accept-Encoding"),)
    if len(body) >= _GZIP_MIN_BYTES and accepts_gzip(request.headers.get("accept-encoding", "")):
        body = gzip.compress(body, _GZIP_LEVEL)
        headers = (*headers, ("Content-Encoding", "gzip"))
    return Response(200, body, content_type, headers)


def encoder(accept: str) -> tuple[Callable[[Snapshot], bytes], str]:
    """Return what writes the format that an Accept header prefers, and its content type.

    All names are valid in every escaping scheme, so none is ever escaped. prometheus_client is
    told so, because its OpenMetrics writer takes the colon out of names in the older schemes.
    """
    try:
        _, content_type = choose_encoder(accept)
    except (TypeError, ValueError):  # a version that is no number
        content_type = CONTENT_TYPE_PLAIN_0_0_4
    write = (
        openmetrics.generate_latest
        if content_type.startswith("application/openmetrics-text")
        else generate_latest
    )
    return lambda page: bytes(write(page, escaping=openmetrics.ALLOWUTF8)), content_type


def scrape_timeout(header: str, configured: float) -> float:
    """Return the seconds that a scrape may take.

    Prometheus sends its timeout along; a missing or senseless one leaves the configured one.
    """
    try:
        offered = float(header) - TIMEOUT_MARGIN_SECONDS
    except ValueError:
        return configured
    return min(configured, offered) if offered > 0 else configured


def accepts_gzip(header: str) -> bool:
    """Tell whether an Accept-Encoding header allows gzip (RFC 9110, 12.5.3)."""
    for entry in header.split(","):
        coding, *parameters = (part.strip().lower() for part in entry.split(";"))
        if coding == "gzip":
            return not any(parameter.replace(" ", "") in _REFUSALS for parameter in parameters)
    return False


_REFUSALS = {"q=0", "q=0.0", "q=0.00", "q=0.000"}


def plain(status: int, text: str) -> Response:
    """Return ``text`` as a line of plain text."""
    return Response(status, f"{text}\n".encode())


def _landing(routes: Mapping[str, Route]) -> bytes:
    links = "".join(
        f'<li><a href="{html.escape(path)}">{html.escape(route.title)}</a></li>'
        for path, route in routes.items()
        if route.title
    )
    return _LANDING.format(version=__version__, links=links).encode()
