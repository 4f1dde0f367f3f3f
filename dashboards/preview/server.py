"""The preview over HTTP: the page, the dashboards, and Prometheus behind one origin."""

from __future__ import annotations

import json
import mimetypes
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import requests
from cheroot import wsgi

from dashboards.preview import boards
from dashboards.preview.proxy import BODY_LIMIT, Answer, Proxy, failure, shown

DATASOURCE = "Prometheus"
"""Name of the data source that the page offers to boards' variables."""

_BOARD = "/preview/boards/"
_ASSETS = ("/assets/", "/public/")
_FOREVER = "public, max-age=31536000, immutable"  # names of assets change with their content
_THREADS = 16  # a browser keeps six connections, and a board asks for dozens of queries
_TYPES = {".js": "text/javascript", ".woff2": "font/woff2", ".svg": "image/svg+xml"}
# Grafana's components put their styles into the page while it runs.
_POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: https:; object-src 'none'; base-uri 'none'; form-action 'none'"
)
_SECURITY = [
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Content-Security-Policy", _POLICY),
]

Environ = dict[str, Any]
StartResponse = Callable[[str, list[tuple[str, str]]], Any]


@dataclass(frozen=True)
class Source:
    """What a preview shows.

    Attributes:
        prometheus: Root URL of the Prometheus that is asked.
        scrape_interval: How often it scrapes, as a Prometheus duration; decides the smallest step.
        folder: Folder of the dashboards' JSON.
        site: Folder of the built page.
    """

    prometheus: str
    scrape_interval: str
    folder: Path
    site: Path


class Application:
    """The WSGI application."""

    def __init__(
        self, source: Source, session: Callable[[], requests.Session] = requests.Session
    ) -> None:
        """Take what is shown, and what gives HTTP sessions to Prometheus."""
        self._source = source
        self._site = source.site.resolve()
        self._proxy = Proxy(source.prometheus, session)

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        method = str(environ.get("REQUEST_METHOD", "GET"))
        path = str(environ.get("PATH_INFO") or "/")
        if path.startswith("/api/"):
            answer = self._api(method, environ)
        elif method not in ("GET", "HEAD"):
            answer = failure(405, "forbidden", "only GET and HEAD")
        else:
            answer = self._page(path)
        headers = [
            ("Content-Type", answer.content_type),
            ("Content-Length", str(len(answer.body))),
            ("Cache-Control", _FOREVER if path.startswith("/assets/") else "no-cache"),
            *_SECURITY,
        ]
        start_response(f"{answer.status} {HTTPStatus(answer.status).phrase}", headers)
        return [] if method == "HEAD" else [answer.body]

    def _api(self, method: str, environ: Environ) -> Answer:
        length = str(environ.get("CONTENT_LENGTH") or "0")
        if not length.isdigit() or int(length) > BODY_LIMIT:
            return failure(413, "bad_data", f"a query may have {BODY_LIMIT} bytes")
        body = environ["wsgi.input"].read(int(length)) if int(length) else b""
        return self._proxy.call(
            method,
            _raw_path(environ),
            str(environ.get("QUERY_STRING") or ""),
            body,
            str(environ.get("CONTENT_TYPE") or ""),
        )

    def _page(self, path: str) -> Answer:
        if path == "/-/healthy":
            return Answer(200, "text/plain; charset=utf-8", b"Healthy.\n")
        if path == "/preview/settings.json":
            return _json(
                {
                    "prometheus": shown(self._source.prometheus),
                    "scrapeInterval": self._source.scrape_interval,
                    "datasource": DATASOURCE,
                }
            )
        if path.startswith("/preview/"):
            return self._boards(path)
        if path.startswith(_ASSETS) or path in ("/licences.txt", "/licences.json"):
            return self._file(path)
        if path in ("/", "/index.html") or path.startswith("/d/"):
            return self._file("/index.html")
        return failure(404, "not_found", f"there is no {path}")

    def _boards(self, path: str) -> Answer:
        try:
            known = boards.read(self._source.folder)
        except OSError as error:
            return failure(500, "internal", f"the dashboards cannot be read: {error}")
        if path == "/preview/boards.json":
            return _json([board.entry() for board in known])
        uid = path.removeprefix(_BOARD).removesuffix(".json")
        for board in known:
            if path.startswith(_BOARD) and board.uid == uid:
                return _json(board.model)
        return failure(404, "not_found", f"there is no dashboard with the uid {uid}")

    def _file(self, path: str) -> Answer:
        file = (self._site / path.lstrip("/")).resolve()
        if not file.is_relative_to(self._site) or not file.is_file():
            return failure(404, "not_found", f"there is no {path}")
        kind = _TYPES.get(file.suffix) or mimetypes.guess_type(file.name)[0] or "text/plain"
        if kind.startswith("text/") or kind == "application/json":
            kind += "; charset=utf-8"
        return Answer(200, kind, file.read_bytes())


def _json(content: object) -> Answer:
    return Answer(200, "application/json", json.dumps(content).encode())


def _raw_path(environ: Environ) -> str:
    """Return the path percent-encoded: a label's name may hold what WSGI has decoded."""
    raw = str(environ.get("REQUEST_URI") or "").partition("?")[0]
    return raw if raw.startswith("/") else quote(unquote(str(environ.get("PATH_INFO") or "/")))


class _Server(wsgi.Server):
    """cheroot's server without its complaints about browsers that went away."""

    def error_log(self, msg: str = "", level: int = 20, traceback: bool = False) -> None:
        """Say nothing."""


def server(application: Application, host: str, port: int) -> wsgi.Server:
    """Return a server that is bound to the address but does not serve yet.

    Raises:
        OSError: The address cannot be had.
    """
    bound = _Server(
        (host, port), application, numthreads=_THREADS, server_name="", shutdown_timeout=1
    )
    bound.prepare()
    return bound
