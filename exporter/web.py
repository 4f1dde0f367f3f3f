"""The exporter's pages over HTTP."""

from __future__ import annotations

import gzip
import html
import socket
from collections.abc import Callable, Iterable
from typing import Any

import structlog
from cheroot import wsgi
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import Metric

from exporter import __version__
from exporter.collectors import Snapshot
from exporter.options import ListenAddress

log = structlog.get_logger()

SCRAPE_TIMEOUT_HEADER = "HTTP_X_PROMETHEUS_SCRAPE_TIMEOUT_SECONDS"
TIMEOUT_MARGIN_SECONDS = 0.5
"""Left of Prometheus' own timeout for the way back."""

_GZIP_LEVEL = 1  # a page on loopback: level 9 costs ten times the CPU for a fifth of the bytes
_GZIP_MIN_BYTES = 1024

Environ = dict[str, Any]
StartResponse = Callable[[str, list[tuple[str, str]]], Any]
Collect = Callable[[float], list[Metric]]

_LANDING = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>vLLM exporter</title></head>
<body><h1>vLLM exporter</h1>
<p>Prefix-cache hit rate and GPU memory of vLLM. Version {version}.</p>
<ul><li><a href="{path}">Metrics</a></li>
<li><a href="/-/healthy">Health</a></li><li><a href="/-/ready">Readiness</a></li></ul>
</body></html>
"""


class Application:
    """The WSGI application: the metrics page, a landing page, health and readiness."""

    def __init__(self, collect: Collect, telemetry_path: str, timeout_seconds: float) -> None:
        """Take what collects the families within a number of seconds, and the page's path."""
        self._collect = collect
        self._timeout = timeout_seconds
        self._pages: dict[str, Callable[[Environ], tuple[bytes, list[tuple[str, str]]]]] = {
            "/": lambda _: (
                _LANDING.format(version=__version__, path=html.escape(telemetry_path)).encode(),
                [("Content-Type", "text/html; charset=utf-8")],
            ),
            "/-/healthy": lambda _: _plain("Healthy.\n"),
            "/-/ready": lambda _: _plain("Ready.\n"),
            telemetry_path: self._metrics,
        }

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        page = self._pages.get(environ.get("PATH_INFO") or "/")
        method = environ.get("REQUEST_METHOD", "GET")
        if page is None:
            status, (body, headers) = "404 Not Found", _plain("Not found. Metrics: see /\n")
        elif method not in ("GET", "HEAD"):
            status, (body, headers) = "405 Method Not Allowed", _plain("Only GET and HEAD.\n")
            headers.append(("Allow", "GET, HEAD"))
        else:
            status, (body, headers) = "200 OK", page(environ)
        headers.append(("Content-Length", str(len(body))))
        start_response(status, headers)
        return [] if method == "HEAD" else [body]

    def _metrics(self, environ: Environ) -> tuple[bytes, list[tuple[str, str]]]:
        timeout = scrape_timeout(environ.get(SCRAPE_TIMEOUT_HEADER, ""), self._timeout)
        encode, content_type = choose_encoder(environ.get("HTTP_ACCEPT", ""))
        body = bytes(encode(Snapshot(self._collect(timeout))))
        headers = [("Content-Type", content_type)]
        if len(body) >= _GZIP_MIN_BYTES and "gzip" in environ.get("HTTP_ACCEPT_ENCODING", ""):
            body = gzip.compress(body, _GZIP_LEVEL)
            headers.append(("Content-Encoding", "gzip"))
        return body, headers


def scrape_timeout(header: str, configured: float) -> float:
    """Return the seconds that a scrape may take.

    Prometheus sends its timeout along; a missing or senseless one leaves the configured one.
    """
    try:
        offered = float(header) - TIMEOUT_MARGIN_SECONDS
    except ValueError:
        return configured
    return min(configured, offered) if offered > 0 else configured


def _plain(text: str) -> tuple[bytes, list[tuple[str, str]]]:
    return text.encode(), [("Content-Type", "text/plain; charset=utf-8")]


def server(application: Application, address: ListenAddress) -> wsgi.Server:
    """Return a server that is bound to ``address`` but does not serve yet.

    Raises:
        OSError: The address cannot be had.
    """
    hosts = [address.host] if address.host else ["::", "0.0.0.0"]  # noqa: S104 - asked for
    for host in hosts[:-1]:
        if not socket.has_ipv6:
            break
        try:
            return _bound(application, host, address.port)
        except OSError:
            continue  # IPv6 is switched off on this host: IPv4 alone then
    return _bound(application, hosts[-1], address.port)


class _Server(wsgi.Server):
    """cheroot's server, with its complaints in the exporter's log."""

    def error_log(self, msg: str = "", level: int = 20, traceback: bool = False) -> None:  # noqa: ARG002
        """Log at debug: what cheroot reports are clients that went away."""
        log.debug("http server", detail=msg.strip())


def _bound(application: Application, host: str, port: int) -> wsgi.Server:
    bound = _Server(
        (host, port), application, numthreads=4, server_name="", timeout=5, shutdown_timeout=1
    )
    bound.prepare()
    return bound
