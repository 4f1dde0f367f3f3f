"""Stand-ins for vLLM and for the clocks. None of them is a vLLM; each test says what it plays."""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
from collections.abc import Callable, Iterator, MutableMapping
from pathlib import Path
from typing import Any

import pytest
import structlog
from structlog.testing import capture_logs

from exporter.collectors.server import ServerCollector
from exporter.options import Server
from exporter.upstream import Body, UpstreamError

HERE = Path(__file__).parent
RECORDINGS = HERE.parent / "recordings"
PAGES = HERE / "pages"

START = 1_800_000_000.0
"""Unix time at which tests begin: after the birth of every counter in the pages."""


class Clock:
    """Both clocks, moved by the test."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.offset = START - 1000.0

    def monotonic(self) -> float:
        return self.now

    def wall(self) -> float:
        return self.now + self.offset


class ScriptedFetcher:
    """Stands in for the way to a server: gives what the test put there."""

    def __init__(self) -> None:
        self.page: bytes | UpstreamError | Exception = b""
        self.content_type = "text/plain; version=1.0.0; charset=utf-8"
        self.calls = 0

    def __call__(self, timeout: float) -> Body:
        self.calls += 1
        if isinstance(self.page, Exception):
            raise self.page
        return Body(self.page, self.content_type)

    def abort(self) -> None:
        pass

    def close(self) -> None:
        pass


class Watch:
    """One collector over one stand-in server, scraped by the test."""

    def __init__(self, window_seconds: float = 300.0) -> None:
        self.clock = Clock()
        self.fetcher = ScriptedFetcher()
        self.collector = ServerCollector(
            [Server("s", "http://127.0.0.1:8000")],
            window_seconds,
            lambda _: self.fetcher,
            self.clock.monotonic,
            self.clock.wall,
        )

    def scrape(self, page: bytes | Exception, after: float = 30.0) -> dict[str, float]:
        """Return value by series (name and labels but ``server``) after one more scrape."""
        self.fetcher.page = page
        self.clock.now += after
        families, _ = self.collector.collect(5.0)
        return samples(families)


def samples(families) -> dict[str, float]:
    found: dict[str, float] = {}
    for family in families:
        for sample in family.samples:
            labels = ",".join(f"{k}={v}" for k, v in sample.labels.items() if k != "server")
            series = f"{sample.name}{{{labels}}}" if labels else sample.name
            assert series not in found, f"{series} is there twice"
            found[series] = sample.value
    return found


class StandIn:
    """A server on loopback that does with each connection what the test says."""

    def __init__(self, behave: Callable[[socket.socket], None]) -> None:
        self.connections = 0
        self._behave = behave
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            self._behave(connection)

    def close(self) -> None:
        # Waking the accepting thread needs more than a close.
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()


def request_head(connection: socket.socket) -> bytes:
    """Read one request; empty when the client is gone."""
    head = b""
    while b"\r\n\r\n" not in head:
        received = connection.recv(65536)
        if not received:
            return b""
        head += received
    return head


def answer(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    if not any(header.lower().startswith("content-type") for header in headers):
        lines.append("Content-Type: text/plain; version=1.0.0; charset=utf-8")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def always(reply: bytes) -> Callable[[socket.socket], None]:
    """Return a behaviour: every request of a kept connection gets ``reply``."""

    def behave(connection: socket.socket) -> None:
        while request_head(connection):
            connection.sendall(reply)

    return behave


class Helpers:
    """What tests of this folder share; pytest's import mode lets no test import another file."""

    Clock = Clock
    ScriptedFetcher = ScriptedFetcher
    Watch = Watch
    samples = staticmethod(samples)
    request_head = staticmethod(request_head)
    answer = staticmethod(answer)
    always = staticmethod(always)
    START = START
    PAGES = PAGES
    RECORDINGS = RECORDINGS
    CERTIFICATES = HERE / "certificates"

    @staticmethod
    def page(name: str) -> bytes:
        return (PAGES / f"{name}.txt").read_bytes()

    @staticmethod
    def recording(name: str) -> bytes:
        return (RECORDINGS / f"{name}.txt").read_bytes()


@pytest.fixture(autouse=True)
def _fresh_log() -> Iterator[None]:
    """Undo what a test's command line set up: the stderr that it logs to ends with the test."""
    yield
    structlog.reset_defaults()
    logging.basicConfig(handlers=[], force=True)


@pytest.fixture
def helpers() -> type[Helpers]:
    return Helpers


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def log_lines() -> Iterator[list[MutableMapping[str, Any]]]:
    with capture_logs() as lines:
        yield lines


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def stand_in() -> Iterator[Callable[[Callable[[socket.socket], None]], StandIn]]:
    opened: list[StandIn] = []

    def open_one(behave: Callable[[socket.socket], None]) -> StandIn:
        server = StandIn(behave)
        opened.append(server)
        return server

    yield open_one
    for server in opened:
        server.close()
