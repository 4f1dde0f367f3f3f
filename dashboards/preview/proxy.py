"""Prometheus' query API for the page: only what reads, and only what the page needs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit, urlunsplit

import requests

TIMEOUT_SECONDS = (3.05, 60.0)
"""Longest wait for a connection, and for each part of an answer."""

BODY_LIMIT = 1 << 20
"""Most bytes of a POST's form: queries are far shorter."""

FORM = "application/x-www-form-urlencoded"

# The whole path must match: there is no way to another endpoint, admin or write ones included.
_READ_ONLY = re.compile(
    r"/api/v1/(?:query|query_range|series|labels|label/[^/]+/values|alerts|rules)"
)
_BY_POST = re.compile(r"/api/v1/(?:query|query_range|series|labels)")


@dataclass(frozen=True)
class Answer:
    """Status code, content type and body of an HTTP answer."""

    status: int
    content_type: str
    body: bytes


def failure(status: int, kind: str, reason: str) -> Answer:
    """Return an error in the form that Prometheus gives its own."""
    body = json.dumps({"status": "error", "errorType": kind, "error": reason})
    return Answer(status, "application/json", body.encode())


def shown(url: str) -> str:
    """Return ``url`` without a user name and password."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))


class Proxy:
    """Passes reading calls on to one Prometheus."""

    def __init__(self, prometheus: str, session: Callable[[], requests.Session]) -> None:
        """Take Prometheus' root URL and what gives a session for each call."""
        self._root = prometheus.rstrip("/")
        self._session = session

    def call(self, method: str, path: str, query: str, body: bytes, content_type: str) -> Answer:
        """Return Prometheus' answer, or why there is none.

        Args:
            method: HTTP method.
            path: Path as the client sent it, percent-encoded.
            query: Query string.
            body: Body of a POST.
            content_type: The body's type; only a form is passed on.
        """
        decoded = unquote(path)
        if not _READ_ONLY.fullmatch(decoded) or not {".", ".."}.isdisjoint(decoded.split("/")):
            return failure(403, "forbidden", f"the preview does not pass on {path}: it only reads")
        if method not in ("GET", "POST") or (method == "POST" and not _BY_POST.fullmatch(decoded)):
            return failure(405, "forbidden", f"the preview does not pass on {method} {path}")
        if method == "POST" and content_type.partition(";")[0].strip().lower() != FORM:
            return failure(415, "bad_data", f"a POST must be a form ({FORM})")
        url = f"{self._root}{path}" + (f"?{query}" if query else "")
        try:
            with self._session() as session:
                answer = session.request(
                    method,
                    url,
                    data=body if method == "POST" else None,
                    headers={"Content-Type": FORM} if method == "POST" else {},
                    timeout=TIMEOUT_SECONDS,
                    allow_redirects=False,
                )
        except requests.RequestException as error:
            return failure(502, "unavailable", f"Prometheus at {shown(self._root)} {_why(error)}")
        content = answer.headers.get("Content-Type", "")
        if not content.startswith("application/json"):
            told = f"HTTP {answer.status_code}, {content or 'no content type'}"
            reason = f"what answers at {shown(self._root)} is no Prometheus: {told}"
            return failure(502, "unavailable", reason)
        return Answer(answer.status_code, "application/json", answer.content)


def _why(error: requests.RequestException) -> str:
    if isinstance(error, requests.Timeout):
        return "does not answer in time"
    if isinstance(error, requests.ConnectionError):
        return "cannot be reached: is it running?"
    return f"does not answer: {type(error).__name__}"
