"""One HTTP request, bounded in time and size whatever the other side does.

The time limit of requests holds for each read from the socket alone, so a server that sends a byte
a second is never too late for it. Here a thread does the request, and is left behind when time is
up.
"""

from __future__ import annotations

import json as json_format
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

import requests

T = TypeVar("T")

Late = Callable[[], bool]
"""Tells whether nobody waits any more."""

MOST_BYTES = 128 * 1024
"""Largest answer that is read; those of Grafana and of the robots have less than 1 kB."""


class TooLargeError(requests.RequestException):
    """The answer is larger than `MOST_BYTES`."""


@dataclass(frozen=True)
class Reply:
    """What came back.

    Attributes:
        status: HTTP's.
        reason: HTTP's words for it.
        headers: By name, in whatever case.
        content: The body, decompressed.
    """

    status: int
    reason: str
    headers: Mapping[str, str]
    content: bytes

    def json(self) -> Any:
        """Return the body's value, or raise ValueError or RecursionError."""
        return json_format.loads(self.content)


def send(session: requests.Session, method: str, url: str, seconds: float, json: Any) -> Reply:
    """Send a request and return the whole answer, whatever its status.

    Redirects are not followed: one would turn POST into GET, and might carry secrets elsewhere.

    Args:
        session: What sends it.
        method: HTTP's.
        url: What to ask.
        seconds: When the whole answer must be there.
        json: What to send; None for nothing.

    Raises:
        requests.RequestException: There is no whole answer; a `requests.Timeout`: not in time.
        urllib3.exceptions.HTTPError: Some that requests does not wrap.
    """

    def work(late: Late) -> Reply:
        response = session.request(
            method, url, json=json, timeout=seconds, allow_redirects=False, stream=True
        )
        content = bytearray()
        with response:
            # Byte by byte, so that what drips is let go of soon after time is up.
            for piece in response.iter_content(1):
                content += piece
                if len(content) > MOST_BYTES:
                    raise TooLargeError
                if late():
                    break
        return Reply(response.status_code, response.reason, response.headers, bytes(content))

    try:
        return within(seconds, work)
    except TimeoutError:
        raise requests.Timeout from None


def within(seconds: float, work: Callable[[Late], T]) -> T:
    """Return what ``work`` returns, or raise what it raises.

    Args:
        seconds: How long it is waited for.
        work: Done in a thread, which is left behind when time is up.

    Raises:
        TimeoutError: It took longer.
    """
    done: Future[T] = Future()
    abandoned = threading.Event()

    def run() -> None:
        try:
            done.set_result(work(abandoned.is_set))
        except BaseException as error:
            done.set_exception(error)

    thread = threading.Thread(target=run, name="request", daemon=True)
    thread.start()
    try:
        thread.join(seconds)
        # Asked before the thread is told: what it then cuts short is no result.
        late = thread.is_alive()
    finally:
        abandoned.set()
    if late:
        raise TimeoutError
    return done.result()
