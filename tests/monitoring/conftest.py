"""Components that are stand-ins, and an observer that remembers."""

import http.server
import json
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psutil
import pytest

from monitoring.supervision.component import Component
from monitoring.supervision.policy import RestartPolicy
from monitoring.supervision.supervisor import Supervisor

STANDIN = Path(__file__).with_name("programs") / "standin.py"


class Remembering:
    """An observer that keeps what it is told."""

    def __init__(self) -> None:
        self.events: list[tuple[str, str]] = []
        self.reasons: list[str] = []
        self.lines: list[str] = []

    def starting(self, component):
        self.events.append(("starting", component.name))

    def waiting(self, component, seconds, last_line):
        pass

    def ready(self, component, seconds):
        self.events.append(("ready", component.name))

    def crashed(self, component, reason, lines, pause):
        self.events.append(("crashed", component.name))
        self.reasons.append(reason)
        self.lines = list(lines)

    def given_up(self, component, reason, lines):
        self.events.append(("given up", component.name))
        self.reasons.append(reason)

    def stopping(self, component):
        self.events.append(("stopping", component.name))


@pytest.fixture
def observer() -> Remembering:
    return Remembering()


@pytest.fixture
def free_port() -> Callable[[], int]:
    def port() -> int:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return int(probe.getsockname()[1])

    return port


@pytest.fixture
def standin(free_port) -> Callable[..., Component]:
    """Return a maker of components that run the stand-in with some flags."""

    def make(name: str, *flags: str, **changes: object) -> Component:
        port = free_port()
        component = Component(
            name=name,
            command=(sys.executable, str(STANDIN), str(port), *flags),
            host="127.0.0.1",
            port=port,
            port_flag=f"--{name}-port",
            ready_path="/ready",
            stop_seconds=2,
        )
        return replace(component, **changes)

    return make


@pytest.fixture
def supervise(tmp_path, observer) -> Iterator[Callable[..., Supervisor]]:
    """Return a maker of supervisors that are stopped at the test's end, whatever happened."""
    made: list[Supervisor] = []

    def make(*components: Component, policy: RestartPolicy | None = None) -> Supervisor:
        policy = policy or RestartPolicy(first_seconds=0.1, longest_seconds=0.2)
        supervisor = Supervisor(components, tmp_path / "logs", observer, policy=policy)
        made.append(supervisor)
        return supervisor

    yield make
    for supervisor in made:
        supervisor.stop()


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def alive() -> Callable[[int], bool]:
    return is_alive


@pytest.fixture
def until() -> Callable[..., None]:
    """Return a function that waits for a condition, doing something meanwhile."""

    def wait(condition, meanwhile=lambda: None, seconds: float = 15) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "the condition did not come about"
            meanwhile()
            time.sleep(0.05)

    return wait


Answers = dict[str, Callable[[dict[str, Any]], tuple[int, Any]]]


@contextmanager
def http_standin(answers: Answers) -> Iterator[str]:
    """Serve answers by path, given the query's or the body's values; yield the root URL."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.answer({key: one[0] for key, one in parse_qs(urlsplit(self.path).query).items()})

        def do_POST(self):
            self.answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def answer(self, values):
            status, content = answers[urlsplit(self.path).path](values)
            body = content.encode() if isinstance(content, str) else json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def standin_server() -> Iterator[Callable[[Answers], str]]:
    """Return a function that serves answers by path until the test's end."""
    with ExitStack() as stack:
        yield lambda answers: stack.enter_context(http_standin(answers))
