"""One request, to a stand-in for a server that is slow in every way or answers without end."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from socket import socket

import pytest
import requests

from alerts.request import MOST_BYTES, send, within
from dashboards.grafana_api import Grafana, GrafanaError
from monitoring.relay.delivery import deliver, post
from monitoring.relay.robots import ROBOTS

BEGIN = b"HTTP/1.1 200 OK\r\n"
# The pauses are shorter than the limit, so that no single read is late.
SECONDS, PAUSE = 0.5, 0.05


class Slow:
    """A stand-in that answers each request by hand."""

    def __init__(self, answer: Callable[[socket, threading.Event], None]) -> None:
        self.over, self.left = threading.Event(), threading.Event()
        outer = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                self.request.recv(65536)
                with suppress(OSError):
                    answer(self.request, outer.over)
                outer.left.set()

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()


def dripping(begin: bytes) -> Callable[[socket, threading.Event], None]:
    def drip(connection: socket, over: threading.Event) -> None:
        connection.sendall(begin)
        while not over.wait(PAUSE):
            connection.sendall(b"x")

    return drip


def silent(_connection: socket, over: threading.Event) -> None:
    over.wait()


def endless(connection: socket, over: threading.Event) -> None:
    connection.sendall(BEGIN + b"\r\n")
    while not over.is_set():
        connection.sendall(b"x" * 65536)


@pytest.fixture(
    params=[dripping(BEGIN), dripping(BEGIN + b"\r\n"), silent],
    ids=["head drips", "body drips", "nothing"],
)
def slow(request: pytest.FixtureRequest) -> Iterator[Slow]:
    server = Slow(request.param)
    yield server
    server.close()


@pytest.fixture
def serve() -> Iterator[Callable[..., Slow]]:
    servers: list[Slow] = []

    def begin(answer: Callable[[socket, threading.Event], None]) -> Slow:
        servers.append(Slow(answer))
        return servers[-1]

    yield begin
    for server in servers:
        server.close()


def test_grafana_that_is_too_slow_is_told_of(slow: Slow) -> None:
    with pytest.raises(GrafanaError, match=r"^http\S+: no complete answer within 0\.5 s$"):
        Grafana(slow.url, "token", SECONDS).ensure_folder("vllm", "vLLM")


def test_robot_that_is_too_slow_is_tried_again(slow: Slow, tmp_path: Path) -> None:
    (tmp_path / "wecom-url").write_text(slow.url)
    message = {"msgtype": "markdown", "markdown": {"content": "hello"}}
    outcome = deliver(ROBOTS["wecom"], message, tmp_path, partial(post, seconds=SECONDS))
    assert (outcome.status, "did not answer completely" in outcome.reason) == (504, True)


def test_body_that_drips_is_let_go_of(serve: Callable[..., Slow]) -> None:
    server = serve(dripping(BEGIN + b"\r\n"))
    with requests.Session() as session, pytest.raises(requests.Timeout):
        send(session, "GET", server.url, SECONDS, None)
    assert server.left.wait(30)


def test_answer_without_end_is_given_up(serve: Callable[..., Slow], tmp_path: Path) -> None:
    server = serve(endless)
    with pytest.raises(GrafanaError, match="more than 128 KiB"):
        Grafana(server.url, "token").ensure_folder("vllm", "vLLM")
    assert MOST_BYTES == 128 * 1024
    (tmp_path / "wecom-url").write_text(server.url)
    message = {"msgtype": "markdown", "markdown": {"content": "hello"}}
    assert deliver(ROBOTS["wecom"], message, tmp_path).status == 502


def test_what_is_cut_short_is_no_result() -> None:
    """The work ends at once when nobody waits any more, with half of what it was to do."""

    def half(late: Callable[[], bool]) -> str:
        while not late():
            pass
        return "half"

    for _ in range(20):
        with pytest.raises(TimeoutError):
            within(0.01, half)
