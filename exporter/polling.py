"""Asking all servers at once, each within its time, whatever they do."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass

import structlog

from exporter import engine, exposition
from exporter.catalogue import BUILD_INFO
from exporter.exposition import TooManyLinesError
from exporter.generations import READ
from exporter.options import MAX_SERVERS
from exporter.upstream import Body, Fetcher, State, UpstreamError, timed_out
from exporter.workers import SaturatedError, Workers

log = structlog.get_logger()

_OWN_SERIES = f"{BUILD_INFO.name}{{".encode()


@dataclass(frozen=True)
class Answer:
    """What one server's page came to.

    Attributes:
        reading: None if it could not be had or is not vLLM's.
        failure: Why there is no reading; None if there is one.
        at: When that was known, by the poller's clock in seconds.
        duration: Seconds it took.
    """

    reading: engine.ServerReading | None
    failure: UpstreamError | None
    at: float
    duration: float


_THREADS = Workers("vllm", threads=MAX_SERVERS)
"""Shared by all pollers, so that none is left over for a server that is asked no more."""


class Poller:
    """One server's page, fetched and read in a thread.

    The thread is never waited for longer than a scrape can: one that hangs (in a look-up of a
    name, say, that nothing can interrupt) is left behind, and until it is back the server counts
    as timed out and is not asked again.
    """

    def __init__(self, fetch: Fetcher, monotonic: Callable[[], float] = time.monotonic) -> None:
        """Take what fetches the page, and a clock in seconds."""
        self.fetch = fetch
        self.monotonic = monotonic
        self._last: Future[Answer] | None = None

    def begin(self, timeout: float) -> Future[Answer] | None:
        """Have the page fetched within ``timeout`` seconds; None if the last one still is."""
        if self._last is not None and not self._last.done():
            return None
        try:
            self._last = _THREADS.submit(lambda: self._answer(timeout))
        except SaturatedError:
            return None
        return self._last

    def _answer(self, timeout: float) -> Answer:
        began = self.monotonic()
        reading, failure = None, None
        try:
            reading = read(self.fetch(timeout))
        except UpstreamError as error:
            failure = error
        except Exception as error:  # what was not foreseen on one page must not cost the others
            log.exception("page cannot be read; please report this")
            failure = UpstreamError(
                State.INVALID, f"the page cannot be read ({type(error).__name__}: {error})"
            )
        now = self.monotonic()
        return Answer(reading, failure, now, now - began)


def poll(pollers: Sequence[Poller], timeouts: Sequence[float]) -> list[Answer]:
    """Return one answer for each poller, in their order.

    Args:
        pollers: Whom to ask; all with the same clock.
        timeouts: Seconds that each may take.
    """
    if not pollers:
        return []
    monotonic = pollers[0].monotonic
    began = monotonic()
    futures = [poller.begin(timeout) for poller, timeout in zip(pollers, timeouts, strict=True)]
    pending = {
        future: (poller, began + timeout)
        for future, poller, timeout in zip(futures, pollers, timeouts, strict=True)
        if future is not None
    }
    while pending:
        next_deadline = min(deadline for _, deadline in pending.values())
        done, _ = wait(pending, max(0.0, next_deadline - monotonic()))
        for future in done:
            del pending[future]
        now = monotonic()
        for future, (poller, deadline) in list(pending.items()):
            if now >= deadline:
                poller.fetch.abort()
                del pending[future]
    now = monotonic()
    return [
        future.result()
        if future is not None and future.done()
        else Answer(None, timed_out(timeout), now, now - began)
        for future, timeout in zip(futures, timeouts, strict=True)
    ]


def read(body: Body) -> engine.ServerReading:
    """Return what a page says.

    Raises:
        UpstreamError: It is no vLLM page, or broken as a whole.
    """
    try:
        page = exposition.parse(body.content, READ, body.content_type)
    except TooManyLinesError as error:
        raise UpstreamError(
            State.INVALID, "the page has more series than any vLLM server's: is this vLLM?"
        ) from error
    if not page.spelling or _is_own(body):
        raise UpstreamError(State.NOT_VLLM, _not_vllm(body))
    if page.format == "openmetrics" and not page.complete:
        raise UpstreamError(State.INVALID, "the page breaks off: it has no # EOF at its end")
    if page.parse_errors and not page.samples:
        raise UpstreamError(
            State.INVALID, "no line of the page can be read: is there a proxy that rewrites it?"
        )
    return engine.read(page)


def _is_own(body: Body) -> bool:
    return body.content.startswith(_OWN_SERIES) or b"\n" + _OWN_SERIES in body.content


def _not_vllm(body: Body) -> str:
    if _is_own(body):
        return "the page is a vLLM exporter's own: give vLLM's URL"
    kind = body.content_type.partition(";")[0]
    if kind and kind not in ("text/plain", exposition.OPENMETRICS):
        return f"the page has no vllm: series and is {kind[:40]}: give vLLM's URL"
    return (
        "the page has no vllm: series: wrong port, vLLM still loading, or started with "
        "--disable-log-stats"
    )
