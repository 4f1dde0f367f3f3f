"""Which connections are open, what each is doing, and when one has done nothing for too long."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

MAX_CONNECTIONS = 256
"""Most sockets at once. One more, and the one that has waited longest makes room: a flood of
half-open connections pushes out itself, while a scrape comes and goes."""

FIRST_REQUEST_SECONDS = 10.0
"""From the connection, TLS handshake included, to the end of the first request's headers."""

IDLE_SECONDS = 150.0
"""Between requests: longer than common scrape intervals, so that Prometheus need not reconnect."""

WRITING_SECONDS = 10.0
"""For the client to take an answer."""


class Stream(Protocol):
    """A connection's socket, as tornado wraps it."""

    def close(self) -> None:
        """Close it."""

    def closed(self) -> bool:
        """Tell whether it is closed."""


class _Phase(Enum):
    NEW = FIRST_REQUEST_SECONDS
    IDLE = IDLE_SECONDS
    WORKING = float("inf")  # bounded by the scrape's timeout
    WRITING = WRITING_SECONDS


@dataclass
class _Connection:
    phase: _Phase
    since: float


class Connections:
    """All open connections, each with its phase; the owner calls from one thread."""

    def __init__(
        self, limit: int = MAX_CONNECTIONS, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        """Take the most that may be open at once, and a clock in seconds."""
        self._limit = limit
        self._monotonic = monotonic
        self._open: dict[Stream, _Connection] = {}

    @property
    def idle_seconds(self) -> float:
        """How long a connection may wait for its next request."""
        return IDLE_SECONDS

    def __len__(self) -> int:
        return len(self._open)

    def admit(self, stream: Stream) -> bool:
        """Take on a new connection; False if there is no room, because all are being answered."""
        now = self._monotonic()
        if len(self._open) >= self._limit:
            self.sweep(now)
        if len(self._open) >= self._limit and not self._evict():
            return False
        self._open[stream] = _Connection(_Phase.NEW, now)
        return True

    def working(self, stream: Stream) -> None:
        """Note that a request of ``stream`` is being answered."""
        self._enter(stream, _Phase.WORKING)

    def writing(self, stream: Stream) -> None:
        """Note that the answer is on its way out."""
        self._enter(stream, _Phase.WRITING)

    def idle(self, stream: Stream) -> None:
        """Note that ``stream`` waits for its next request."""
        self._enter(stream, _Phase.IDLE)

    def sweep(self, now: float) -> None:
        """Forget closed connections and close those that have been too long in their phase."""
        for stream, connection in list(self._open.items()):
            if not stream.closed() and now - connection.since > connection.phase.value:
                stream.close()
            if stream.closed():
                del self._open[stream]

    def close(self) -> None:
        """Close all."""
        for stream in list(self._open):
            stream.close()
        self._open.clear()

    def _enter(self, stream: Stream, phase: _Phase) -> None:
        if stream in self._open:
            # At the end of the order, so that the first of a phase has waited longest in it.
            del self._open[stream]
            self._open[stream] = _Connection(phase, self._monotonic())

    def _evict(self) -> bool:
        for stream, connection in self._open.items():
            if connection.phase in (_Phase.NEW, _Phase.IDLE):
                stream.close()
                del self._open[stream]
                return True
        return False
