"""Receives Alertmanager's webhooks: prints each message and keeps it in a file."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from cheroot import wsgi
from rich.console import Console

from alerts.command_line import reason
from exporter.addresses import ListenAddress, parse_listen_address
from exporter.parameters import FilePath, Parsed
from monitoring import notification
from monitoring.notification import NotificationError
from monitoring.supervision.errors import ChainError
from monitoring.supervision.interrupt import Interrupt

MAX_BODY_BYTES = 4 * 1024 * 1024
PATHS = ("/notifications", "/")
HEALTH_PATH = "/-/healthy"

_CLIENT_SECONDS = 10
_THREADS = 4

Environ = dict[str, Any]
StartResponse = Callable[[str, list[tuple[str, str]]], Any]


class Receiver:
    """The WSGI application."""

    def __init__(
        self,
        file: Path,
        console: Console,
        complaints: Console,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Take the file to append to, where to print messages, and where to complain."""
        self._file = file
        self._console = console
        self._complaints = complaints
        self._now = now
        self._lock = threading.Lock()

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        status, text = self._answer(environ)
        if not status.startswith("200"):
            self._complaints.print(f"receiver: {text}", markup=False, highlight=False)
        body = (text + "\n").encode()
        start_response(
            status,
            [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(body)))],
        )
        return [body]

    def _answer(self, environ: Environ) -> tuple[str, str]:
        path, method = environ.get("PATH_INFO") or "/", environ.get("REQUEST_METHOD")
        if path == HEALTH_PATH:
            return "200 OK", "Healthy."
        if path not in PATHS:
            return "404 Not Found", f"no such page: {path!r}; messages go to {PATHS[0]}"
        if method != "POST":
            return "405 Method Not Allowed", f"{method} refused: messages are sent by POST"
        try:
            length = max(0, int(environ.get("CONTENT_LENGTH") or 0))
        except ValueError:
            length = 0
        if length > MAX_BODY_BYTES:
            return "413 Content Too Large", f"message of {length} bytes refused"
        return self._receive(environ["wsgi.input"].read(length))

    def _receive(self, body: bytes) -> tuple[str, str]:
        received_at = self._now()
        try:
            message = json.loads(body)
            parsed = notification.parse(message, received_at)
        except NotificationError as error:
            return "400 Bad Request", f"message refused: {error}"
        except (ValueError, RecursionError):
            return "400 Bad Request", "message refused: the body is not JSON"
        with self._lock:
            try:
                with self._file.open("a", encoding="utf-8") as file:
                    file.write(notification.record(message, received_at))
            except OSError as error:
                # Alertmanager tries again after a 500.
                reason = error.strerror or str(error)
                return "500 Internal Server Error", f"{self._file} cannot be written: {reason}"
            with contextlib.suppress(OSError):  # nobody may be reading; the file has it
                self._console.print(notification.render(parsed), soft_wrap=True, end="\n\n")
        return "200 OK", "Received."


@click.command("receiver")
@click.option(
    "--listen",
    "address",
    type=Parsed("ADDRESS", parse_listen_address),
    default="127.0.0.1:19095",
    show_default=True,
    help="Where to receive messages.",
)
@click.option(
    "--file",
    type=FilePath(folder=False),
    default=Path(".run/notifications.jsonl"),
    show_default=True,
    help="Where to keep them, one JSON object a line.",
)
def command(address: ListenAddress, file: Path) -> None:
    """Print each notification that Alertmanager sends, and keep it in a file."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    except OSError as error:
        raise ChainError(f"{file} cannot be written: {error.strerror}") from None
    interrupt = Interrupt()
    interrupt.install()
    complaints = Console(stderr=True, soft_wrap=True)
    application = Receiver(file, Console(), complaints)
    server = _server(application, address)
    threading.Thread(target=server.serve, name="http", daemon=True).start()
    complaints.print(f"receiver: waiting for messages on {address}", markup=False, highlight=False)
    interrupt.stop.wait()
    server.stop()


def _server(application: Receiver, address: ListenAddress) -> wsgi.Server:
    server = wsgi.Server(
        (address.host or "0.0.0.0", address.port),  # noqa: S104 - an empty host asks for it
        application,
        numthreads=_THREADS,
        timeout=_CLIENT_SECONDS,
        shutdown_timeout=2,
    )
    server.max_request_body_size = MAX_BODY_BYTES
    try:
        server.prepare()
    except OSError as error:
        raise ChainError(
            f"receiver: cannot listen on {address}: {reason(error)}; choose another --listen"
        ) from None
    return server
