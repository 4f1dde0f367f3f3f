"""One HTTP request to a neighbour, bounded in time and size, and what its failure means."""

from __future__ import annotations

import json as json_format
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import requests
from urllib3.exceptions import NameResolutionError, NewConnectionError

from alerts.request import Late, within
from exporter.addresses import redacted

MOST_BYTES = 32 * 1024 * 1024
"""Largest answer that is read; the largest page that was seen has 79 kB."""

_CHUNK_BYTES = 64 * 1024
_REDIRECTS = range(300, 400)
_SHOWN_CHARACTERS = 40


class ExchangeError(Exception):
    """There is no answer of use. The message is one line without any secret.

    Attributes:
        absent: Whether nothing listens there.
        late: Whether the answer was not complete in time.
    """

    def __init__(self, message: str, *, absent: bool = False, late: bool = False) -> None:
        super().__init__(message)
        self.absent = absent
        self.late = late


@dataclass(frozen=True)
class Answer:
    """What came back.

    Attributes:
        url: What was asked, without secrets.
        status: HTTP's.
        content: The body, decompressed.
    """

    url: str
    status: int
    content: bytes

    @property
    def text(self) -> str:
        """The body as text; what is none becomes replacement signs."""
        return self.content.decode("utf-8", errors="replace")

    def json_object(self) -> dict[str, Any]:
        """Return the body's JSON object, or raise `ExchangeError`."""
        try:
            value = json_format.loads(self.content)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise ExchangeError(f"{self.url} answers with {self.kind}, not with a JSON object")
        return value

    @property
    def kind(self) -> str:
        """What the body is, for people."""
        begin = " ".join(self.text[:1000].split())
        if not begin:
            return "nothing"
        if begin.lower().startswith(("<!doctype html", "<html")):
            return "a web page"
        return f"{begin[:_SHOWN_CHARACTERS]!r}"


class _TooMuchError(Exception):
    """The answer is larger than allowed."""


def ask(
    method: str,
    url: str,
    seconds: float,
    *,
    json: Any = None,
    parameters: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    most_bytes: int = MOST_BYTES,
    on_line: Callable[[bytes], bool] | None = None,
) -> Answer:
    """Send a request and return the whole answer, whatever its status.

    Proxy variables are ignored, and redirects are not followed: the programs are neighbours.

    Args:
        method: HTTP's.
        url: What to ask.
        seconds: When the whole answer must be there.
        json: What to send, if anything.
        parameters: Of the query.
        headers: Further ones.
        most_bytes: Largest answer.
        on_line: Told each line as it comes, if the status is 200; the answer ends when it returns
            True.

    Raises:
        ExchangeError: Nothing answers, not in time, too much, or with a redirect.
    """

    def work(late: Late) -> Answer:
        with requests.Session() as session:
            session.trust_env = False
            response = session.request(
                method,
                url,
                json=json,
                params=dict(parameters or {}),
                headers=dict(headers or {}),
                timeout=seconds,
                stream=True,
                allow_redirects=False,
            )
            with response:
                return _read(response, url, most_bytes, on_line, late)

    try:
        return within(seconds, work)
    except Exception as error:
        raise _translated(error, url, seconds, most_bytes) from error


def _read(
    response: requests.Response,
    url: str,
    most_bytes: int,
    on_line: Callable[[bytes], bool] | None,
    late: Late,
) -> Answer:
    status = response.status_code
    if status in _REDIRECTS:
        where = redacted(response.headers.get("Location") or "nowhere")
        raise ExchangeError(f"{redacted(url)} redirects to {where[:200]}: give that URL")
    told = on_line if status == requests.codes.ok else None
    content, line = bytearray(), bytearray()
    # A line is to be told when it comes, not when a chunk is full.
    for piece in response.iter_content(1 if told else _CHUNK_BYTES):
        content += piece
        if len(content) > most_bytes:
            raise _TooMuchError
        if late():
            break
        if told is None:
            continue
        line += piece
        if piece == b"\n":
            if told(bytes(line).strip()):
                break
            line.clear()
    return Answer(redacted(url), status, bytes(content))


def _translated(error: Exception, url: str, seconds: float, most_bytes: int) -> ExchangeError:
    """Return what an error of the request means for an operator."""
    if isinstance(error, ExchangeError):
        return error
    try:
        parts = urlsplit(redacted(url))
    except ValueError:
        return ExchangeError(f"{redacted(url)} is no URL")
    shown, root = redacted(url), f"{parts.scheme}://{parts.netloc}"
    reason = getattr(error.args[0], "reason", None) if error.args else None
    if isinstance(reason, NewConnectionError):  # NameResolutionError is one too
        unknown = isinstance(reason, NameResolutionError)
        told = f"there is no host {parts.hostname}" if unknown else f"nothing answers at {root}"
        return ExchangeError(told, absent=True)
    for kind, told in (
        (
            (requests.Timeout, TimeoutError),
            f"{shown} did not answer completely within {seconds:g} s",
        ),
        (_TooMuchError, f"{shown} answers with more than {most_bytes // 1024**2} MiB"),
        (
            requests.exceptions.SSLError,
            f"{root} has no certificate that is accepted, or does not speak TLS: is it http?",
        ),
        (
            (requests.exceptions.ChunkedEncodingError, requests.ConnectionError),
            f"{root} hangs up or does not speak HTTP: is it another program's port, or https?",
        ),
    ):
        if isinstance(error, kind):
            return ExchangeError(told, late=isinstance(error, (requests.Timeout, TimeoutError)))
    return ExchangeError(f"{shown} gives no valid answer ({type(error).__name__})")
