"""What vLLM servers say of their caches and their configuration."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import structlog
from prometheus_client.metrics_core import Metric

from exporter.collectors.server_families import Observation, families
from exporter.engine import ServerReading
from exporter.fetcher import HTTPFetcher
from exporter.history import ServerHistory
from exporter.options import Server
from exporter.polling import Answer, Poller, poll
from exporter.upstream import Fetcher, State

log = structlog.get_logger()

HIGH_MEMORY_USAGE = 0.9
"""Where the kit's alert on GPU memory fires by default (0..1). The exporter knows no settings of
the alerts; a test holds the two together."""


@dataclass
class _Watched:
    server: Server
    poller: Poller
    history: ServerHistory
    told: str | None = None
    told_errors: bool = False
    observed: Observation | None = field(default=None, repr=False)


class ServerCollector:
    """Fetches all servers' pages at once, once a scrape; what fails at one touches no other."""

    name = "server"

    def __init__(
        self,
        servers: Iterable[Server],
        window_seconds: float,
        open_fetcher: Callable[[Server], Fetcher] = HTTPFetcher,
        monotonic: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        """Take the servers, the window in seconds, what fetches from one, and clocks in seconds."""
        self._window_seconds = window_seconds
        self._open_fetcher = open_fetcher
        self._monotonic = monotonic
        self._wall = wall
        self._watched: tuple[_Watched, ...] = ()
        self.replace(servers)

    @property
    def servers(self) -> tuple[Server, ...]:
        """The servers that are watched now."""
        return tuple(watched.server for watched in self._watched)

    def replace(self, servers: Iterable[Server]) -> None:
        """Watch ``servers`` from the next scrape on; who stays keeps its window.

        Raises:
            OSError: A CA file cannot be read; nothing has changed then.
        """
        known = {(w.server.name, w.server.url): w for w in self._watched}
        watched = []
        for server in servers:
            before = known.get((server.name, server.url))
            if before is not None and before.server == server:
                watched.append(before)
                continue
            poller = Poller(self._open_fetcher(server), self._monotonic)
            history = before.history if before else ServerHistory(self._window_seconds)
            watched.append(_Watched(server, poller, history, before.told if before else None))
        # One assignment: a scrape that runs meanwhile sees the old servers or the new ones.
        self._watched = tuple(watched)

    def collect(self, timeout: float) -> tuple[list[Metric], bool]:
        """Return the families of all servers; see `exporter.collectors.Collector`."""
        watched = self._watched
        answers = poll(
            [w.poller for w in watched], [min(timeout, w.server.timeout_seconds) for w in watched]
        )
        observations = [self._observe(w, a) for w, a in zip(watched, answers, strict=True)]
        return families(observations), all(o.state is State.OK for o in observations)

    def close(self) -> None:
        """Close the kept connections."""
        for watched in self._watched:
            watched.poller.fetch.abort()

    def _observe(self, watched: _Watched, answer: Answer) -> Observation:
        history = watched.history
        if answer.reading is None:
            history.fail()
        else:
            wall = self._wall() - (self._monotonic() - answer.at)
            history.observe(answer.reading, answer.at, wall)
        observation = Observation(
            server=watched.server.name,
            state=answer.failure.state if answer.failure else State.OK,
            duration=answer.duration,
            reading=answer.reading,
            history=history,
        )
        _tell(watched, answer)
        return observation


def _tell(watched: _Watched, answer: Answer) -> None:
    """Log a server's state when it changes, not at each scrape."""
    server = watched.server.name
    failure = answer.failure.message if answer.failure else ""
    if failure != watched.told:
        watched.told = failure
        if answer.failure:
            log.warning(
                "vLLM's metrics are missing",
                server=server,
                state=str(answer.failure.state),
                reason=failure,
            )
        elif answer.reading:
            log.info(
                "vLLM's metrics are read",
                server=server,
                names=",".join(answer.reading.generations) or "none for the prefix cache",
                prefix_caching={True: "on", False: "off", None: "unknown"}[
                    answer.reading.prefix_caching
                ],
            )
            _tell_permanent_memory(server, answer.reading)
    if answer.reading is None:
        return
    errors = answer.reading.parse_errors
    if errors and not watched.told_errors:
        log.warning(
            "lines of vLLM's page cannot be used; figures that need them are absent",
            server=server,
            lines=errors,
        )
    watched.told_errors = bool(errors)


def _tell_permanent_memory(server: str, reading: ServerReading) -> None:
    """Log once that a server's configuration alone keeps the alert on GPU memory firing."""
    limit = reading.memory_utilization_limit
    if limit is None or reading.cache_bytes_given or limit < HIGH_MEMORY_USAGE:
        return
    log.warning(
        "vLLM keeps so much GPU memory by its configuration that VLLMGPUMemoryHigh never clears",
        server=server,
        gpu_memory_utilization=limit,
        alert_above=HIGH_MEMORY_USAGE,
        remedy="start vLLM with --gpu-memory-utilization 0.85, or raise memory.usage.high in the "
        "alerts' settings",
    )
