"""Fetching a vLLM server's metrics page, bounded in time and size."""

from __future__ import annotations

import time
from typing import Protocol
from urllib.parse import urlsplit, urlunsplit

import requests
import urllib3

MAX_PAGE_BYTES = 32 * 1024 * 1024
"""Largest page that is read; a real one has 45 kB, and 79 kB with two engines."""

_CHUNK_BYTES = 64 * 1024
_HTTP_OK = 200
_HTTP_UNAUTHORIZED = (401, 403)


class UpstreamError(Exception):
    """The page could not be had. The message is one line that says what to do."""


class Fetcher(Protocol):
    """Something that brings the text of a page."""

    def __call__(self, url: str, timeout: float) -> str:
        """Return the page at ``url`` within ``timeout`` seconds.

        Raises:
            UpstreamError: There is no page to be had.
        """


class HTTPFetcher:
    """Fetches pages over HTTP, keeping the connection between scrapes."""

    def __init__(self) -> None:
        """Open a session that ignores proxy variables: the server is a neighbour."""
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.headers["Accept"] = "text/plain;version=0.0.4;q=1,*/*;q=0.1"
        self._session.headers["User-Agent"] = "vllm-exporter"

    def __call__(self, url: str, timeout: float) -> str:
        """Return the page at ``url``; see `Fetcher`."""
        deadline = time.monotonic() + timeout
        try:
            # Redirects are not followed: a metrics page has none, and they may lead anywhere.
            with self._session.get(
                url, stream=True, timeout=timeout, allow_redirects=False
            ) as response:
                _check_status(response)
                body = _read(response, deadline, timeout)
        # The body is read from urllib3 itself, whose errors requests does not translate there.
        except (requests.Timeout, urllib3.exceptions.TimeoutError) as error:
            raise UpstreamError(_timeout_message(timeout)) from error
        except requests.ConnectionError as error:
            raise UpstreamError(
                f"no connection ({_reason(error)}): start vLLM there or correct --vllm.url"
            ) from error
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            raise UpstreamError(
                f"no valid answer ({_reason(error)}): is this vLLM's port?"
            ) from error
        return body.decode("utf-8", errors="replace")

    def close(self) -> None:
        """Close the kept connection."""
        self._session.close()


def metrics_url(base: str) -> str:
    """Return the URL of the metrics page of the server at ``base``.

    A URL that already ends in ``/metrics`` is kept.
    """
    parts = urlsplit(base)
    path = parts.path.rstrip("/")
    if not path.endswith("/metrics"):
        path += "/metrics"
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))


def _check_status(response: requests.Response) -> None:
    status = response.status_code
    if status == _HTTP_OK:
        return
    if status in _HTTP_UNAUTHORIZED:
        raise UpstreamError(
            f"HTTP {status}: something before vLLM (vLLM itself leaves /metrics open) wants a "
            "login; point --vllm.url at vLLM itself"
        )
    raise UpstreamError(f"HTTP {status}: see vLLM's log; --vllm.url must be the server's root")


def _read(response: requests.Response, deadline: float, timeout: float) -> bytes:
    body = bytearray()
    # read1 returns whatever has arrived, so that a slow drip cannot outlive the deadline.
    while chunk := response.raw.read1(_CHUNK_BYTES, decode_content=True):
        body += chunk
        if len(body) > MAX_PAGE_BYTES:
            raise UpstreamError(
                f"the page has more than {MAX_PAGE_BYTES // 1024**2} MiB: is this vLLM?"
            )
        if time.monotonic() > deadline:
            raise UpstreamError(_timeout_message(timeout))
    return bytes(body)


def _timeout_message(timeout: float) -> str:
    return f"no complete answer within {timeout:g} s: vLLM is overloaded or stuck"


def _reason(error: BaseException) -> str:
    """Return the innermost system message; requests wraps it four deep, addresses included."""
    cause: BaseException | None = error
    message = type(error).__name__
    seen = 0
    while cause is not None and seen < 10:  # noqa: PLR2004 - a bound against cycles
        if isinstance(cause, OSError) and cause.strerror:
            message = cause.strerror
        cause = cause.__cause__ or cause.__context__
        seen += 1
    return message
