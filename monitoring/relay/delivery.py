"""One message on its way: secrets read, signed, sent, and the answer told truly."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import requests
from urllib3.exceptions import HTTPError  # not all of them are wrapped by requests

from alerts.request import Reply, send
from monitoring.relay.robots import Message, Request, Robot

# Alertmanager gives up on the relay after ten seconds.
_SECONDS = 8.0
_OK = 200
_TOO_MANY = 429
_SERVER_ERRORS = 500


@dataclass(frozen=True)
class Outcome:
    """What Alertmanager is answered.

    Attributes:
        status: 200: delivered; 400: in vain; 502, 503, 504: to be tried again, which Alertmanager
            does for 5xx.
        reason: For the log; never holds a secret.
    """

    status: int
    reason: str


Post = Callable[[str, Message], Reply]


def post(url: str, message: Message, seconds: float = _SECONDS) -> Reply:
    """Send a message over the network; see `alerts.request.send`."""
    with requests.Session() as session:
        return send(session, "POST", url, seconds, message)


def deliver(
    robot: Robot,
    message: Message,
    secrets: Path,
    send: Post = post,
    clock: Callable[[], float] = time.time,
) -> Outcome:
    """Send a message to a robot.

    Args:
        robot: Where to.
        message: In the robot's own form, as Alertmanager's template made it.
        secrets: Folder with ``NAME-url`` and, for a signed robot, ``NAME-secret``. Read each time,
            so that a changed secret needs no restart.
        send: Posts.
        clock: Unix time in seconds.
    """
    try:
        url = _secret(secrets, f"{robot.name}-url")
        secret = _secret(secrets, f"{robot.name}-secret")
    except UnicodeDecodeError:
        return Outcome(503, f"a secret file of {robot.name} in {secrets} is no text")
    if not url:
        return Outcome(503, f"there is no secret file {robot.name}-url in {secrets}")
    try:
        request = Request(url, robot.cut(message))
    except (KeyError, IndexError, TypeError, AttributeError, UnicodeEncodeError):
        return Outcome(400, f"the message is not one for {robot.name}")
    if secret and robot.sign:
        request = robot.sign(request, secret, clock())
    return _sent(robot, request, send)


def _sent(robot: Robot, request: Request, send: Post) -> Outcome:
    try:
        answer = send(request.url, request.message)
    except requests.Timeout:
        return Outcome(504, f"{robot.name} did not answer completely within {_SECONDS:g} s")
    except (requests.RequestException, HTTPError) as error:
        # The error's own words hold the URL, which is a secret.
        return Outcome(502, f"{robot.name} cannot be reached ({type(error).__name__})")
    if answer.status == _TOO_MANY or answer.status >= _SERVER_ERRORS:
        return Outcome(503, f"{robot.name} answered status {answer.status}")
    if answer.status != _OK:
        return Outcome(400, f"{robot.name} answered status {answer.status}")
    try:
        body = answer.json()
    except (ValueError, RecursionError):
        body = None
    verdict = robot.judge(body)
    if verdict.delivered:
        return Outcome(200, "delivered")
    return Outcome(400 if verdict.final else 503, f"{robot.name}: {verdict.reason}")


def _secret(folder: Path, name: str) -> str:
    try:
        return (folder / name).read_text(encoding="utf-8").strip()
    except OSError:
        return ""
