"""The HTTP server: sockets, connections and their limits, on tornado's.

One thread owns all sockets; what blocks runs in worker threads. A client that sends nothing, or
one byte a second, or reads nothing, so costs a socket and never a thread.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
import threading
from collections.abc import Callable, Sequence
from http.client import responses as reasons
from typing import Any
from urllib.parse import parse_qs

import structlog
from tornado import httputil
from tornado.httpserver import HTTPServer
from tornado.iostream import StreamClosedError

from exporter.addresses import ListenAddress
from exporter.web import Application, Request, Response, plain
from exporter.web_access import Access
from exporter.web_config import WebConfigFile
from exporter.web_connections import MAX_CONNECTIONS, Connections
from exporter.workers import SaturatedError, Workers

log = structlog.get_logger()

BACKLOG = 128
MAX_HEADER_BYTES = 16 * 1024
MAX_BODY_BYTES = 64 * 1024  # no page takes a body; a small one is read so that 405 can be answered
BODY_SECONDS = 5.0
SWEEP_SECONDS = 1.0
"""How often connections are looked over and the web configuration is compared with its file."""
GRACE_SECONDS = 0.3
"""At the end, how long answers under way may still take."""


def listen(address: ListenAddress) -> list[socket.socket]:
    """Return sockets that are bound to ``address``.

    Raises:
        OSError: The address cannot be had.
    """
    if not address.host:
        try:
            return [
                socket.create_server(
                    ("::", address.port),
                    family=socket.AF_INET6,
                    dualstack_ipv6=True,
                    backlog=BACKLOG,
                )
            ]
        except (OSError, ValueError) as error:
            if getattr(error, "errno", None) == errno.EADDRINUSE:
                raise
            # IPv6 is switched off on this host: IPv4 alone then.
            return [socket.create_server(("0.0.0.0", address.port), backlog=BACKLOG)]  # noqa: S104 - asked for
    found = socket.getaddrinfo(
        address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    family, _, _, _, bind_to = found[0]
    return [socket.create_server(bind_to, family=family, backlog=BACKLOG)]


class WebServer:
    """Serves an application from a thread of its own."""

    def __init__(
        self,
        application: Application,
        sockets: Sequence[socket.socket],
        max_requests: int,
        config: WebConfigFile | None = None,
        max_connections: int = MAX_CONNECTIONS,
    ) -> None:
        """Take what to serve and where.

        Args:
            application: The pages.
            sockets: Bound and listening.
            max_requests: Most that are worked on at once.
            config: The web configuration.
            max_connections: Most that are open at once.
        """
        self._application = application
        self._sockets = sockets
        self._config = config
        self._workers = Workers("request", max_requests)
        self._access = Access()
        self._connections = Connections(max_connections)
        self._answers: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._run, name="http", daemon=True)
        self._loop = asyncio.new_event_loop()
        self._stopping = asyncio.Event()

    def start(self) -> None:
        """Begin to serve."""
        self._thread.start()

    def stop(self) -> None:
        """Stop serving: close the sockets, let answers under way out, close the connections."""
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(2 * GRACE_SECONDS)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        server = _Server(
            self._connections.admit,
            self._on_request,
            ssl_options=self._config.current.tls if self._config else None,
            idle_connection_timeout=self._connections.idle_seconds,
            body_timeout=BODY_SECONDS,
            max_header_size=MAX_HEADER_BYTES,
            max_body_size=MAX_BODY_BYTES,
            max_buffer_size=2 * MAX_BODY_BYTES,
        )
        for listening in self._sockets:
            listening.setblocking(False)  # tornado accepts until there is nothing more to accept
        server.add_sockets(self._sockets)
        while not self._stopping.is_set():
            try:
                await asyncio.wait_for(self._stopping.wait(), SWEEP_SECONDS)
            except TimeoutError:
                self._connections.sweep(self._loop.time())
                if self._config and self._config.refresh():
                    server.ssl_options = self._config.current.tls
        server.stop()
        if self._answers:
            await asyncio.wait(self._answers, timeout=GRACE_SECONDS)
        self._connections.close()

    def _on_request(self, incoming: httputil.HTTPServerRequest) -> None:
        # The loop keeps only a weak hold on tasks; the set keeps them to their end.
        task = self._loop.create_task(self._answer(incoming))
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)

    async def _answer(self, incoming: httputil.HTTPServerRequest) -> None:
        connection: Any = incoming.connection
        stream = connection.stream
        self._connections.working(stream)
        config = self._config.current if self._config else None
        if config and config.allowed_sans and not config.allows(_certificate(stream)):
            stream.close()
            return
        request = _request(incoming)
        response = await self._access.refusal(request, config)
        if response is None:
            response = await self._respond(request)
        if stream.closed():
            log.debug("client left before its answer", path=request.path)
            return
        self._connections.writing(stream)
        try:
            await _write(connection, request.method, response, config.headers if config else ())
        except StreamClosedError:
            log.debug("client left during its answer", path=request.path)
        self._connections.idle(stream)

    async def _respond(self, request: Request) -> Response:
        try:
            if not self._application.blocks(request):
                return self._application.respond(request)
            work = self._workers.submit(lambda: self._application.respond(request))
            return await asyncio.wrap_future(work)
        except SaturatedError:
            return plain(503, "Too many requests at once: see --web.max-requests.")
        except Exception as error:  # the boundary: one page's fault must not close the others
            log.exception("page failed; please report this", path=request.path, error=repr(error))
            return plain(500, "The exporter failed on this page; see its log.")


class _Server(HTTPServer):
    """tornado's server, with a say in which connections are kept."""

    def initialize(  # type: ignore[override]  # tornado's way to construct; one argument more
        self, admit: Callable[[Any], bool], request_callback: Callable[..., None], **options: Any
    ) -> None:
        self._admit = admit
        super().initialize(request_callback, **options)

    def handle_stream(self, stream: Any, address: Any) -> None:
        if self._admit(stream):
            super().handle_stream(stream, address)
        else:
            stream.close()


def _request(incoming: httputil.HTTPServerRequest) -> Request:
    return Request(
        method=incoming.method or "",
        path=incoming.path or "/",
        query=parse_qs(incoming.query, keep_blank_values=True),
        headers={name.lower(): value for name, value in incoming.headers.items()},
    )


def _certificate(stream: Any) -> dict[str, Any]:
    wrapped = stream.socket
    return dict(wrapped.getpeercert() or {}) if isinstance(wrapped, ssl.SSLSocket) else {}


async def _write(
    connection: Any, method: str, response: Response, extra: Sequence[tuple[str, str]]
) -> None:
    headers = httputil.HTTPHeaders()
    headers["Content-Type"] = response.content_type
    headers["Content-Length"] = str(len(response.body))
    for name, value in (*response.headers, *extra):
        headers[name] = value
    start = httputil.ResponseStartLine(
        "HTTP/1.1", response.status, reasons.get(response.status, "")
    )
    body = None if method == "HEAD" else response.body
    written = connection.write_headers(start, headers, body)
    connection.finish()
    await written
