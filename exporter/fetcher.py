"""Fetching a vLLM server's metrics page, bounded in time and size."""

from __future__ import annotations

import base64
import contextlib
import http.client
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from exporter.bodies import BodyError, read_body
from exporter.exposition import OPENMETRICS
from exporter.files import MAX_CERTIFICATES_MIB, read_file
from exporter.options import Server
from exporter.upstream import (
    Body,
    State,
    UpstreamError,
    check_status,
    metrics_url,
    timed_out,
    translated,
)

MAX_PAGE_BYTES = 32 * 1024 * 1024
"""Largest page that is read; a real one has 45 kB, and 79 kB with two engines."""

ACCEPT = f"text/plain;version=0.0.4, {OPENMETRICS};version=1.0.0;q=0.5, */*;q=0.1"
"""vLLM's Rust front end has nothing but OpenMetrics."""


class HTTPFetcher:
    """Fetches one server's page over HTTP, keeping the connection between scrapes.

    On the standard library's connection and not on a session of requests': with a page of 56 kB
    that costs 0.2 ms instead of 0.8, and its socket is there to be shut when time is up. Proxy
    variables are ignored: the server is a neighbour.
    """

    def __init__(self, server: Server, monotonic: Callable[[], float] = time.monotonic) -> None:
        """Take the server and a clock in seconds; nothing is connected yet.

        Raises:
            OSError: The server's CA file cannot be read (an ssl.SSLError: is none).
        """
        parts = urlsplit(metrics_url(server.url))
        self._server = server
        self._monotonic = monotonic
        self._target = f"{parts.path}?{parts.query}" if parts.query else parts.path
        self._address = (parts.hostname or "", parts.port)
        self._context = tls_context(server.ca_file) if parts.scheme == "https" else None
        self._headers = {
            "Accept": ACCEPT,
            "Accept-Encoding": "identity",
            "User-Agent": "vllm-exporter",
            **_userinfo(server.url),
            **dict(server.headers),
        }
        self._connection: http.client.HTTPConnection | None = None
        self._aborted = False

    def __call__(self, timeout: float) -> Body:
        """Return the page; see `Fetcher`."""
        self._aborted = False
        deadline = self._monotonic() + timeout
        headers = {**self._headers, **self._bearer()}
        try:
            return self._fetch(headers, deadline)
        except (UpstreamError, BodyError, OSError, http.client.HTTPException, ValueError) as error:
            self.close()
            if self._aborted or isinstance(error, TimeoutError):
                raise timed_out(timeout) from error
            if isinstance(error, BodyError):
                raise UpstreamError(State.INVALID, str(error)) from error
            raise translated(error) from error

    def abort(self) -> None:
        """Shut the socket, whatever it waits for; see `Fetcher`."""
        self._aborted = True
        connection = self._connection
        if connection is not None and isinstance(connection.sock, socket.socket):
            # Not SSLSocket's own method: it takes the TLS state from under the reading thread.
            with contextlib.suppress(OSError):
                socket.socket.shutdown(connection.sock, socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the kept connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _fetch(self, headers: Mapping[str, str], deadline: float) -> Body:
        connection = self._connection
        if connection is not None and _dropped(connection):
            self.close()
            connection = None
        kept = connection is not None
        try:
            response = self._request(headers, deadline)
        except (http.client.RemoteDisconnected, ConnectionError):
            # A server may close a kept connection at the very moment at which it is used again.
            if not kept or self._aborted:
                raise
            self.close()
            response = self._request(headers, deadline)
        check_status(response.status)
        content = read_body(response, MAX_PAGE_BYTES, lambda: self._remaining(deadline))
        # A socket that was shut while the head came looks like the end of an empty page.
        self._remaining(deadline)
        content_type = response.getheader("Content-Type", "")
        response.close()
        if response.will_close:
            self.close()
        return Body(content, content_type.lower())

    def _request(self, headers: Mapping[str, str], deadline: float) -> http.client.HTTPResponse:
        connection = self._connection or self._connect(deadline)
        sock = connection.sock
        if sock is not None:
            sock.settimeout(self._remaining(deadline))
        connection.request("GET", self._target, headers=dict(headers))
        return connection.getresponse()

    def _connect(self, deadline: float) -> http.client.HTTPConnection:
        host, port = self._address
        timeout = self._remaining(deadline)
        connection = (
            http.client.HTTPSConnection(host, port, timeout=timeout, context=self._context)
            if self._context
            else http.client.HTTPConnection(host, port, timeout=timeout)
        )
        self._connection = connection
        connection.connect()
        self._remaining(deadline)
        return connection

    def _remaining(self, deadline: float) -> float:
        """Return the seconds left.

        Raises:
            TimeoutError: None are.
        """
        remaining = deadline - self._monotonic()
        if remaining <= 0 or self._aborted:
            raise TimeoutError
        return remaining

    def _bearer(self) -> dict[str, str]:
        path = self._server.bearer_token_file
        if path is None:
            return {}
        try:
            # Read each time: tokens that a platform hands out are replaced every hour or so.
            return {"Authorization": f"Bearer {_token(path)}"}
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "must hold one line of plain text"
            raise UpstreamError(
                State.UNAUTHORIZED, f"cannot read bearer_token_file {path} ({reason})"
            ) from error


def tls_context(ca_file: Path | None) -> ssl.SSLContext:
    """Return the settings of TLS: certificates are always verified.

    Args:
        ca_file: Certificates to believe; None for the system's.

    Raises:
        OSError: The CA file cannot be read, or holds no certificate (ssl.SSLError).
    """
    if ca_file is None:
        return _system_context()
    read_file(ca_file, MAX_CERTIFICATES_MIB)  # OpenSSL would wait for a FIFO
    return ssl.create_default_context(cafile=ca_file)


@lru_cache(maxsize=1)
def _system_context() -> ssl.SSLContext:
    # The system's certificates take 10 ms and some MiB to load: once for all servers.
    return ssl.create_default_context()


def _token(path: Path) -> str:
    token = read_file(path).decode("ascii").strip()
    if not token or not token.isprintable():
        raise ValueError
    return token


def _userinfo(url: str) -> dict[str, str]:
    parts = urlsplit(url)
    if parts.username is None:
        return {}
    login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {"Authorization": f"Basic {base64.b64encode(login.encode()).decode()}"}


def _dropped(connection: http.client.HTTPConnection) -> bool:
    """Tell whether the other side has closed a kept connection (uvicorn does after 5 s)."""
    sock = connection.sock
    if sock is None:
        return True
    sock.settimeout(0)
    try:
        # Anything that can be read between two requests is the end, or belongs to no answer.
        socket.socket.recv(sock, 1, socket.MSG_PEEK)
    except (BlockingIOError, ssl.SSLWantReadError):
        return False
    except OSError:
        pass
    return True
