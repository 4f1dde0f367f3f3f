"""What fetching a server's page can come to, and what a fetcher must offer."""

from __future__ import annotations

import http.client
import ssl
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol
from urllib.parse import urlsplit, urlunsplit

_HTTP_OK = 200
_HTTP_REDIRECTS = range(300, 400)
_HTTP_UNAUTHORIZED = (401, 403, 407)


class State(StrEnum):
    """What a fetch came to."""

    OK = "ok"
    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    UNAUTHORIZED = "unauthorized"
    HTTP_ERROR = "http_error"
    NOT_VLLM = "not_vllm"
    INVALID = "invalid"


class UpstreamError(Exception):
    """The page could not be had.

    Attributes:
        state: What came of the fetch.
        message: One line that says what to do, without any secret.
    """

    def __init__(self, state: State, message: str) -> None:
        super().__init__(message)
        self.state = state
        self.message = message


def timed_out(timeout: float) -> UpstreamError:
    """Return the error for a page that was not there within ``timeout`` seconds."""
    # Not the exact number: Prometheus' offer differs a little from scrape to scrape.
    return UpstreamError(
        State.TIMEOUT, f"no complete answer within {timeout:.3g} s: vLLM is overloaded or stuck"
    )


@dataclass(frozen=True)
class Body:
    """A page as it came.

    Attributes:
        content: Its bytes, decompressed.
        content_type: The header; empty without one.
    """

    content: bytes
    content_type: str


class Fetcher(Protocol):
    """Something that brings one server's page, in one thread at a time."""

    def __call__(self, timeout: float) -> Body:
        """Return the page, to be had within ``timeout`` seconds.

        Raises:
            UpstreamError: There is no page to be had.
        """

    def abort(self) -> None:
        """Make a call that goes on in another thread end soon."""

    def close(self) -> None:
        """Let go of the connection."""


def metrics_url(base: str) -> str:
    """Return the URL of the metrics page of the server at ``base``.

    A URL whose path already ends in ``/metrics`` is kept.
    """
    parts = urlsplit(base)
    path = parts.path.rstrip("/")
    if not path.endswith("/metrics"):
        path += "/metrics"
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))


def check_status(status: int) -> None:
    """Raise an `UpstreamError` unless ``status`` is 200."""
    if status == _HTTP_OK:
        return
    if status in _HTTP_UNAUTHORIZED:
        raise UpstreamError(
            State.UNAUTHORIZED,
            f"HTTP {status}: something before vLLM (vLLM itself leaves /metrics open) wants a "
            "login; point the URL at vLLM itself, or give bearer_token_file or headers in "
            "--config.file",
        )
    if status in _HTTP_REDIRECTS:
        # Not followed: a metrics page has none, and they may lead anywhere.
        raise UpstreamError(
            State.HTTP_ERROR, f"HTTP {status}, a redirect: give the URL that it leads to"
        )
    raise UpstreamError(
        State.HTTP_ERROR,
        f"HTTP {status}: see vLLM's log (it may still serve requests); the URL must be the "
        "server's root",
    )


def translated(error: Exception) -> UpstreamError:
    """Return what an error of the connection or of HTTP means for an operator."""
    if isinstance(error, UpstreamError):
        return error
    if isinstance(error, ssl.SSLCertVerificationError):
        return UpstreamError(
            State.UNREACHABLE,
            f"its certificate is not accepted ({error.verify_message}): give ca_file",
        )
    # Before OSError: the standard library's RemoteDisconnected is both.
    if isinstance(error, http.client.HTTPException | ssl.SSLError) and not isinstance(
        error, ConnectionError
    ):
        return UpstreamError(
            State.INVALID, f"no valid answer ({type(error).__name__}): is this vLLM's port?"
        )
    if isinstance(error, OSError):
        reason = error.strerror or type(error).__name__
        return UpstreamError(
            State.UNREACHABLE, f"no connection ({reason}): start vLLM there or correct the URL"
        )
    return UpstreamError(
        State.INVALID, f"no valid answer ({type(error).__name__}): is this vLLM's port?"
    )
