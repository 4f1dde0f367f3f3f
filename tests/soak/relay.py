"""What stands between the exporter and vLLM, and keeps the very pages that went through.

Only so can the exporter's figures be compared with figures computed from the same pages.
"""

from __future__ import annotations

import http.client
import threading
import time
from collections import deque
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

UPSTREAM_SECONDS = 4.0
"""Longest wait for vLLM; less than the exporter's own, so that both agree on what was in time."""

HOLD_SECONDS = 7.0
"""How long an answer that is not in time is held back; more than the exporter waits."""

KEPT_PAGES = 400


@dataclass(frozen=True)
class Passage:
    """One request of the exporter.

    Attributes:
        at: When it was answered, in seconds of `time.monotonic`.
        page: vLLM's page; None if there was none.
    """

    at: float
    page: bytes | None


class Relay:
    """Passes vLLM's page on, and remembers what it passed."""

    def __init__(self, upstream_port: int) -> None:
        """Listen on a free port; nothing is served before `start`."""
        relay = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                relay._pass(self)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Say nothing."""

        self._upstream_port = upstream_port
        self._passages: deque[Passage] = deque(maxlen=KEPT_PAGES)
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port: int = self._server.server_port

    def start(self) -> None:
        """Serve in a thread."""
        threading.Thread(target=self._server.serve_forever, name="relay", daemon=True).start()

    def stop(self) -> None:
        """Serve no more."""
        self._server.shutdown()
        self._server.server_close()

    def passages(self) -> list[Passage]:
        """Return what went through, oldest first."""
        with self._lock:
            return list(self._passages)

    def _pass(self, handler: BaseHTTPRequestHandler) -> None:
        began = time.monotonic()
        page, hung = None, False
        try:
            page = self._fetch()
        except TimeoutError:
            hung = True
        except (OSError, http.client.HTTPException):
            pass
        if page is not None and time.monotonic() - began > UPSTREAM_SECONDS:
            page, hung = None, True
        with self._lock:
            self._passages.append(Passage(time.monotonic(), page))
        if hung:
            time.sleep(max(0.0, HOLD_SECONDS - (time.monotonic() - began)))
        handler.close_connection = page is None
        if page is None:
            return
        try:
            handler.send_response(200)
            handler.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            handler.send_header("Content-Length", str(len(page)))
            handler.end_headers()
            handler.wfile.write(page)
        except OSError:
            handler.close_connection = True

    def _fetch(self) -> bytes:
        connection = http.client.HTTPConnection(
            "127.0.0.1", self._upstream_port, timeout=UPSTREAM_SECONDS
        )
        try:
            connection.request("GET", "/metrics")
            response = connection.getresponse()
            body = response.read()
        finally:
            connection.close()
        if response.status != http.client.OK:
            raise http.client.HTTPException(str(response.status))
        return body
