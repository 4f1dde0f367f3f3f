"""``python -m monitoring relay``: the relay as a server."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable
from http import HTTPStatus
from pathlib import Path
from typing import Any

import click
from cheroot import wsgi
from rich.console import Console

from alerts.command_line import reason
from exporter.addresses import ListenAddress, parse_listen_address
from exporter.parameters import FilePath, Parsed
from monitoring import folders
from monitoring.relay.delivery import Outcome, deliver
from monitoring.relay.robots import ROBOTS, Robot
from monitoring.supervision.errors import ChainError
from monitoring.supervision.interrupt import Interrupt

HEALTH_PATH = "/-/healthy"
_MOST_BYTES = 1024 * 1024
_CLIENT_SECONDS = 10
_THREADS = 4

Environ = dict[str, Any]
StartResponse = Callable[[str, list[tuple[str, str]]], Any]


class Relay:
    """The WSGI application."""

    def __init__(
        self,
        secrets: Path,
        log: Console,
        send: Callable[..., Outcome] = deliver,
    ) -> None:
        """Take the folder of secrets, where to log, and what delivers."""
        self._secrets = secrets
        self._log = log
        self._send = send

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        outcome = self._answer(environ)
        if environ.get("PATH_INFO") != HEALTH_PATH:
            self._log.print(
                f"relay: {outcome.status} {outcome.reason}", markup=False, highlight=False
            )
        body = f"{outcome.reason}\n".encode()
        start_response(
            f"{outcome.status} {HTTPStatus(outcome.status).phrase}",
            [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(body)))],
        )
        return [body]

    def _answer(self, environ: Environ) -> Outcome:
        path = environ.get("PATH_INFO") or "/"
        if path == HEALTH_PATH:
            return Outcome(200, "Healthy.")
        robot = ROBOTS.get(path.strip("/"))
        if robot is None:
            return Outcome(404, f"no such robot: {path!r}; there are {', '.join(ROBOTS)}")
        if environ.get("REQUEST_METHOD") != "POST":
            return Outcome(405, "messages are sent by POST")
        try:
            length = max(0, int(environ.get("CONTENT_LENGTH") or 0))
        except ValueError:
            length = 0
        if length > _MOST_BYTES:
            return Outcome(413, f"message of {length} bytes refused")
        return self._pass_on(robot, environ["wsgi.input"].read(length))

    def _pass_on(self, robot: Robot, body: bytes) -> Outcome:
        try:
            message = json.loads(body)
        except (ValueError, RecursionError):
            return Outcome(400, "the message is not JSON")
        if not isinstance(message, dict):
            return Outcome(400, f"the message is not one for {robot.name}")
        return self._send(robot, message, self._secrets)


@click.command("relay")
@click.option(
    "--listen",
    "address",
    type=Parsed("ADDRESS", parse_listen_address),
    default="127.0.0.1:19096",
    show_default=True,
    help="Where Alertmanager posts to, as /dingtalk, /feishu and /wecom.",
)
@click.option(
    "--secrets",
    type=FilePath(file=False),
    default=lambda: folders.root() / "secrets" / "notification",
    show_default="secrets/notification",
    help="Folder with NAME-url and, for robots with signatures, NAME-secret.",
)
def command(address: ListenAddress, secrets: Path) -> None:
    """Pass notifications on to the robots of DingTalk, Feishu and WeCom, signed and checked."""
    interrupt = Interrupt()
    interrupt.install()
    log = Console(stderr=True, soft_wrap=True)
    server = wsgi.Server(
        (address.host or "0.0.0.0", address.port),  # noqa: S104 - an empty host asks for it
        Relay(secrets, log),
        numthreads=_THREADS,
        timeout=_CLIENT_SECONDS,
        shutdown_timeout=2,
    )
    server.max_request_body_size = _MOST_BYTES
    try:
        server.prepare()
    except OSError as error:
        raise ChainError(
            f"relay: cannot listen on {address}: {reason(error)}; choose another --listen"
        ) from None
    threading.Thread(target=server.serve, name="http", daemon=True).start()
    log.print(f"relay: waiting for messages on {address}", markup=False, highlight=False)
    interrupt.stop.wait()
    server.stop()
