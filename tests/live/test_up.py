"""``up`` beside a server that is there already, with real Prometheus and Alertmanager.

A recorded page of vLLM stands in for the server.
"""

import http.server
import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import asdict
from pathlib import Path

import pytest

from monitoring import state
from monitoring.supervision.process import members

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

PAGE = (
    Path(__file__).parents[1] / "recordings" / "cpu-vllm-0.30.0" / "metrics-gemma4-after-load.txt"
)


@pytest.fixture
def recorded_server():
    body = PAGE.read_bytes()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


class Up:
    """A chain in a process of its own."""

    def __init__(self, folder: Path, url: str, ports) -> None:
        self.folder = folder
        flags = [f"--{name}-port={port}" for name, port in asdict(ports).items()]
        self.command = [sys.executable, "-m", "monitoring"]
        self.process = subprocess.Popen(
            [*self.command, "up", f"--vllm-url={url}", f"--run-dir={folder}", *flags],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for line in self.process.stdout:
            if "Ctrl-C stops everything" in line:
                break
        else:
            raise AssertionError("the chain did not start")
        self.sessions = [one.pid for one in state.read(folder).components]

    def call(self, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [*self.command, *arguments, f"--run-dir={self.folder}"],
            capture_output=True,
            text=True,
            check=False,
        )

    def left(self) -> set:
        return set().union(*map(members, self.sessions))


@pytest.fixture
def up(recorded_server, free_ports, tmp_path):
    chain = Up(tmp_path, recorded_server, free_ports)
    yield chain
    chain.process.terminate()
    chain.process.communicate(timeout=60)


def wait(condition, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come about"
        time.sleep(0.3)


def test_status_tells_how_it_stands_and_down_stops_it(up):
    assert len(up.left()) >= 4
    wait(lambda: up.call("status").returncode == 0)
    shown = json.loads(up.call("status", "--json").stdout)
    assert {one["job"]: one["health"] for one in shown["targets"]} == dict.fromkeys(
        ("vllm", "vllm-exporter", "prometheus", "alertmanager"), "up"
    )
    # A recorded page stands still: nothing is looked up, and there is no GPU here to be simulated.
    assert [one["value"] for one in shown["hit_rates"]] == [None]
    second = up.call("up", "--vllm-url=http://127.0.0.1:9")
    assert second.returncode == 1
    assert "runs already" in second.stderr
    assert up.call("down").returncode == 0
    printed, _ = up.process.communicate(timeout=10)
    assert up.process.returncode == 0
    assert "Stopped." in printed
    assert up.left() == set()
    assert up.call("status").returncode == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_stop_everything(up, number):
    up.process.send_signal(number)
    assert up.process.wait(timeout=60) == 0
    assert up.left() == set()


def test_a_killed_supervisor_takes_the_programs_with_it(up):
    os.kill(up.process.pid, signal.SIGKILL)
    wait(lambda: not up.left())
    cleared = up.call("down")
    assert cleared.returncode == 0
    assert state.read(up.folder) is None
